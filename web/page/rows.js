// The time axis, and on it a row per application: from its submission to now, lighter to the expected end, a flag
// at its deadline.
import { useState } from "preact/hooks";
import { clock, cores, coresOf, count, margin, sentence } from "./format.js";
import { html, to } from "./parts.js";
import { early, moments, now, over, starts } from "./state.js";
import { slotOf, usedNow } from "./cores.js";

/** @typedef {{from: number, to: number, now: number}} Axis  Unix seconds */

/** The choices of how far back the axis goes; "" looks at what runs. */
export const RANGES = [
  ["", "Auto"],
  ["900", "15 min"],
  ["3600", "1 h"],
  ["21600", "6 h"],
  ["86400", "24 h"],
];

/**
 * The axis for a choice: with "" from the first submission of what has not ended to the last deadline or expected end,
 * as far as that leaves now in the middle half.
 * @param {string} range @param {number} now
 * @param {Array<{from: ?number, deadline: ?number, predicted: ?number, start: ?number}>} live
 * @returns {Axis}
 */
export function axisOf(range, now, live) {
  if (range) return { from: now - Number(range), to: now + Number(range) / 2, now };
  let back = 300,
    ahead = 0;
  for (const m of live) {
    if (m.from !== null) back = Math.max(back, (now - m.from) * 1.06);
    ahead = Math.max(ahead, (m.deadline ?? 0) - now, (m.predicted ?? 0) - now, (m.start ?? 0) - now);
  }
  back = Math.min(back, 86400);
  return { from: now - back, to: now + Math.min(Math.max(ahead * 1.06, back / 3), back * 2), now };
}

/** Where a moment lies on the axis, in per cent of its width, within it. @param {Axis} axis @param {number} at */
export const placeOf = (axis, at) => Math.min(100, Math.max(0, ((at - axis.from) / (axis.to - axis.from)) * 100));

/** The style of what reaches from one moment to another. @param {Axis} axis @param {number} from @param {number} to */
export function reach(axis, from, to) {
  const left = placeOf(axis, from);
  return { left: left.toFixed(2) + "%", width: Math.max(0, placeOf(axis, to) - left).toFixed(2) + "%" };
}

const STATES = {
  finished: "ended",
  failed: "failed",
  unknown: "ended",
  refused: "refused",
  queued: "waits",
  ending: "ending",
};

/** The bar of an application. @param {{a: object, axis: Axis}} props */
export function Track({ a, axis }) {
  const m = moments(a);
  if (m.from === null) return html`<div class="track"></div>`;
  const end = m.end ?? axis.now;
  const flag = m.deadline !== null && m.deadline >= axis.from && m.deadline <= axis.to;
  return html`<div class="track" aria-hidden="true">
    ${
      a.state === "queued"
        ? html`<div class="waits" style=${reach(axis, m.from, axis.now)}></div>
        ${m.start !== null && m.start > axis.now && html`<div class="waits to-come"
          style=${reach(axis, axis.now, m.start)}></div>`}
        ${m.start !== null && m.predicted !== null && html`<div class="next"
          style=${reach(axis, m.start, m.predicted)}></div>`}`
        : html`<div class=${over(a) ? "past over" : "past"} style=${reach(axis, m.from, end)}></div>
        ${m.predicted !== null && m.predicted > axis.now && html`<div class="next"
          style=${reach(axis, axis.now, m.predicted)}></div>`}`
    }
    ${flag && html`<div class="flag" style=${{ left: placeOf(axis, m.deadline).toFixed(2) + "%" }}></div>`}
  </div>`;
}

/** What is told at the right of a row: when it ends, and how that lies beside its deadline. */
function ends(a, m) {
  if (a.state === "queued")
    return [
      starts(a) ? "starts " + starts(a) : "waits",
      a.queue ? `${a.queue.place} of ${a.queue.of}` : "",
    ];
  if (over(a)) return [`${STATES[a.state]} ${clock(m.end, now.value)}`, margin(early(a))];
  if (m.predicted !== null) return ["ends " + clock(m.predicted, now.value), margin(early(a)) || "no deadline"];
  return [
    m.from === null ? "runs" : `since ${clock(m.from, now.value)}`,
    m.deadline ? "due " + clock(m.deadline, now.value) : "no deadline",
  ];
}

