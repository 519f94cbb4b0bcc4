// Profiles: what earlier runs have shown, and what a deadline would mean.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, withQuery } from "./api.js";
import { Dag } from "./dag.js";
import { clock, cores, coresOf, count, margin, span, stageName, trim, upper, work } from "./format.js";
import { Name, Note, Table, colour, html, to, useAnswer } from "./parts.js";
import { early, moments, now } from "./state.js";

/** How long a run takes at all cores. Where none had them to itself that is not known. */
const takes = (p) => (p.contended ? "not known: ran beside others" : span(p.duration_s));

const LIST = [
  { head: "Profile", of: (p) => html`<${Name} href=${to.profile(p.name, p.owner)} text=${p.name} />`, by: (p) => p.name },
  { head: "Whose", of: (p) => (p.shared || !p.owner ? "everybody’s" : p.owner), by: (p) => p.owner ?? "" },
  { head: "Runs", n: true, of: (p) => p.runs, by: (p) => p.runs },
  { head: "Stages", n: true, of: (p) => p.stages, by: (p) => p.stages },
  { head: "Variants", n: true, of: (p) => p.variants, by: (p) => p.variants },
  { head: "Takes at all cores", n: true, of: takes, by: (p) => (p.contended ? null : p.duration_s) },
  { head: "Cores", n: true, of: (p) => cores(p.cores), by: (p) => p.cores },
  { head: "Work", n: true, of: (p) => work(p.core_seconds), by: (p) => p.core_seconds },
];

/** The view of all profiles. */
export function Profiles() {
  const { value, problem } = useAnswer("profiles?limit=1000", 30);
  if (!value) return problem ? html`<${Note} late text=${problem.message} />` : html`<p class="soft">Asking…</p>`;
  return html`<section class="card"><div class="head"><h1>Profiles</h1><span class="soft">
    ${count(value.profiles.length, "profile")}${value.next ? ", and more," : ""} of earlier runs</span></div>
    <${Table} caption="Profiles" rows=${value.profiles} columns=${LIST}
      empty="No application has left a profile yet: the first run of one does." /></section>`;
}

const STAGES = [
  { head: "Stage", n: true, of: (s) => s.id, by: (s) => s.id },
  { head: "Job", n: true, of: (s) => s.job, by: (s) => s.job },
  { head: "Name", wide: true, of: (s) => html`<span title=${s.name}>${stageName(s.name)}</span>`, by: (s) => s.name },
  { head: "Tasks", n: true, of: (s) => s.tasks, by: (s) => s.tasks },
  { head: "Took", n: true, of: (s) => span(s.duration_s), by: (s) => s.duration_s },
  { head: "Core-seconds", n: true, of: (s) => trim(s.core_seconds, 1), by: (s) => s.core_seconds },
];
const RUNS = [
  { head: "Run", of: (a) => html`<a href=${to.app(a.id)}>${a.id}</a>`, by: (a) => a.id },
  { head: "User", of: (a) => a.user, by: (a) => a.user },
  { head: "State", of: (a) => a.state, by: (a) => a.state },
  { head: "Submitted", n: true, of: (a) => clock(moments(a).from, now.value), by: (a) => moments(a).from },
  { head: "Took", n: true, of: (a) => span(a.duration_s), by: (a) => a.duration_s },
  { head: "Deadline", n: true, of: (a) => span(a.deadline_s), by: (a) => a.deadline_s },
  { head: "Margin", n: true, of: (a) => margin(early(a)) || "–", by: early },
  { head: "Mean cores", n: true, of: (a) => cores(a.mean_cores), by: (a) => a.mean_cores },
];

/** The deadlines of a curve, from too short to plenty. @param {number} earliest seconds */
export const curveOf = (earliest) =>
  Array.from({ length: 48 }, (_, i) => Math.max(1, Math.round(earliest * 0.7 * Math.pow(10, i / 47))));

/** Lengths of time that an axis names. */
const NICE = [1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800];

/**
 * What a deadline would mean: a curve of deadline against cores, a slider, the verdict.
 * @param {{name: string, duration: number}} props
 */
