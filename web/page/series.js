// Stages over time on one axis that zooms together: set point against progress, and cores requested, granted and used.
import { useEffect, useRef, useState } from "preact/hooks";
import { cores, percent, span, stageName, watchTime } from "./format.js";
import { colour, html } from "./parts.js";

const SHOWN = 8;

/** Steps of an axis of times, in seconds: a label has no parts of one. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

/** The columns of set points and progress, for uPlot. @param {object[]} stages of Samples */
const progressOf = (stages) => uPlot.join(stages.map((s) => [s.at_s, s.set_point, s.progress]));

/** The cores of all stages together at each second, for uPlot. @param {object[]} stages of Samples */
export function coresOver(stages) {
  const at = new Map();
  stages.forEach((s, k) =>
    s.at_s.forEach((t, i) => {
      const second = Math.floor(t),
        row = at.get(second) ?? new Map();
      row.set(k, [s.request_cores?.[i] ?? null, s.grant_cores[i], s.used_cores[i]]); // The last one of a second counts.
      at.set(second, row);
    }),
  );
  const seen = [...at.keys()].sort((a, b) => a - b);
  // Where no stage has shown anything for a while the lines are cut.
  const xs = seen.flatMap((x, i) => (i + 1 < seen.length && seen[i + 1] - x > 5 ? [x, x + 1] : [x]));
  const sum = (of) =>
    xs.map((x) =>
      [...(at.get(x)?.values() ?? [])].reduce((all, row) => (row[of] === null ? all : (all ?? 0) + row[of]), null),
    );
  return [xs, sum(0), sum(1), sum(2)];
}

/** What two plots have in common: the axis, which both zoom, and the cursor. */
function common(size, group, legend) {
  const soft = colour("--soft"),
    grid = { stroke: colour("--faint"), width: 1 },
    font = "12px system-ui, sans-serif";
  const axis = (more) => ({ stroke: soft, grid, ticks: { show: false }, font, ...more });
  return {
    ...size,
    padding: [8, 8, 0, 0],
    legend: { show: legend, live: true },
    cursor: { sync: { key: group.key }, drag: { x: true, y: false }, points: { size: 5 } },
    axes: [axis({ size: 24, space: 70, incrs: STEPS, values: (_, at) => at.map(watchTime) }), axis({ size: 48 })],
    hooks: { setScale: [(u, name) => name === "x" && group.zoom(u)] },
  };
}

/** @param {{samples: object, stages: object[], a: object}} props */
export function Series({ samples, stages, a }) {
  const top = useRef(null),
    low = useRef(null),
    plots = useRef([]);
  const [chosen, choose] = useState("all");
  const names = new Map(stages.map((s) => [`${s.stage}.${s.attempt}`, stageName(s.name)]));
  const idOf = (s) => `${s.stage}.${s.attempt}`;
  const picked = chosen === "all" ? samples.stages.slice(-SHOWN) : samples.stages.filter((s) => idOf(s) === chosen);
  const key = picked.map(idOf).join(),
    measured = picked.some((s) => s.progress.some((v) => v !== null));

  useEffect(() => {
    let zooming = false;
    const group = {
      key: "stages-" + a.id,
      zoom(u) {
        if (zooming || !plots.current.includes(u)) return;
        zooming = true;
        for (const other of plots.current)
          if (other !== u) other.setScale("x", { min: u.scales.x.min, max: u.scales.x.max });
        zooming = false;
      },
    };
    const box = top.current,
      under = low.current; // They are still there when what is drawn on them goes.
    const draw = () => {
      for (const p of plots.current) p.destroy();
      const width = under.clientWidth,
        line = (label, ink, more) => ({ label, stroke: colour(ink), width: 1.5, points: { show: false }, ...more });
      const of = (s) => `${s.stage} ${names.get(idOf(s)) ?? ""}`.slice(0, 26),
        after = { label: "after", value: (_, v) => (v === null ? "" : span(v)) },
        part = (u, v, i, at) => (v === null ? "" : `${percent(v)}, to be ${percent(u.data[i - 1][at])}`),
        amount = (_, v) => (v === null ? "" : cores(v));
      plots.current = [
        new uPlot(
          {
            ...common({ width, height: 190 }, group, true),
            scales: { x: { time: false }, y: { range: [0, 1.02] } },
            series: [
              after,
              ...picked.flatMap((s, i) => [
                line("", "--c" + (i % 8), { dash: [4, 4], class: "unnamed", spanGaps: true }),
                line(of(s), "--c" + (i % 8), { width: 2, value: part, spanGaps: true }),
              ]),
            ],
          },
          progressOf(picked),
          box,
        ),
        new uPlot(
          {
            ...common({ width, height: 170 }, group, true),
            scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(0.5, most * 1.1)] } },
            series: [
              after,
              line("requested", "--c1", { dash: [4, 4], value: amount }),
              line("granted", "--soft", { value: amount }),
              line("used", "--c0", { width: 2, fill: colour("--faint"), value: amount }),
            ],
          },
          coresOver(picked),
          under,
        ),
      ];
    };
    const resize = new ResizeObserver(() =>
      plots.current.forEach((p) => p.setSize({ width: under.clientWidth, height: p.height })),
    );
    draw();
    resize.observe(under);
    addEventListener("themechange", draw);
    return () => {
      (resize.disconnect(), removeEventListener("themechange", draw));
      for (const p of plots.current) p.destroy();
      plots.current = [];
    };
  }, [key]);

  useEffect(() => {
    const [progress, used] = plots.current;
    if (!progress) return;
    const whole =
      progress.data[0]?.length === 0 ||
      (progress.scales.x.min <= progress.data[0][0] &&
        progress.scales.x.max >= progress.data[0][progress.data[0].length - 1]);
    (progress.setData(progressOf(picked), whole), used.setData(coresOver(picked), whole));
  }, [samples]);

  return html`<section class="card" aria-label="Stages over time">
    <div class="head"><h2>Stages over time</h2><span class="soft small">Drag to zoom, press twice to see all</span>
      <select class="end" aria-label="Stage" value=${chosen} onChange=${(e) => choose(e.target.value)}>
        <option value="all" selected=${chosen === "all"}>
          ${samples.stages.length > SHOWN ? `The last ${SHOWN} stages` : "All stages"}</option>
        ${samples.stages.map((s) => html`<option value=${idOf(s)} selected=${idOf(s) === chosen}>
          ${`${s.stage} ${names.get(idOf(s)) ?? ""}`.slice(0, 60)}</option>`)}
      </select></div>
    <div class="series"><h3 class="small soft">${
      measured
        ? "Progress, and where it was to be (dashed), over the time since it was submitted"
        : "Its progress is not measured: nothing holds these stages to a deadline"
    }</h3><div ref=${top} hidden=${!measured}
        role="img" aria-label="Set point and progress of stages over time; the table of stages has how each ended">
          </div>
      <h3 class="small soft">Cores requested, granted and used</h3><div ref=${low} role="img"
        aria-label="Cores of stages over time"></div></div>
  </section>`;
}