/** One application. @param {{a: object, axis: Axis}} props */
export function Row({ a, axis }) {
  const m = moments(a),
    [when, beside] = ends(a, m),
    slot = slotOf(a.id),
    used = over(a) ? null : usedNow(a.id);
  const is = used !== null ? coresOf(used) : a.state === "queued" ? "waits" : over(a) ? a.state : "";
  const who = [a.user || "nobody’s", is].filter(Boolean).join(" · ");
  const tone =
    a.risk === "late" || a.risk === "tight" ? a.risk : a.risk === "ok" ? "ok" : a.state === "failed" ? "late" : "";
  return html`<li class=${`row axis ${tone}${over(a) ? " over" : ""}`}>
    <div class="who">
      <div class="name"><span class=${"swatch" + (slot === null ? "" : " s" + slot)} hidden=${slot === null}
        aria-hidden="true"></span>
        <a href=${to.app(a.id)} title=${`${a.name}, ${a.id}`}>${a.name}</a></div>
      <div class="soft small cut" title=${who}>${who}</div>
    </div>
    <div class="what">
      <${Track} a=${a} axis=${axis} />
      <p class="sentence cut" title=${sentence(a)}>${sentence(a)}</p>
    </div>
    <div class="ends"><strong>${when}</strong><span class=${tone === "" || a.state === "queued" ? "soft" : tone}>
      ${beside}</span></div>
  </li>`;
}

/** The line of now, behind all rows. @param {{axis: Axis}} props */
export const Today = ({ axis }) => html`<div class="lines axis" aria-hidden="true"><div>
  <div class="line" style=${{ left: placeOf(axis, axis.now).toFixed(2) + "%" }}></div></div></div>`;

const MOST = 36;

function Node({ n }) {
  const total = Math.max(n.total_cores ?? 0, n.offered_cores ?? 0, 1);
  const width = (v) => Math.min(100, ((v ?? 0) / total) * 100);
  const others = n.others_cores ?? null,
    used = n.used_cores ?? null;
  const more = used === null ? "" : `${cores(n.granted_cores)} granted, ${cores(others)} used by others`;
  const words = used === null ? count(n.executors, "executor") : `${cores(used)} of ${cores(n.offered_cores)}`;
  return html`<li class="node" title=${more}>
    <div><span class="cut" title=${`${n.node}, ${n.host}`}>${n.node}</span><span
      class=${n.state === "ready" ? "soft" : n.state === "lost" ? "late" : "tight"}>
        ${n.state === "ready" ? words : n.state}</span></div>
    <svg class="strip" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bed" width="100" height="10" />
      <rect class="granted" width=${width(n.granted_cores)} height="10" />
      <rect class="used" width=${width(used)} height="10" />
      ${others > 0 && html`<rect class="others" x=${100 - width(others)} width=${width(others)} height="10" />`}
    </svg>
  </li>`;
}

/**
 * All nodes; of many the fullest and those that are not ready.
 * @param {{all: object[], release?: string}} props
 */
export function Nodes({ all, release }) {
  const [every, setEvery] = useState(false);
  const away = all.filter((n) => n.state !== "ready");
  const order =
    all.length > MOST && !every
      ? [...all]
          .sort(
            (a, b) =>
              (a.state === "ready") - (b.state === "ready") ||
              (b.used_cores ?? b.executors) - (a.used_cores ?? a.executors),
          )
          .slice(0, MOST)
      : all;
  return html`<section class="card" aria-label="Nodes">
    <div class="head"><h2>Nodes</h2>
      <span class="soft small">
        ${all.length ? `${count(all.length, "node")}, ${away.length ? away.length + " not" : "all"} ready` : "none"}</span>
      ${all.length > MOST && html`<button type="button" class="plain end" onClick=${() => setEvery(!every)}>
        ${every ? "Show the fullest" : `Show all ${all.length}`}</button>`}
      ${release && html`<span class=${"soft small" + (all.length > MOST ? "" : " end")}>planner ${release}</span>`}
        </div>
    ${
      all.length
        ? html`<svg class="hidden" aria-hidden="true"><defs><pattern id="hatch" width="4" height="4"
          patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <path class="hatch" d="M0 0V4" /></pattern></defs></svg><ul class="nodes">${order.map((n) => html`<${Node}
        key=${n.node} n=${n} />`)}</ul>`
        : html`<p class="soft pad">No node has reported. Start one with <code>nodecontroller</code>,
            or run <code>pacer up</code>.</p>`
    }
  </section>`;
}
