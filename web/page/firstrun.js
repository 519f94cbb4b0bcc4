// What is shown where nothing has run: the commands of a first run, with this planner's address.
import { count } from "./format.js";
import { html } from "./parts.js";
import { Nodes } from "./rows.js";
import { nodes, session, state } from "./state.js";

/** The way to a first application. */
export function FirstRun() {
  // One that listens on every address is reached as this page is.
  const at = (session.value?.planner ?? "").replace(/^(0\.0\.0\.0|\[::\])?:/, location.hostname + ":");
  const on = (flag) => (at ? `${flag} ${at} ` : "");
  const submit = `pacer submit ${on("--pacer-planner")}--pacer-profile etl`;
  return html`<div class="stack">
    <section class="card empty">
      <h1>Nothing has run here yet</h1>
      <p class="soft">
        ${count(nodes.value.length, "node")} ${nodes.value.length === 1 ? "is" : "are"} ready.
        Three commands on a machine that reaches this planner show
        what Pacer does:</p>
      <ol>
        <li>Run an application once as it is. Pacer records its profile.
          <pre tabindex="0">${submit} app.py</pre></li>
        <li>Ask what a deadline would mean.
          <pre tabindex="0">pacer plan ${on("--planner")}--profile etl --deadline 10m</pre></li>
        <li>Run it again, to end just before its deadline on as few cores as that takes.
          <pre tabindex="0">${submit} --pacer-deadline 10m app.py</pre></li>
      </ol>
    </section>
    <${Nodes} all=${nodes.value} release=${state.value?.release} />
  </div>`;
}
