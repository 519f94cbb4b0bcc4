// The graph of an application's stages: done, running and coming, each as large as its work is. Many are folded.
import { useEffect, useState } from "preact/hooks";
import { count, coresOf, span, stageName } from "./format.js";
import { html } from "./parts.js";

const MOST = 200;

/**
 * The stages to draw, by keys that those of the profile to come share with those of the run.
 * @param {object[]} stages of ApplicationDetail, or of a Profile
 * @returns {Array<{key: string, label: string, name: string, more: string, state: string, work: number, tasks: number,
 *   parents: string[], job: ?number}>} a job of a stage to come is one of the profile, and null is not known
 */
export function boxes(stages) {
  const newest = new Map(),
    known = new Map();
  for (const s of stages) {
    if (s.state === "gone") continue;
    const coming = s.state === "coming",
      key = coming ? `p${s.match?.stage ?? s.stage}` : `r${s.stage}`;
    if (!newest.has(key) || (newest.get(key).attempt ?? 0) <= (s.attempt ?? 0)) newest.set(key, s);
    if (!coming && s.match && s.match.stage >= 0) known.set(s.match.stage, key);
  }
  return [...newest].map(([key, s]) => ({
    key,
    name: s.name,
    state: s.state,
    tasks: s.tasks,
    job: s.job ?? null,
    work: s.core_seconds ?? 0,
    label: s.state === "coming" ? "coming" : `stage ${s.stage}`,
    more:
      s.state === "coming"
        ? [s.cores > 0 && `on ${coresOf(s.cores)}`, s.start_s > 0 && `from ${span(s.start_s)}`].filter(Boolean).join(", ")
        : span(s.duration_s),
    parents: (s.parents ?? [])
      .map((p) => (s.state === "coming" ? (known.get(p) ?? `p${p}`) : `r${p}`))
      .filter((p) => newest.has(p) && p !== key),
  }));
}

/**
 * Folds boxes by their jobs: those of the run, whose stages have begun, and those of the profile to come, which have
 * numbers of their own. Of too many jobs as many are in one box as that takes.
 * @param {ReturnType<typeof boxes>} all
 */
export function folded(all) {
  const part = (b) => (b.state === "coming" ? "p" : "r"),
    jobs = [...new Set(all.map((b) => b.job ?? -1))].sort((a, b) => a - b),
    each = Math.ceil(jobs.length / MOST),
    group = new Map(jobs.map((job, i) => [job, Math.floor(i / each)])),
    of = new Map(all.map((b) => [b.key, part(b) + group.get(b.job ?? -1)])),
    groups = Map.groupBy(all, (b) => of.get(b.key));
  return [...groups].map(([key, in_]) => {
    const numbers = in_.map((b) => b.job ?? -1),
      [first, last] = [Math.min(...numbers), Math.max(...numbers)],
      sum = (what) => in_.reduce((all, b) => all + b[what], 0),
      is = (state) => in_.some((b) => b.state === state);
    return {
      key,
      name: count(in_.length, "stage"),
      label: last < 0 ? "no job known" : first === last ? `job ${last}` : `jobs ${Math.max(0, first)} to ${last}`,
      state: ["failed", "running", "coming", "done"].find(is),
      work: sum("work"),
      tasks: sum("tasks"),
      job: last,
      more: "",
      parents: [...new Set(in_.flatMap((b) => b.parents.map((p) => of.get(p))))].filter((p) => p !== key),
    };
  });
}

/** Places boxes by dagre. */
async function laid(all) {
  const dagre = await import("dagre");
  const graph = new dagre.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 12, ranksep: 34, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  const most = Math.max(1, ...all.map((b) => b.work));
  for (const b of all)
    graph.setNode(b.key, {
      ...b,
      width: Math.max(150 + 60 * Math.sqrt(b.work / most), 16 + UNDER * under(b).length),
      height: 36 + 14 * Math.sqrt(b.work / most),
    });
  for (const b of all) for (const p of b.parents) graph.setEdge(p, b.key);
  dagre.layout(graph);
  return {
    ...graph.graph(),
    boxes: graph.nodes().map((n) => graph.node(n)),
    edges: graph.edges().map((e) =>
      graph
        .edge(e)
        .points.map((p, i) => `${i ? "L" : "M"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`)
        .join(""),
    ),
  };
}

/** The widths of characters of a box's name and of what is below it, in pixels. */
const NAME = 6.6,
  UNDER = 6;

const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

/** What stands below a box's name. */
const under = (b) =>
  b.state === "coming" ? "to come" + (b.more && ": " + b.more) : [b.label, count(b.tasks, "task"), b.more].filter(Boolean).join(" · ");

/** The graph as a section. @param {{stages: object[], title?: string}} props */
export function Dag({ stages, title = "Stages as a graph" }) {
  const [at, set] = useState(null);
  const each = boxes(stages),
    many = each.length > MOST,
    all = many ? folded(each) : each;
  const key = JSON.stringify(all.map((b) => [b.key, b.state, b.parents, Math.round(b.work)]));
  useEffect(() => {
    let gone = false;
    laid(all).then((g) => gone || set(g));
    return () => (gone = true);
  }, [key]);
  if (!all.length) return null;
  const n = (state) => all.filter((b) => b.state === state).length;
  const words =
    ["done", "running", "coming", "failed"]
      .filter((s) => n(s))
      .map((s) => `${n(s)} ${s}`)
      .join(", ") || count(all.length, "stage");
  return html`<section class="card" aria-label=${title}>
    <div class="head"><h2>${title}</h2><span class="soft small">
      ${many ? `by job, ${count(each.length, "stage")} in all: ` : ""}${words}; the larger, the more work</span></div>
    <div class="dag" tabindex="0" role="group" aria-label=${`${title}: ${words}. The table of stages has the same.`}>
      ${
        at &&
        html`<svg width=${at.width} height=${at.height} viewBox=${`0 0 ${at.width} ${at.height}`} aria-hidden="true">
        ${at.edges.map((d) => html`<path d=${d} />`)}
        ${at.boxes.map(
          (
            b,
          ) => html`<g key=${b.key} class=${b.state}
            transform=${`translate(${(b.x - b.width / 2).toFixed(1)} ${(b.y - b.height / 2).toFixed(1)})`}>
          <title>${`${b.label}: ${b.name}, ${b.state}, ${count(b.tasks, "task")}${b.more ? ", " + b.more : ""}`}</title>
          <rect width=${b.width.toFixed(1)} height=${b.height.toFixed(1)} rx="5" />
          <text x="8" y=${(b.height / 2 - 3).toFixed(1)}>${cut(stageName(b.name), Math.floor((b.width - 16) / NAME))}</text>
          <text class="soft" x="8" y=${(b.height / 2 + 11).toFixed(1)}>
            ${under(b)}</text>
        </g>`,
        )}
      </svg>`
      }
    </div>
  </section>`;
}
