// A session of this page: begun by the one-time code in the address that `pacer web` prints, kept in this browser.
import { ask, keepToken, request, token } from "./api.js";
import { Note, html } from "./parts.js";
import { follow, link, session, state } from "./state.js";
import { signal } from "@preact/signals";

const problem = signal("");

/** A session that a link has begun while this browser has one of somebody else; null for none. */
const offered = signal(null);

/**
 * Exchanges a code for a session. It replaces one of another user only where that one says so (Offered): whoever has
 * this browser open their link would have it work in their name.
 * @param {string} code @returns {Promise<boolean>}
 */
async function exchange(code) {
  try {
    const { token: fresh, ...who } = await ask("session", { body: { code } });
    const mine = token() && (await ask("session").catch((e) => (e.status === 401 ? null : { user: "" })));
    if (mine && mine.user !== who.user) {
      offered.value = { fresh, who, mine: mine.user };
      return false;
    }
    take(fresh, who);
    return true;
  } catch (e) {
    problem.value = e.message;
    return false;
  }
}

function take(fresh, who) {
  keepToken(fresh);
  begin(who);
}

function begin(who) {
  problem.value = "";
  session.value = who;
  follow();
}

/** Takes the code out of the address, or goes on with the session that this browser has. */
export async function open() {
  const code = location.hash.slice(1);
  if (code && !code.startsWith("/")) {
    history.replaceState(null, "", "#/"); // A code is not to stay in the history.
    if (await exchange(code)) return;
  }
  if (!token()) return void (link.value = { is: "denied", text: "" });
  try {
    begin(await ask("session"));
  } catch (e) {
    if (e.status === 401) {
      keepToken("");
      problem.value ||= e.message;
      link.value = { is: "denied", text: "" };
    } else {
      follow(); // It tries until the planner answers.
    }
  }
}

/** Ends the session here and at the planner. */
export async function leave() {
  await ask("session", { method: "DELETE" }).catch(() => {});
  keepToken("");
  location.reload();
}

/** The question whether the session of a link is to replace that of this browser. */
export function Offered() {
  const offer = offered.value;
  if (!offer) return null;
  const { fresh, who, mine } = offer;
  const stay = () => {
    offered.value = null;
    request("session", { method: "DELETE", headers: { Authorization: "Bearer " + fresh } }).catch(() => {});
  };
  const change = () => {
    offered.value = null;
    take(fresh, who);
  };
  return html`<section class="note late offered" role="alertdialog" aria-label="Another session">
    <p>The link is of ${who.user}, and this browser has a session of ${mine || "somebody"}.</p>
    <button type="button" class="first" onClick=${stay}>Stay${mine && " " + mine}</button>
    <button type="button" class="plain" onClick=${change}>Go on as ${who.user}</button>
  </section>`;
}

/** What is shown without a session. */
export function Gate() {
  const submit = async (e) => {
    e.preventDefault();
    const text = new FormData(e.target).get("code").trim();
    await exchange(text.slice(text.lastIndexOf("#") + 1));
  };
  return html`<main class="gate card" id="content" tabindex="-1">
    <h1>Open a session</h1>
    <p>Run <code>pacer web</code> where you run <code>pacer</code>, and open the link that it prints, or paste
      the link or its code here. A code works once, for two minutes.</p>
    <form onSubmit=${submit}><input name="code" aria-label="Link or code" autocomplete="off" required autofocus />
      <button class="first">Open</button></form>
    ${(problem.value || link.value.text) && !state.value && html`<${Note} late
      text=${problem.value || link.value.text} />`}
  </main>`;
}
