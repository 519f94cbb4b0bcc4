// One application: how it stands, where its time went, its stages as a graph and over time, and
// what can be done about it.
import { useState } from "preact/hooks";
import { ask } from "./api.js";
import { Dag } from "./dag.js";
import {
  bytes,
  clock,
  cores,
  coresOf,
  count,
  margin,
  percent,
  seconds,
  sentence,
  span,
  stageName,
  trim,
  work,
} from "./format.js";
import { Name, Note, Question, Table, html, to, useAnswer } from "./parts.js";
import { early, moments, nameOf, now, over, session, state } from "./state.js";
import { Series } from "./series.js";

/** What the stream says of it is newer than the answer, which has more. */
const joined = (detail) => ({
  ...detail,
  ...Object.fromEntries(Object.entries(state.value?.applications?.[detail.id] ?? {}).filter(([, v]) => v !== null)),
});

const RISKS = { late: "late", tight: "tight", ok: "in time" };

/** What the words for how an application runs mean. */
const PACING = {
  paced: "on as few cores as its deadline takes",
  observed: "its quotas are worked out, and nothing holds it back",
  paused: "at all cores, while too little is known of its work",
  recording: "at all cores, as its profile is made",
  released: "at all cores, with nothing to hold it back",
  unpaced: "at all cores, as it cannot be paced",
  off: "at all cores, as its user wishes",
};

