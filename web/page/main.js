// Starts the page: its frame, and the view that the address names.
import { render } from "preact";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Note, html, to } from "./parts.js";
import { applications, link, now, session, state } from "./state.js";
import { Gate, Offered, leave, open } from "./session.js";
import { Now } from "./now.js";

/** What the address says: a view's name, the part after it, and the query. */
const place = signal(where());

function where() {
  const hash = location.hash.startsWith("#/") ? location.hash.slice(2) : ""; // Another one is a code.
  const [path, query = ""] = hash.split("?");
  const [view, ...rest] = path.split("/");
  return { view: view || "now", of: decodeURIComponent(rest.join("/")), query: new URLSearchParams(query) };
}

/** Views that are loaded when they are wanted. */
const later = {
  first: () => import("./firstrun.js").then((m) => m.FirstRun),
  app: () => import("./application.js").then((m) => m.ApplicationView),
  profiles: () => import("./profile.js").then((m) => m.Profiles),
  profile: () => import("./profile.js").then((m) => m.ProfileView),
  report: () => import("./report.js").then((m) => m.ReportView),
};
const views = signal({ now: Now });

function load(view) {
  if (views.value[view] || !later[view]) return;
  later[view]()
    .then((v) => (views.value = { ...views.value, [view]: v }))
    .catch(() => location.reload());
}

const titles = { now: "Now", app: "Application", profiles: "Profiles", profile: "Profile", report: "Report" };

addEventListener("hashchange", () => {
  if (location.hash.length > 1 && !location.hash.startsWith("#/")) {
    if (location.hash !== "#content") open();
    return;
  }
  place.value = where();
  load(place.value.view);
  document.getElementById("content")?.focus({ preventScroll: true });
  scrollTo(0, 0);
});

addEventListener("keydown", (e) => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.("input, select, textarea, dialog"))
    return;
  const search = document.querySelector("input[type=search]");
  if (search) (e.preventDefault(), search.focus());
});

const THEMES = { "": "Automatic", light: "Light", dark: "Dark" };
const theme = signal(localStorage.getItem("pacer.theme") ?? "");
/** Rises when colours change, so that canvases are drawn again. */
function setTheme(value) {
  theme.value = value;
  localStorage.setItem("pacer.theme", value);
  document.documentElement.dataset.theme = value;
  dispatchEvent(new Event("themechange"));
}
document.documentElement.dataset.theme = theme.value;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("themechange")));

/** A time of day to the second. @param {number} ms */
const time = (ms) => new Date(ms).toLocaleTimeString("en-GB");

const words = { tried: "connecting", live: "live", lost: "no connection", hidden: "resting", denied: "no session" };

function Bar() {
  const { view } = place.value,
    { is, text } = link.value;
  const tab = (name, href, label, also = []) =>
    html`<a href=${href} aria-current=${view === name || also.includes(view) ? "page" : undefined}>${label}</a>`;
  return html`<header class="bar">
    <a class="brand" href=${to.now()}><img src="./icon.svg" width="20" height="20" alt="" />Pacer</a>
    <nav aria-label="Views">
      ${tab("now", to.now(), "Now", ["app"])}
      ${tab("profiles", to.profiles(), "Profiles", ["profile"])}
      ${tab("report", to.report(), "Report")}</nav>
    <div class="state">
      <span role="status" title=${text}><span class=${"dot " + is} aria-hidden="true"></span> ${words[is]}</span>
      <time class="wide">${time(now.value * 1000)}</time>
      <select aria-label="Theme" value=${theme.value} onChange=${(e) => setTheme(e.target.value)}>
        ${Object.entries(THEMES).map(([value, label]) => html`<option value=${value}
          selected=${value === theme.value}>${label}</option>`)}
      </select>
      ${
        session.value &&
        html`<button type="button" class="plain"
          title=${`${session.value.user}, ${session.value.role}; planner ${session.value.release}`}
        onClick=${leave}>Leave</button>`
      }
    </div>
  </header>`;
}

function View() {
  const { of, query } = place.value;
  const view = place.value.view === "now" && !applications.value.length ? "first" : place.value.view;
  if (view === "first") load(view);
  const Wanted = views.value[view];
  if (!Wanted) return later[view] ? null : html`<${Note} text="There is no such view." />`;
  return html`<${Wanted} key=${view + of} of=${of} query=${query} />`;
}

function Page() {
  const { view, of } = place.value,
    { is, text } = link.value;
  useEffect(() => {
    document.title = [view === "now" ? "" : of || titles[view], "Pacer"].filter(Boolean).join(" · ");
  }, [view, of]);
  const shown = state.value ? `What is shown is of ${time(Date.parse(state.value.at))}. ` : "";
  if (is === "denied") return html`<${Bar} /><${Gate} />`;
  return html`<a class="skip" href="#content"
    onClick=${(e) => (e.preventDefault(), document.getElementById("content")?.focus())}>Skip to content</a>
    <${Bar} />
    <main id="content" tabindex="-1">
      <${Offered} />
      ${is === "lost" && html`<${Note} late
        text=${`${text} ${shown}Trying again.`} />`}
      ${state.value || (view !== "now" && session.value) ? html`<${View} />` : html`<p class="soft">Connecting…</p>`}
    </main>`;
}

render(html`<${Page} />`, document.getElementById("page"));
load(place.value.view);
open();
