// What is now: five answers, then one time axis with the cluster's cores above and a row per application
// below, and nodes.
import { signal } from "@preact/signals";
import { CoresChart, coresNow } from "./cores.js";
import { clock, cores, coresOf, count, lower, margin, percent, sentence } from "./format.js";
import { Choice, compare, html, to } from "./parts.js";
import { Nodes, RANGES, Row, Today, axisOf } from "./rows.js";
import {
  applications,
  early,
  ended,
  moments,
  nameOf,
  nodes,
  now,
  over,
  running,
  starts,
  state,
  waiting,
} from "./state.js";

const range = signal("");
const sort = signal("urgent");
const filter = signal("");
const most = signal(60);

const link = (a) => html`<a href=${to.app(a.id)}>${a.name}</a>`;

/** One of the five answers. @param {{term: string, figure: any, unit?: string, tone?: string, lines: any[]}} props */
const Answer = ({ term, figure, unit, tone = "", lines }) => html`<div>
  <dt>${term}</dt>
  <dd><span class=${"figure " + tone}>${figure}${unit && html` <small>${unit}</small>`}</span>
    ${lines.map((line) => html`<p class=${lines.length === 1 ? "two" : ""}
      ref=${(p) => p && (p.title = p.textContent)}>${line}</p>`)}</dd>
</div>`;

function Late() {
  const late = running.value
    .concat(waiting.value)
    .filter((a) => a.risk === "late")
    .sort((a, b) => (early(a) ?? 0) - (early(b) ?? 0));
  const tight = running.value
    .concat(waiting.value)
    .filter((a) => a.risk === "tight")
    .sort((a, b) => (early(a) ?? 0) - (early(b) ?? 0));
  const line = (a) =>
    html`${link(a)} ${early(a) === null ? html`<span class="soft">cannot be in time</span>` : html`<span
      class=${a.risk}>${margin(early(a))}</span>`}`;
  const shown = late.concat(tight).slice(0, 2);
  const idle = waiting.value.length ? "Nothing runs yet." : "Nothing runs.";
  const none = running.value.length ? "All that run with a deadline keep it." : idle;
  return html`<${Answer} term="Will be late" figure=${late.length}
    unit=${tight.length ? `and ${tight.length} tight` : ""} tone=${late.length ? "late" : tight.length ? "tight" : "ok"}
    lines=${shown.length ? shown.map(line) : [none]} />`;
}

function Waits() {
  const line = (a) =>
    html`${link(a)} ${starts(a) ? `starts ${starts(a)}` : html`<span class="soft">start not known</span>`}`;
  return html`<${Answer} term="Wait" figure=${waiting.value.length}
    lines=${waiting.value.length ? waiting.value.slice(0, 2).map(line) : ["Nothing waits."]} />`;
}

function Has({ has }) {
  const lines = has.apps
    .slice(0, 2)
    .map(({ app, used }) => html`<a href=${to.app(app)}>${nameOf(app)}</a> ${coresOf(used)}`);
  return html`<${Answer} term="Cores in use" figure=${cores(has.used)} unit=${`of ${coresOf(has.offered)}`}
    lines=${lines.length ? lines : ["No application uses cores."]} />`;
}

function Short({ has }) {
  const away = nodes.value.filter((n) => n.state === "lost");
  const first = waiting.value[0];
  const promised = has.promised;
  let figure = "Nothing",
    tone = "ok",
    lines = [`${coresOf(Math.max(0, (has.offered ?? 0) - has.used - (has.others ?? 0)))} are free.`];
  const late = running.value.find((a) => a.risk === "late" && /short of/.test(a.headline ?? ""));
  if (late) [figure, tone, lines] = ["Cores", "late", [html`${link(late)} ${/short of[^;]*/.exec(late.headline)[0]}`]];
  else if (first)
    [figure, tone, lines] = ["Memory", "tight", [html`${link(first)} ${first.queue?.why ?? "waits for memory"}`]];
  else if (promised > has.offered)
    [figure, tone, lines] = ["Cores", "tight", [`${coresOf(promised)} are promised of ${cores(has.offered)}.`]];
  if (away.length)
    lines = [lines[0], html`<span class="late">${count(away.length, "node")} lost: ${away[0].node}</span>`];
  return html`<${Answer} term="What is lacking" figure=${figure} tone=${tone} lines=${lines} />`;
}

