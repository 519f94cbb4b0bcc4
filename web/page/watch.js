// Follows the planner's stream of changes: a snapshot, then numbered merge patches. It is read with fetch, because an
// EventSource sends no header. A hidden tab closes its stream, since a browser has six connections for a host.
import { Problem, request } from "./api.js";

const SILENT = 40_000; // ms without a word, after which the stream counts as broken: a comment comes each 15 s.
const LONGEST = 15_000; // ms between attempts

/** RFC 7396. What does not change stays the same object. @param {any} target @param {any} patch */
export function merge(target, patch) {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const out = target !== null && typeof target === "object" && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = merge(out[key], value);
  }
  return out;
}

/**
 * Cuts a stream of text into server-sent events.
 * @param {(event: {type: string, id: string, data: string}) => void} take
 * @returns {(text: string) => void} is given pieces of the text
 */
export function parser(take) {
  let rest = "",
    type = "",
    id = "",
    data = [];
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.replace(/\r$/, "");
      if (line === "") {
        if (data.length) take({ type: type || "message", id, data: data.join("\n") });
        ((type = ""), (data = []));
        continue;
      }
      const at = line.indexOf(":");
      const field = at < 0 ? line : line.slice(0, at);
      const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
      if (field === "event") type = value;
      else if (field === "id") id = value;
      else if (field === "data") data.push(value);
    }
  };
}

/**
 * Follows the stream until it is stopped.
 * @param {(state: object, seq: number) => void} show is given each new state
 * @param {(link: "tried"|"live"|"lost"|"hidden"|"denied", text: string) => void} say is told how it goes
 * @returns {() => void} stops it
 */
export function watch(show, say) {
  let aborter = null,
    wait = 0,
    timer = 0,
    stopped = false,
    lost = false;

  async function once(signal) {
    const response = await request("watch", { signal, headers: { Accept: "text/event-stream" } });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let state = null,
      seq = 0,
      ended = null;
    const feed = parser(({ type, id, data }) => {
      const value = JSON.parse(data);
      if (type === "end") ended = new Problem(value.status, value.kind, value.detail);
      if (type !== "snapshot" && type !== "change") return;
      const next = Number(id);
      if (type === "change" && (state === null || next !== seq + 1)) {
        throw new Problem(0, "transient", "A change is missing; beginning again.");
      }
      state = type === "snapshot" ? value : merge(state, value);
      ((seq = next), (wait = 0), (lost = false));
      show(state, seq);
      say("live", "");
    });
    let silent = 0;
    try {
      for (;;) {
        silent = setTimeout(() => aborter?.abort(), SILENT);
        const { value, done } = await reader.read();
        clearTimeout(silent);
        if (done) break;
        feed(value);
        if (ended) throw ended;
      }
    } finally {
      clearTimeout(silent);
      reader.cancel().catch(() => {});
    }
    throw new Problem(0, "transient", "The planner has closed the stream.");
  }

  async function run() {
    clearTimeout(timer);
    aborter?.abort();
    if (stopped) return;
    if (document.hidden) return say("hidden", "");
    const mine = (aborter = new AbortController());
    if (!lost) say("tried", "");
    try {
      await once(mine.signal);
    } catch (e) {
      if (stopped || mine !== aborter || document.hidden) return;
      if (e.status === 401) return say("denied", e.message);
      lost = true;
      say("lost", e instanceof Problem ? e.message : "The stream broke off.");
      wait = Math.min(LONGEST, wait ? wait * 2 : 500);
      timer = setTimeout(run, wait * (0.75 + Math.random() / 2));
    }
  }

  document.addEventListener("visibilitychange", run);
  run();
  return () => {
    stopped = true;
    document.removeEventListener("visibilitychange", run);
    clearTimeout(timer);
    aborter?.abort();
  };
}
