// What became of the runs: by profile, user, class or day.
import { useState } from "preact/hooks";
import { withQuery } from "./api.js";
import { cores, count, percent, span, trim } from "./format.js";
import { Choice, Name, Note, Table, html, to, useAnswer } from "./parts.js";

const SINCE = [
  ["24h", "1 day"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["400d", "400 days"],
];
const BY = [
  ["profile", "Profile"],
  ["user", "User"],
  ["class", "Class"],
  ["day", "Day"],
];

/** What became of a row's runs, as parts of a bar in their order. */
const ENDS = [
  ["met", "fill-ok", "in time"],
  ["unbound", "fill-rest", "without a deadline"],
  ["late", "fill-late", "late"],
  ["failed", "fill-tight", "failed"],
  ["killed", "fill-tight", "killed"],
  ["refused", "fill-tight", "refused"],
  ["unknown", "fill-rest", "unknown"],
];

function Bar({ row, most }) {
  let x = 0;
  const parts = ENDS.filter(([name]) => row[name] > 0);
  return html`<svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
    aria-label=${parts.map(([name, , words]) => `${row[name]} ${words}`).join(", ")}>
    ${parts.map(([name, fill]) => {
      const w = (row[name] / most) * 100;
      x += w;
      return html`<rect class=${fill} x=${x - w} width=${w} height="10" />`;
    })}</svg>`;
}

const hours = (v) => (typeof v === "number" ? trim(v, v < 10 ? 2 : v < 100 ? 1 : 0) : "–");
const early = (s) => (typeof s === "number" ? `${span(s)} ${s < 0 ? "late" : "early"}` : "–");

function columns(by, most) {
  const n = (head, name) => ({
    head,
    n: true,
    of: (r) => r[name] || html`<span class="soft">0</span>`,
    by: (r) => r[name],
  });
  return [
    {
      head: BY.find(([v]) => v === by)[1],
      by: (r) => r.key,
      of: (r) =>
        r.key ? html`<${Name} text=${r.key} href=${by === "profile" ? to.profile(r.key) : undefined} />` : "–",
    },
    n("Runs", "runs"),
    { head: "", of: (r) => html`<${Bar} row=${r} most=${most} />` },
    n("In time", "met"),
    n("Late", "late"),
    n("Failed", "failed"),
    n("Killed", "killed"),
    n("Refused", "refused"),
    {
      head: "Within reserve",
      n: true,
      of: (r) => (r.kept ? `${Math.round((100 * r.within) / r.kept)} %` : "–"),
      by: (r) => (r.kept ? r.within / r.kept : null),
    },
    { head: "Median margin", n: true, of: (r) => early(r.median_margin_s), by: (r) => r.median_margin_s },
    { head: "Core-hours", n: true, of: (r) => hours(r.core_hours), by: (r) => r.core_hours },
    { head: "Freed for others", n: true, of: (r) => hours(r.freed_core_hours), by: (r) => r.freed_core_hours },
    { head: "Cores held", n: true, of: (r) => cores(r.held_cores), by: (r) => r.held_cores },
    { head: "of offered", n: true, of: (r) => cores(r.offered_cores), by: (r) => r.offered_cores },
  ];
}

/** The view of what became of the runs. */
export function ReportView() {
  const [by, setBy] = useState("profile"),
    [since, setSince] = useState("30d");
  const query = { by, since, utc_offset_s: -60 * new Date().getTimezoneOffset() };
  const { value, problem } = useAnswer(withQuery("report", query), 60);
  const rows = value?.rows ?? [],
    total = value?.total;
  const others = total
    ? ["failed", "killed", "refused"].filter((name) => total[name]).map((name) => `${total[name]} ${name}`)
    : [];
  const middle = total?.median_margin_s;
  const bound = total ? total.met + total.late : 0;
  return html`<div class="stack">
    <section class="card"><div class="head"><h1>Report</h1>
        <span class="end"><${Choice} label="A row for each" of=${BY} is=${by} set=${setBy} /></span>
        <${Choice} label="How far back" of=${SINCE} is=${since} set=${setSince} /></div>
      ${problem && html`<${Note} late text=${problem.message} />`}
      ${
        total &&
        html`<dl class="answers report">
        <div><dt>Runs</dt><dd><span class="figure">${total.runs.toLocaleString("en-US")}</span><p>
          ${others.length ? others.join(", ") : "None has failed."}</p></dd></div>
        <div><dt>In time</dt><dd><span class=${"figure " + (bound && total.met === bound ? "ok" : "")}>
          ${bound ? percent(total.met / bound) : "–"}</span><p>
            ${total.met} of ${count(bound, "run")} with a deadline</p></dd></div>
        <div><dt>Median margin</dt><dd><span class="figure">
          ${typeof middle === "number" ? span(Math.abs(middle)) : "–"}</span><p>
            ${typeof middle === "number" ? (middle < 0 ? "late" : "before the deadline") : "no run had a deadline"}</p>
          </dd></div>
        <div><dt>Cores held</dt><dd><span class="figure">
          ${cores(total.held_cores)} <small>of ${cores(total.offered_cores)} offered</small></span>
            <p>on average, while a run lasted</p></dd></div>
        <div><dt>Work</dt><dd><span class="figure">${hours(total.core_hours)} <small>core-hours</small></span><p>
          ${typeof total.profile_core_hours === "number" ? `${hours(total.paced_core_hours)} by runs with a profile, which says ${hours(total.profile_core_hours)}` : "no run had a profile"}</p></dd></div>
        <div><dt>Freed for others</dt><dd><span class="figure">${hours(total.freed_core_hours)}
          <small>core-hours</small></span><p>offered to the runs and not held by them</p></dd></div>
      </dl>`
      }
    </section>
    <section class="card" aria-label="Rows">${
      value
        ? html`<${Table} key=${by} caption=${`Runs by ${by}`} rows=${rows}
          columns=${columns(by, Math.max(1, ...rows.map((r) => r.runs)))}
      empty="No run has ended in this time." />`
        : !problem && html`<p class="soft pad">Asking…</p>`
    }</section>
    <p class="soft small">Pacing lowers the cores that a run holds, not its work.</p>
  </div>`;
}