function Last() {
  const a = ended.value[0];
  if (!a) return html`<${Answer} term="Ended last" figure="–" lines=${["Nothing has ended yet."]} />`;
  return html`<${Answer} term="Ended last" figure=${clock(moments(a).end, now.value)}
    tone=${a.risk === "late" ? "late" : ""}
    lines=${[html`${link(a)} ${lower(sentence(a))}`]} />`;
}

const URGENCY = { late: 0, tight: 1 };
/** The orders in which rows may stand. */
const ORDERS = {
  urgent: (a, b) =>
    compare(over(a), over(b)) ||
    (over(a)
      ? compare(moments(b).end, moments(a).end)
      : compare(URGENCY[a.risk] ?? 2, URGENCY[b.risk] ?? 2) ||
        compare(a.state === "queued", b.state === "queued") ||
        compare(a.queue?.place ?? 0, b.queue?.place ?? 0) ||
        compare(moments(a).deadline ?? Infinity, moments(b).deadline ?? Infinity)),
  deadline: (a, b) => compare(moments(a).deadline ?? Infinity, moments(b).deadline ?? Infinity),
  newest: (a, b) => compare(moments(b).from, moments(a).from),
  name: (a, b) => compare(a.name, b.name),
};

/** Whether an application has all words of a filter in it. */
function fits(a, words) {
  const text = `${a.name} ${a.id} ${a.user} ${a.profile} ${a.state} ${a.risk ?? ""}`.toLowerCase();
  return words.every((w) => text.includes(w));
}

/** The view of what is now, where something has run. */
export function Now() {
  const at = now.value;
  const axis = axisOf(range.value, at, running.value.concat(waiting.value).map(moments));
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = applications.value.filter(
    (a) => fits(a, words) && (words.length > 0 || !over(a) || (moments(a).end ?? 0) >= axis.from),
  );
  rows.sort((a, b) => ORDERS[sort.value](a, b) || compare(a.id, b.id));
  const has = coresNow();
  const part = has.offered ? `; ${percent(has.used / has.offered)} of the cores are used` : "";
  return html`<div class="stack">
    <h1 class="hidden">What is now</h1>
    <dl class="answers card"><${Late} /><${Waits} /><${Has} has=${has} /><${Short} has=${has} /><${Last} /></dl>
    <section class="card" aria-label="Time axis">
      <div class="head">
        <h2>Cores and applications</h2>
        <span class="soft small">
          ${running.value.length} running, ${waiting.value.length} waiting${part}</span>
        <input class="end" type="search" placeholder="Filter: name, user, late …" aria-label="Filter applications"
          value=${filter.value}
          onInput=${(e) => (filter.value = e.target.value)} />
        <select aria-label="Order of applications" value=${sort.value} onChange=${(e) => (sort.value = e.target.value)}>
          ${[
            ["urgent", "Most urgent first"],
            ["deadline", "By deadline"],
            ["newest", "Newest first"],
            ["name", "By name"],
          ].map(([v, text]) => html`<option value=${v} selected=${v === sort.value}>${text}</option>`)}
        </select>
        <${Choice} label="Length of the axis" of=${RANGES} is=${range.value} set=${(v) => (range.value = v)} />
      </div>
      <${CoresChart} axis=${axis} has=${has} />
      <div class="rows">
        <${Today} axis=${axis} />
        <ol aria-label="Applications">${rows.slice(0, most.value).map((a) => html`<${Row} key=${a.id} a=${a}
          axis=${axis} />`)}</ol>
        ${!rows.length && html`<p class="soft pad">
          ${words.length ? "No application fits the filter." : "Nothing ran in this time."}</p>`}
        ${rows.length > most.value && html`<p class="pad"><button type="button"
          onClick=${() => (most.value += 60)}>Show more of ${rows.length.toLocaleString("en-US")}</button></p>`}
      </div>
    </section>
    <${Nodes} all=${nodes.value} release=${state.value?.release} />
  </div>`;
}
