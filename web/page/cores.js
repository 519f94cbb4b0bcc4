// The cluster's cores over time: stacked areas per application, others hatched, what is offered as a line,
// and right of now what is promised until each deadline.
import { useEffect, useRef } from "preact/hooks";
import { clock, cores, coresOf } from "./format.js";
import { Name, colour, html, to } from "./parts.js";
import { applications, askHistory, history, moment, nameOf, over, state } from "./state.js";

const SLOTS = 8;
/** Which colour an application has, by its id. @type {Map<string, number>} */
const slots = new Map();

/** The colour's number of an application, null for one that has none of its own. @param {string} id */
export const slotOf = (id) => slots.get(id) ?? null;

/** Gives colours to applications, and keeps those that they have. @param {string[]} ids the first ones come first */
function colours(ids) {
  const wanted = ids.slice(0, SLOTS);
  for (const id of [...slots.keys()]) if (!wanted.includes(id)) slots.delete(id);
  const free = [...Array(SLOTS).keys()].filter((s) => ![...slots.values()].includes(s));
  for (const id of wanted) if (!slots.has(id)) slots.set(id, free.shift());
}

const last = (column) => (column?.length ? column[column.length - 1] : null);

/** The cores that an application has used last; null where that is unknown. @param {string} id */
export const usedNow = (id) => last(history.second.value?.apps?.find((a) => a.app === id)?.used_cores);

/** Who has the cluster now: applications with what they use, the most first, the others, and what is offered. */
export function coresNow() {
  const h = history.second.value;
  if (!h) return { apps: [], used: null, others: null, offered: null, promised: 0, rest: 0 };
  const apps = h.apps
    .map((a) => ({ app: a.app, used: last(a.used_cores) ?? 0 }))
    .filter((a) => a.used >= 0.05)
    .sort((a, b) => b.used - a.used);
  const rest = last(h.rest?.used_cores) ?? 0;
  return {
    apps,
    rest,
    offered: last(h.offered_cores),
    others: last(h.others_cores),
    used: apps.reduce((sum, a) => sum + a.used, rest),
    promised: (h.promised ?? []).reduce((sum, p) => sum + p.cores, 0),
  };
}

/**
 * The columns of the chart, from the lowest layer up: each application's cores on those of the layers below it.
 * @param {object} h a CoresHistory @param {import("./rows.js").Axis} axis @param {string[]} ids those with a colour
 */
export function stack(h, axis, ids) {
  const from = moment(h.from),
    n = h.points ?? 0;
  const xs = Array.from({ length: n }, (_, i) => from + i * h.step_s);
  if (n && axis.now - xs[n - 1] < 3 * h.step_s) xs[n - 1] = Math.max(xs[n - 1], axis.now - 0.001);
  const column = (id) => h.apps.find((a) => a.app === id)?.used_cores ?? [];
  const named = h.apps.filter((a) => !ids.includes(a.app));
  const rest = xs.map((_, i) => named.reduce((sum, a) => sum + (a.used_cores[i] ?? 0), h.rest?.used_cores?.[i] ?? 0));
  const layers = [...ids.map(column), rest, h.others_cores ?? []];
  // Right of now each end of a promise is a step.
  const promised = (h.promised ?? []).map((p) => ({ ...p, until: moment(p.until) ?? axis.to }));
  const steps = [...new Set(promised.map((p) => Math.min(p.until, axis.to)))]
    .filter((t) => t > axis.now)
    .sort((a, b) => a - b);
  const future = [axis.now, ...steps.flatMap((t) => [t - 0.001, t]), axis.to].filter(
    (t, i, all) => i === 0 || t > all[i - 1],
  );
  const until = (id, t) =>
    promised.reduce(
      (sum, p) => ((id === null ? !ids.includes(p.app) : p.app === id) && p.until > t ? sum + p.cores : sum),
      0,
    );
  const pale = [...ids, null].map((id) => future.map((t) => until(id, t)));
  const up = (all, length) => {
    const sum = new Array(length).fill(0);
    return all.map((c) => sum.map((_, i) => (sum[i] += c[i] ?? 0)));
  };
  const none = (length) => new Array(length).fill(null);
  return [
    [...xs, ...future],
    ...up(layers, n).map((c) => [...c, ...none(future.length)]),
    ...up(pale, future.length).map((c) => [...none(n), ...c]),
    [...(h.offered_cores ?? none(n)), ...future.map(() => last(h.offered_cores))],
  ];
}