function WhatIf({ name, duration }) {
  const [deadline, setDeadline] = useState(Math.round(duration * 1.5)),
    [curve, setCurve] = useState(null),
    [answer, setAnswer] = useState(null);
  const [problem, setProblem] = useState(""),
    [empty, setEmpty] = useState(false);
  const place = useRef(null),
    plot = useRef(null),
    at = useRef(deadline),
    range = curveOf(duration);
  at.current = deadline;

  useEffect(() => {
    const aborter = new AbortController();
    ask("plan", { body: { profile: name, deadlines_s: curveOf(duration), empty }, signal: aborter.signal })
      .then(({ plans }) => (setCurve(plans), setProblem("")))
      .catch((e) => aborter.signal.aborted || setProblem(e.message));
    return () => aborter.abort();
  }, [name, duration, empty]);
  useEffect(() => {
    const aborter = new AbortController();
    const timer = setTimeout(
      () =>
        ask("plan", { body: { profile: name, deadlines_s: [deadline], empty }, signal: aborter.signal })
          .then(({ plans }) => (setAnswer(plans[0]), setProblem("")))
          .catch((e) => aborter.signal.aborted || setProblem(e.message)),
      150,
    );
    return () => (clearTimeout(timer), aborter.abort());
  }, [name, deadline, empty]);

  const fits = (p) => p.verdict === "feasible" || p.verdict === "tight";
  useEffect(() => {
    if (!curve) return undefined;
    const box = place.current; // It is still there when what is drawn on it goes.
    const draw = () => {
      plot.current?.destroy();
      const axis = {
        stroke: colour("--soft"),
        grid: { stroke: colour("--faint"), width: 1 },
        ticks: { show: false },
        font: "12px system-ui, sans-serif",
      };
      plot.current = new uPlot(
        {
          width: box.clientWidth,
          height: 200,
          padding: [8, 10, 0, 0],
          legend: { show: false },
          cursor: { show: false },
          scales: {
            x: { time: false, distr: 3, range: () => [range[0], range[47]] },
            y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
          },
          axes: [
            {
              ...axis,
              size: 24,
              splits: () => NICE.filter((s) => s >= range[0] && s <= range[47]),
              filter: (_, splits) => splits, // Of a logarithmic axis only powers of ten had a label.
              values: (_, xs) => xs.map(span),
            },
            { ...axis, size: 40 },
          ],
          series: [{}, { stroke: colour("--accent"), width: 2, fill: colour("--faint"), points: { show: false } }],
          hooks: {
            draw: [
              (u) => {
                const x = u.valToPos(at.current, "x", true),
                  { ctx, bbox } = u;
                (ctx.save(),
                  ctx.setLineDash([]),
                  (ctx.strokeStyle = colour("--now")),
                  (ctx.lineWidth = devicePixelRatio));
                (ctx.beginPath(),
                  ctx.moveTo(x, bbox.top),
                  ctx.lineTo(x, bbox.top + bbox.height),
                  ctx.stroke(),
                  ctx.restore());
              },
            ],
          },
        },
        [curve.map((p) => p.deadline_s), curve.map((p) => (fits(p) ? p.needed_cores : null))],
        box,
      );
    };
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: box.clientWidth, height: 200 }));
    (draw(), resize.observe(box), addEventListener("themechange", draw));
    return () => (
      resize.disconnect(),
      removeEventListener("themechange", draw),
      plot.current?.destroy(),
      (plot.current = null)
    );
  }, [curve]);
  useEffect(() => plot.current?.redraw(false), [deadline]);

  const tone = { feasible: "ok", tight: "tight", infeasible: "late" }[answer?.verdict] ?? "";
  const unscaled = (v) => Math.round(range[0] * Math.pow(range[47] / range[0], v / 1000));
  const scale = (v) => Math.round((1000 * Math.log(v / range[0])) / Math.log(range[47] / range[0]));
  return html`<section class="card" aria-label="What a deadline would mean">
    <div class="head"><h2>What a deadline would mean</h2>
      <label class="end small"><input type="checkbox" checked=${empty}
        onChange=${(e) => setEmpty(e.target.checked)} /> as if nothing else ran</label></div>
    <div class="pad stack">
      <div ref=${place} class="curve" role="img"
        aria-label="Cores that a deadline needs; longer deadlines need fewer"></div>
      <input type="range" min="0" max="1000" value=${scale(deadline)} class="deadline" aria-label="Deadline"
        aria-valuetext=${span(deadline)}
        onInput=${(e) => setDeadline(unscaled(Number(e.target.value)))} />
      <p aria-live="polite"><strong>${span(deadline)}</strong>: ${answer ? html`<span class=${tone}>${answer.verdict}
        </span>${answer.needed_cores > 0 && fits(answer) ? `, needs ${coresOf(answer.needed_cores)} of ${coresOf(answer.cores)}` : ""}. <span class="soft">${upper(answer.reason)}
          </span>` : "…"}</p>
      ${problem && html`<${Note} late text=${problem} />`}
    </div>
  </section>`;
}

/** The view of one profile. @param {{of: string, query: URLSearchParams}} props its name, and its owner */
export function ProfileView({ of, query }) {
  const { value: p, problem } = useAnswer(
    withQuery("profiles/" + encodeURIComponent(of), { owner: query.get("owner") }),
  );
  const runs = useAnswer(withQuery("applications", { profile: of, limit: 50 }), 10);
  if (!p) return problem ? html`<${Note} late text=${problem.message} />` : html`<p class="soft">Asking…</p>`;
  const all = [p, ...(p.variants ?? [])];
  return html`<div class="stack">
    <section class="card pad stack"><h1>${p.name}</h1>
      <dl class="facts">${[
        ["Runs", p.runs],
        ["Whose", p.shared || !p.owner ? "everybody’s" : p.owner],
        ["Takes at all cores", p.contended ? takes(p) : `${span(p.duration_s)}, ${coresOf(p.cores)}`],
        ["Work", work(p.stages.reduce((sum, s) => sum + s.core_seconds, 0))],
        ["Variants", all.length],
      ].map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl></section>
    <${WhatIf} name=${p.name} duration=${p.duration_s} />
    ${all.map(
      (
        v,
        i,
      ) => html`<${Dag} stages=${v.stages.map((s) => ({ ...s, stage: s.id, state: "known" }))}
        title=${all.length > 1 ? `Variant ${i + 1} as a graph` : "Stages as a graph"} />
      <section class="card" aria-label="Stages"><div class="head"><h2>
        ${all.length > 1 ? `Stages of variant ${i + 1}` : "Stages"}</h2></div>
        <${Table} caption="Stages" rows=${v.stages} columns=${STAGES} empty="" most=${100} /></section>`,
    )}
    <section class="card" aria-label="Runs"><div class="head"><h2>Runs</h2></div>
      ${runs.problem && html`<${Note} late text=${runs.problem.message} />`}
      <${Table} caption="Runs" rows=${runs.value?.applications ?? []} columns=${RUNS}
        empty="The planner keeps no run of it in detail." /></section>
  </div>`;
}