function Facts({ a }) {
  const m = moments(a),
    e = early(a);
  const facts = [
    ["User", a.user || "–"],
    ["Profile", a.profile ? html`<${Name} href=${to.profile(a.profile)} text=${a.profile} />` : "none"],
    ["Submitted", clock(m.from, now.value)],
    ["Deadline", m.deadline ? `${clock(m.deadline, now.value)}, ${span(a.deadline_s)} after submission` : "none"],
    over(a) ? ["Ended", clock(m.end, now.value)] : ["Expected end", clock(m.predicted, now.value)],
    e !== null && ["Margin", margin(e)],
    ["Work", work(a.core_seconds)],
    a.mean_cores > 0 && ["On average", coresOf(a.mean_cores)],
    [over(a) ? "Ran" : "Runs", PACING[a.pacing] ? `${a.pacing}: ${PACING[a.pacing]}` : a.pacing],
    a.verdict && a.verdict !== "none" && ["Verdict", a.verdict],
    ["Id", html`<code>${a.id}</code>`],
  ];
  return html`<dl class="facts">${facts.filter(Boolean).map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}
    </dd></div>`)}</dl>`;
}

/** Spark's own page, where its address is one of the web. @param {string} address */
function sparkUI(address) {
  try {
    const url = new URL(address);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

const QUESTIONS = {
  extend: {
    title: "Extend the deadline",
    act: "Extend",
    label: "By how much?",
    hint: "10m",
    text: "The planner divides the time that is then left anew. A time with a minus brings the deadline forward.",
  },
  release: {
    title: "Give it all cores?",
    act: "Release",
    text: "From now on nothing holds it back, whatever its deadline. That cannot be taken back.",
  },
  kill: {
    title: "End it?",
    act: "End the application",
    grave: true,
    text: "Its executors are taken away and its driver is asked to exit. What it has computed is lost.",
  },
};

/** The buttons for what can be done, each with a question first. */
function Acts({ a, done }) {
  const [asked, askFor] = useState(null),
    [said, say] = useState(null);
  if (over(a) || session.value?.role === "view") return null;
  const act = async (value) => {
    askFor(null);
    if (value === null) return;
    try {
      const sign = value.trim().startsWith("-") ? -1 : 1,
        by = seconds(value.replace(/^\s*[-+]/, ""));
      if (asked === "extend" && by === null) throw new Error(`${value} is no length of time: write 90s, 10m or 1h30m.`);
      const body = asked === "extend" ? { extend_s: sign * by } : {};
      say({
        text: (
          await ask(`applications/${encodeURIComponent(a.id)}/${asked === "extend" ? "deadline" : asked}`, { body })
        ).message,
      });
    } catch (e) {
      say({ text: e.message, late: true });
    }
    done();
  };
  return html`<div class="acts">
      ${a.deadline_s ? html`<button type="button" onClick=${() => askFor("extend")}>Extend…</button>` : null}
      ${a.state === "running" && html`<button type="button" onClick=${() => askFor("release")}>Release…</button>`}
      <button type="button" class="grave" onClick=${() => askFor("kill")}>End…</button>
    </div>
    ${said && html`<${Note} ...${said} />`}
    ${asked && html`<${Question} ...${QUESTIONS[asked]}
      title=${`${QUESTIONS[asked].title}${QUESTIONS[asked].title.endsWith("?") ? "" : `: ${a.name}`}`}
        done=${act} />`}`;
}

/** The colour of a part of the time. */
const PARTS = {
  queued: "p-wait",
  suspended: "p-wait",
  starting: "p-start",
  exit: "p-start",
  "as planned": "s0",
  stages: "s0",
  "held back too much": "p-late",
  "short of cores": "p-late",
  "more work": "s1",
  "repeated attempts": "s4",
  unexplained: "p-odd",
  "between stages": "s2",
  "after the last stage": "s2",
};

function Why({ why, a }) {
  const parts = (why.parts ?? []).filter((p) => p.s > 0),
    all = parts.reduce((sum, p) => sum + p.s, 0);
  const who = (p) =>
    p.who?.length ? `, had by ${p.who.map((w) => (w.app ? nameOf(w.app) : "others on the node")).join(", ")}` : "";
  return html`<section class="card" aria-label="Where the time went">
    <div class="head"><h2>Where the time went</h2><span class="soft small">
      ${all > 0 ? `${span(all)} since it was submitted` : ""}
      ${why.reserve ? `; reserve ${span(why.reserve.reserve_s)}, by ${why.reserve.runs} runs (${why.reserve.certainty})` : ""}</span></div>
    <div class="pad">
      ${
        all > 0
          ? html`<div class="parts" aria-hidden="true">${parts.map((p) => html`<span class=${PARTS[p.part] ?? ""}
            style=${{ width: ((p.s / all) * 100).toFixed(2) + "%" }}></span>`)}</div>
        <ul class="part-list">${parts.map(
          (p) => html`<li><span class=${"swatch " + (PARTS[p.part] ?? "")}></span>${p.part}${who(p)}
          <span class="soft">${span(p.s)}, ${percent(p.s / all)}</span></li>`,
        )}</ul>`
          : html`<p class="soft">Nobody has kept where the time of ${a.name} went.</p>`
      }
      ${why.causes?.length > 0 && html`<h3 class="small spaced">What made it slower than planned</h3><ol
        class="causes">${why.causes.map((c) => html`<li>${c}</li>`)}</ol>`}
    </div>
  </section>`;
}

/** What a stage of a profile is recognised by, or its work estimated from. */
const BY = {
  query: "its place in a SQL query",
  signature: "its code and what it reads",
  lineage: "what it computes",
  place: "its place among the others",
  kind: "not recorded: taken for one of its kind",
  run: "not recorded: taken for one of this run",
  task: "not recorded: by its tasks so far",
};
const KNOWN = { known: "recorded", estimated: "not recorded", new: "not recorded", gone: "recorded, does not come" };

const STAGES = [
  {
    head: "Stage",
    of: (s) => (s.stage < 0 ? "–" : s.attempt ? `${s.stage}.${s.attempt}` : s.stage),
    by: (s) => s.stage,
  },
  { head: "Name", wide: true, of: (s) => html`<span title=${s.name}>${stageName(s.name)}</span>`, by: (s) => s.name },
  { head: "State", of: (s) => s.state, by: (s) => s.state },
  { head: "Tasks", n: true, of: (s) => s.tasks, by: (s) => s.tasks },
  { head: "Ready after", n: true, of: (s) => span(s.start_s), by: (s) => s.start_s },
  { head: "Deadline, from then", n: true, of: (s) => span(s.deadline_s), by: (s) => s.deadline_s },
  {
    head: "Took",
    n: true,
    of: (s) => (s.state === "coming" || s.state === "gone" ? "–" : span(s.duration_s)),
    by: (s) => s.duration_s,
  },
  {
    head: "Margin, and its part of the application’s deadline",
    n: true,
    of: (s) =>
      typeof s.error_pct === "number"
        ? `${margin(s.deadline_s - s.duration_s)}, ${trim(Math.abs(s.error_pct), 1)} %`
        : "–",
    by: (s) => s.error_pct,
  },
  {
    head: "Core-seconds",
    n: true,
    of: (s) => (s.core_seconds > 0 ? trim(s.core_seconds, 1) : s.cores ? `on ${coresOf(s.cores)}` : "–"),
    by: (s) => s.core_seconds,
  },
  {
    head: "Recognised by",
    of: (s) =>
      BY[s.match?.by]
        ? BY[s.match.by] + (s.match.sure < 0.995 ? `, ${percent(s.match.sure)} sure` : "")
        : (KNOWN[s.match?.known] ?? "–"),
  },
];
const EXECUTORS = [
  { head: "Executor", of: (x) => x.id, by: (x) => x.id },
  { head: "Node", of: (x) => x.node, by: (x) => x.node },
  { head: "State", of: (x) => x.state + (x.exit ? `: ${x.exit}` : ""), by: (x) => x.state, wide: true },
  { head: "Heap", n: true, of: (x) => bytes(x.memory?.heap_bytes), by: (x) => x.memory?.heap_bytes },
  { head: "Off-heap", n: true, of: (x) => bytes(x.memory?.offheap_bytes), by: (x) => x.memory?.offheap_bytes },
  { head: "of it in use", n: true, of: (x) => bytes(x.memory?.offheap_used_bytes), by: (x) => x.memory?.offheap_used_bytes },
  { head: "Spilled", n: true, of: (x) => bytes(x.memory?.spilled_bytes), by: (x) => x.memory?.spilled_bytes },
];
const SHORTAGES = [
  { head: "Node", of: (s) => s.node, by: (s) => s.node },
  { head: "From", n: true, of: (s) => span(s.begin_s), by: (s) => s.begin_s },
  { head: "To", n: true, of: (s) => (s.end_s === null ? "now" : span(s.end_s)), by: (s) => s.end_s },
  { head: "Asked for", n: true, of: (s) => cores(s.asked_cores), by: (s) => s.asked_cores },
  { head: "Had", n: true, of: (s) => cores(s.had_cores), by: (s) => s.had_cores },
  { head: "Most was had by", of: (s) => (s.to ? nameOf(s.to) : "others on the node") },
];

/** The view of one application. @param {{of: string}} props its id */
export function ApplicationView({ of }) {
  const path = "applications/" + encodeURIComponent(of);
  const live = state.value?.applications?.[of],
    each = live && over(live) ? 60 : 2;
  const detail = useAnswer(path, each),
    why = useAnswer(path + "/why", each * 2),
    samples = useAnswer(path + "/samples", each);
  if (!detail.value)
    return detail.problem ? html`<${Note} late text=${detail.problem.message} />` : html`<p class="soft">Asking…</p>`;
  const a = joined(detail.value),
    ui = sparkUI(a.ui_web_url ?? "");
  const notices = [
    a.reason && `Verdict ${a.verdict}: ${a.reason}`,
    a.queue?.why && `Place ${a.queue.place} of ${a.queue.of} in the queue: ${a.queue.why}`,
    a.unrecorded && `In no profile: ${a.unrecorded}`,
    ...(a.notices ?? []),
  ].filter(Boolean);
  return html`<div class="stack">
    <section class="card pad stack">
      <div class="title"><h1>${a.name}</h1><span class=${"badge " + (a.risk || "soft")}>
        ${a.state}${RISKS[a.risk] ? ", " + RISKS[a.risk] : ""}</span>
        ${ui && html`<a class="button end" href=${ui} target="_blank" rel="noopener noreferrer">
          Spark’s UI ↗</a>`}</div>
      <p class="lead">${sentence(a)}</p>
      <${Facts} a=${a} />
      <${Acts} a=${a} done=${() => (detail.again(), why.again())} />
      ${detail.problem && html`<${Note} late text=${detail.problem.message} />`}
    </section>
    ${why.value && html`<${Why} why=${why.value} a=${a} />`}
    ${a.stages?.length > 0 && html`<${Dag} stages=${a.stages} />`}
    ${samples.value?.stages?.length > 0 && html`<${Series} samples=${samples.value} stages=${a.stages} a=${a} />`}
    <section class="card" aria-label="Stages"><div class="head"><h2>Stages</h2><span class="soft small">
      ${count(a.stages?.length ?? 0, "stage")}</span></div>
      <${Table} caption="Stages" rows=${a.stages ?? []} columns=${STAGES} empty="No stage has begun." most=${100} />
        </section>
    <div class="two">
      <section class="card" aria-label="Executors"><div class="head"><h2>Executors</h2></div>
        <${Table} caption="Executors" rows=${a.executors ?? []} columns=${EXECUTORS} empty="It has no executors." />
          </section>
      <section class="card" aria-label="Notices"><div class="head"><h2>Notices</h2></div>
        ${notices.length ? html`<ul class="notices">${notices.map((n) => html`<li>${n}</li>`)}</ul>` : html`<p
          class="soft pad">There was nothing to say.</p>`}</section>
    </div>
    ${
      a.shortages?.length > 0 &&
      html`<section class="card" aria-label="Shortages"><div class="head"><h2>Short of cores</h2></div>
      <${Table} caption="Shortages" rows=${a.shortages} columns=${SHORTAGES} empty="" /></section>`
    }
  </div>`;
}
