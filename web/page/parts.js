// Small parts that views share.
import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import htm from "htm";
import { ask } from "./api.js";

export const html = htm.bind(h);

/** Where a view is; hashes stay with the browser, so any path of a proxy will do. */
export const to = {
  now: () => "#/",
  app: (id) => "#/app/" + encodeURIComponent(id),
  profiles: () => "#/profiles",
  profile: (name, owner) =>
    "#/profile/" + encodeURIComponent(name) + (owner ? "?owner=" + encodeURIComponent(owner) : ""),
  report: () => "#/report",
};

/** A message in one calm line. @param {{text: string, late?: boolean}} props */
export const Note = ({ text, late }) =>
  html`<p class=${"note" + (late ? " late" : "")} role=${late ? "alert" : "status"}>${text}</p>`;

/** A name that may be long, whole for whoever points at it. @param {{text: string, href?: string}} props */
export const Name = ({ text, href }) =>
  href
    ? html`<a class="cut" href=${href} title=${text}>${text}</a>`
    : html`<span class="cut" title=${text}>${text}</span>`;

/**
 * Asks for a path again and again while its view is shown, and keeps what it had while an answer is under way.
 * @param {?string} path null asks for nothing
 * @param {number} each how many seconds are between two questions, 0 for one question
 * @returns {{value: any, problem: ?Error, again: () => void}}
 */
export function useAnswer(path, each = 0) {
  const [answer, set] = useState({ path: null, value: null, problem: null });
  const [turn, again] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const aborter = new AbortController();
    let timer = 0;
    const look = async () => {
      try {
        if (!document.hidden) {
          const value = await ask(path, { signal: aborter.signal });
          set({ path, value, problem: null });
        }
      } catch (problem) {
        if (aborter.signal.aborted) return;
        set((was) => ({ path, value: was.path === path ? was.value : null, problem }));
      }
      if (each > 0 && !aborter.signal.aborted) timer = setTimeout(look, each * 1000);
    };
    look();
    return () => (aborter.abort(), clearTimeout(timer));
  }, [path, each, turn]);
  return {
    value: answer.path === path ? answer.value : null,
    problem: answer.problem,
    again: () => again((n) => n + 1),
  };
}

/**
 * A few choices of which one is taken.
 * @param {{label: string, of: Array<[string, string]>, is: string, set: (v: string) => void}} props
 */
export const Choice = ({ label, of, is, set }) => html`<div class="choice" role="group" aria-label=${label}>
  ${of.map(([value, text]) => html`<button type="button" aria-pressed=${value === is} onClick=${() => set(value)}>
    ${text}</button>`)}
</div>`;

/**
 * A table that is sorted by the column whose head is pressed.
 * @param {{caption: string, rows: object[], columns: Array<{head: string, of: (row: any) => any,
 *   by?: (row: any) => any, n?: boolean, wide?: boolean}>, empty: string, most?: number}} props
 *   by is what a column is sorted by
 */
export function Table({ caption, rows, columns, empty, most = 200 }) {
  const [sort, setSort] = useState({ column: -1, down: false });
  const [shown, show] = useState(most);
  if (!rows.length) return html`<p class="soft pad">${empty}</p>`;
  const by = columns[sort.column]?.by;
  const order = by ? [...rows].sort((a, b) => compare(by(a), by(b)) * (sort.down ? -1 : 1)) : rows;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table>
    <caption class="hidden">${caption}</caption>
    <thead><tr>${columns.map(
      (c, i) => html`<th scope="col" class=${c.n ? "n" : ""}
      aria-sort=${sort.column === i ? (sort.down ? "descending" : "ascending") : undefined}>
      ${
        c.by
          ? html`<button type="button" aria-pressed=${sort.column === i}
        onClick=${() => setSort({ column: i, down: sort.column === i ? !sort.down : Boolean(c.n) })}>${c.head}</button>`
          : c.head
      }</th>`,
    )}</tr></thead>
    <tbody>${order.slice(0, shown).map((row) => html`<tr>${columns.map((c) => html`<td
      class=${(c.n ? "n" : "") + (c.wide ? " wide" : "")}>${c.of(row)}</td>`)}</tr>`)}</tbody>
  </table>${
    rows.length > shown &&
    html`<p class="pad"><button type="button" onClick=${() => show(shown + 500)}>
    Show more of ${rows.length.toLocaleString("en-US")}</button></p>`
  }</div>`;
}

/** Compares what may be unknown, which comes first. */
export function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a < b ? -1 : 1;
}

/**
 * A dialog that asks before something is done. Its text and field are shown until it is answered.
 * @param {{title: string, text: string, act: string, grave?: boolean, label?: string, hint?: string,
 *   done: (value: ?string) => void}} props done is given the field's text, "" without a field, null for no
 */
export function Question({ title, text, act, grave, label, hint, done }) {
  const dialog = useRef(null),
    field = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  const answer = (e) => (e.preventDefault(), done(field.current ? field.current.value : ""));
  return html`<dialog ref=${dialog} aria-labelledby="question" onCancel=${(e) => (e.preventDefault(), done(null))}>
    <form onSubmit=${answer}>
      <h2 id="question">${title}</h2>
      <p>${text}</p>
      ${label && html`<label>${label} <input ref=${field} name="value" placeholder=${hint}
        autocomplete="off" required /></label>`}
      <div class="acts">
        <button type="button" onClick=${() => done(null)}>Leave it</button>
        <button type="submit" class=${grave ? "grave" : "first"}>${act}</button>
      </div>
    </form>
  </dialog>`;
}

/** The colour of a name of the style sheet, for canvases. @param {string} name as "--c0" */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