/** A pattern of slanted lines for a canvas. @param {CanvasRenderingContext2D} context @param {string} ink */
function hatch(context, ink) {
  const tile = document.createElement("canvas"),
    d = Math.max(1, Math.round(devicePixelRatio));
  tile.width = tile.height = 6 * d;
  const c = tile.getContext("2d");
  ((c.strokeStyle = ink), (c.lineWidth = 1.2 * d));
  for (const x of [-6, 0, 6]) (c.moveTo((x + 0) * d, 6 * d), c.lineTo((x + 6) * d, 0));
  c.stroke();
  return context.createPattern(tile, "repeat");
}

/** A third of one colour with another one; both are "#rrggbb". @param {string} a @param {string} b */
function blend(a, b) {
  const part = (s, i) =>
    s.length === 4 ? parseInt(s[1 + i] + s[1 + i], 16) : parseInt(s.slice(1 + 2 * i, 3 + 2 * i), 16);
  return `rgb(${[0, 1, 2].map((i) => Math.round(0.36 * part(a, i) + 0.64 * part(b, i))).join()})`;
}

/** The series of uPlot, in the columns' order. */
function seriesOf(ids) {
  const ink = (i) => (i < ids.length ? colour("--c" + slotOf(ids[i])) : colour("--mixed"));
  const layers = [...ids, "rest"].map((_, i) => ({
    fill: ink(i),
    stroke: colour("--card"),
    width: 0.5,
    points: { show: false },
  }));
  const others = { fill: (u) => hatch(u.ctx, colour("--hatch")), width: 0, points: { show: false } };
  const pale = [...ids, "rest"].map((_, i) => ({
    fill: blend(ink(i), colour("--card")),
    stroke: colour("--card"),
    width: 0.5,
    points: { show: false },
  }));
  const offered = { stroke: colour("--soft"), width: 1.5, dash: [5, 4], points: { show: false } };
  return { all: [{}, ...layers, others, ...pale, offered], first: 1, layers: layers.length + 1, pale: pale.length };
}

/** What uPlot is to draw. Layers are drawn from the top one down, each to the ground, so none shows through another. */
function plot(ids, size, axis, offered) {
  const soft = colour("--soft"),
    grid = { stroke: colour("--faint"), width: 1 },
    s = seriesOf(ids);
  const top = (from, n) => Array.from({ length: n }, (_, i) => from + n - 1 - i);
  const order = [0, ...top(1, s.layers), ...top(1 + s.layers, s.pale), s.all.length - 1];
  return {
    order,
    options: {
      ...size,
      padding: [8, 0, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false },
      scales: {
        x: { time: true, range: () => [axis.current.from, axis.current.to] },
        y: { range: (_, __, most) => [0, Math.max(1, most * 1.16)] },
      },
      series: order.map((i) => s.all[i]),
      axes: [
        {
          stroke: soft,
          grid,
          ticks: { show: false },
          size: 24,
          font: "12px system-ui, sans-serif",
          space: 70,
          values: (_, at) => at.map((t) => clock(t, t)),
        },
        { stroke: soft, grid, ticks: { show: false }, size: 0, show: false },
      ],
      hooks: {
        draw: [
          (u) => {
            const d = devicePixelRatio,
              { ctx, bbox } = u,
              x = u.valToPos(axis.current.now, "x", true);
            ctx.save();
            (ctx.setLineDash([]), (ctx.strokeStyle = colour("--now")), (ctx.globalAlpha = 0.45), (ctx.lineWidth = d));
            (ctx.beginPath(), ctx.moveTo(x, bbox.top), ctx.lineTo(x, bbox.top + bbox.height), ctx.stroke());
            ((ctx.globalAlpha = 1),
              (ctx.fillStyle = soft),
              (ctx.font = `${12 * d}px system-ui, sans-serif`),
              (ctx.textAlign = "left"),
              (ctx.textBaseline = "alphabetic"));
            ctx.fillText("promised", x + 6 * d, bbox.top + 11 * d);
            const most = offered.current;
            if (most > 0)
              ((ctx.textAlign = "right"),
                ctx.fillText(
                  `${cores(most)} offered`,
                  bbox.left + bbox.width - 4 * d,
                  u.valToPos(most, "y", true) - 5 * d,
                ));
            ctx.restore();
          },
        ],
      },
    },
  };
}

