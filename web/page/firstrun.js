// What is shown where nothing has run: the commands of a first run, with this planner's address.
import { count } from "./format.js";
import { html } from "./parts.js";
import { Nodes } from "./rows.js";
import { nodes, session, state } from "./state.js";

/** A command, whose words stay whole. @param {{text: string}} props */
const Command = ({ text }) =>
  html`<pre tabindex="0">${text.split(" ").map((word) => html`<span>${word}</span> `)}</pre>`;

/** The way to a first application. */
export function FirstRun() {
  // One that listens on every address is reached as this page is.
  const at = (session.value?.planner ?? "").replace(/^(0\.0\.0\.0|\[::\])?:/, location.hostname + ":");
  const on = (flag) => (at ? `${flag} ${at} ` : "");
  const ready = nodes.value.filter((n) => n.state === "ready").length;
  const submit = `pacer submit ${on("--pacer-planner")}--pacer-profile etl`;
  return html`<div class="stack">
    <section class="card empty">
      <h1>Nothing has run here yet</h1>
      <p class="soft">
        ${ready ? `${count(ready, "node")} ${ready === 1 ? "is" : "are"} ready.` : "No node is ready, and without one nothing runs."}${" "}
        Three commands on a machine that reaches this planner show
        what Pacer does:</p>
      <ol>
        <li>Run an application once as it is. Pacer records its profile.
          <${Command} text=${submit + " app.py"} /></li>
        <li>Ask what a deadline would mean.
          <${Command} text=${`pacer plan ${on("--planner")}--profile etl --deadline 10m`} /></li>
        <li>Run it again, to end just before its deadline on as few cores as that takes.
          <${Command} text=${submit + " --pacer-deadline 10m app.py"} /></li>
      </ol>
    </section>
    <${Nodes} all=${nodes.value} release=${state.value?.release} />
  </div>`;
}
