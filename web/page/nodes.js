// Nodes as small strips: what each offers, and what of it is granted, used, and taken by others.
import { useState } from "preact/hooks";
import { cores, count } from "./format.js";
import { html } from "./parts.js";

const MOST = 36;

function Node({ n }) {
  const total = Math.max(n.total_cores ?? 0, n.offered_cores ?? 0, 1);
  const width = (v) => Math.min(100, ((v ?? 0) / total) * 100);
  const others = n.others_cores ?? null,
    used = n.used_cores ?? null;
  const words = used === null ? count(n.executors, "executor") : `${cores(used)} of ${cores(n.offered_cores)}`;
  return html`<li class="node">
    <div><span class="cut" title=${n.host}>${n.node}</span><span
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
        ${count(all.length, "node")}${away.length ? `, ${away.length} not ready` : ", all ready"}</span>
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