/**
 * The chart with its legend, on the axis of the rows below it.
 * @param {{axis: import("./rows.js").Axis, has: object}} props
 */
export function CoresChart({ axis, has }) {
  const place = useRef(null),
    drawn = useRef(null),
    current = useRef(axis),
    offered = useRef(null);
  ((current.current = axis), (offered.current = has.offered));
  const step = axis.now - axis.from > 960 ? "minute" : "second";
  // The stream has the newest seconds of it.
  askHistory("second", !history.second.value ? 10 : state.value?.cores ? 600 : 2);
  if (step === "minute") askHistory("minute", 60);
  const h = history[step].value;
  const live = new Set(applications.value.filter((a) => !over(a)).map((a) => a.id));
  const ids = h
    ? [...h.apps]
        .sort((a, b) => live.has(b.app) - live.has(a.app))
        .slice(0, SLOTS)
        .map((a) => a.app)
    : [];
  colours(ids);
  const shown = [...ids].sort((a, b) => slotOf(a) - slotOf(b)),
    key = shown.join() + step;

  useEffect(() => {
    const box = place.current; // It is still there when what is drawn on it goes.
    const sizeOf = () => ({ width: box.clientWidth, height: box.clientHeight });
    const draw = () => {
      drawn.current?.plot.destroy();
      const size = sizeOf();
      const { order, options } = plot(shown, size, current, offered);
      drawn.current = {
        order,
        plot: new uPlot(
          options,
          order.map(() => []),
          box,
        ),
      };
      fill();
    };
    const resize = new ResizeObserver(() => drawn.current?.plot.setSize(sizeOf()));
    draw();
    resize.observe(box);
    addEventListener("themechange", draw);
    return () => (
      resize.disconnect(),
      removeEventListener("themechange", draw),
      drawn.current?.plot.destroy(),
      (drawn.current = null)
    );
  }, [key]);

  const fill = () => {
    if (!drawn.current || !h) return;
    const columns = stack(h, axis, shown);
    drawn.current.plot.setData(drawn.current.order.map((i) => columns[i]));
  };
  useEffect(fill);

  const rest = has.apps.filter((a) => slotOf(a.app) === null).reduce((sum, a) => sum + a.used, has.rest);
  const used = new Map(has.apps.map((a) => [a.app, a.used])),
    usedBy = (id) => used.get(id) ?? (live.has(id) ? 0 : -1); // What has ended comes last.
  const more = rest >= 0.05 || h?.apps.length > SLOTS || h?.rest?.used_cores?.some((v) => v > 0);
  const words = has.apps.length
    ? has.apps
        .slice(0, 8)
        .map((a) => `${nameOf(a.app)} ${cores(a.used)}`)
        .join(", ")
    : "no application";
  return html`<div class="axis">
    <ul class="legend" aria-label="Who has the cluster">
      ${[...ids]
        .sort((a, b) => usedBy(b) - usedBy(a))
        .map(
          (id) => html`<li><span class=${"swatch s" + slotOf(id)}></span>
        <${Name} href=${to.app(id)} text=${nameOf(id)} /><span class="value">
          ${usedBy(id) < 0 ? "ended" : cores(usedBy(id))}</span></li>`,
        )}
      ${more && html`<li><span class="swatch"></span>other applications<span class="value">${cores(rest)}
        </span></li>`}
      ${has.others !== null && html`<li><span class="swatch hatched"></span>not Pacer’s<span class="value">
        ${cores(has.others)}</span></li>`}
      ${has.offered !== null && html`<li><span class="swatch offered"></span>offered<span class="value">
        ${cores(has.offered)}</span></li>`}
    </ul>
    <div class="chart" ref=${place} role="img"
      aria-label=${`Cores over time. Now: ${words}; ${cores(has.offered)} offered.`}></div>
    <dl class="tail small pad"><dt class="soft">promised until the deadlines</dt><dd>${coresOf(has.promised)} now</dd>
      </dl>
  </div>`;
}
