// What the stream has told, as signals, and what follows from it.
import { computed, signal } from "@preact/signals";
import { ask, withQuery } from "./api.js";
import { clock } from "./format.js";
import { watch } from "./watch.js";

/** @typedef {Object<string, any>} Application  the schema of that name in web/openapi.yaml */

/** The newest State; null until there is one. */
export const state = signal(null);
/** How the stream is: tried, live, lost, hidden or denied, with a line. */
export const link = signal({ is: "tried", text: "" });
/** Who asks; null without a session. @type {import("@preact/signals").Signal<?import("./api.js").Session>} */
export const session = signal(null);

let skew = 0; // ms by which the planner's clock is ahead of this one
/** The time on the planner's clock, in Unix seconds, renewed each second while the page is seen. */
export const now = signal(Date.now() / 1000);
const tick = () => document.hidden || (now.value = (Date.now() + skew) / 1000);
setInterval(tick, 1000);

/** Seconds of a moment that the API tells, null where it is unknown. @param {?string} at RFC 3339 */
export const moment = (at) => (at ? Date.parse(at) / 1000 : null);

const OVER = new Set(["finished", "failed", "unknown", "refused"]);
export const over = (/** @type {Application} */ a) => OVER.has(a.state);

/**
 * The moments of an application in Unix seconds, null where they are unknown: submission, deadline, when it is expected
 * to start and to end, its end.
 * @param {Application} a
 */
export function moments(a) {
  const from = moment(a.submitted_at);
  const at = (s) => (from !== null && typeof s === "number" && s > 0 ? from + s : null);
  return {
    from,
    deadline: at(a.deadline_s),
    start: a.queue ? at(a.queue.start_s) : null,
    predicted: over(a) ? null : at(a.predicted_finish_s),
    end: over(a) ? (at(a.duration_s) ?? from) : null,
  };
}

/** When one that waits is expected to start, in words; "" where that is not known. @param {Application} a */
export function starts(a) {
  const { start } = moments(a);
  return start === null ? "" : start > now.value ? "about " + clock(start, now.value) : "soon";
}

/** How long before its deadline an application ends or has ended; null where that is unknown. @param {Application} a */
export function early(a) {
  const m = moments(a),
    end = m.end ?? m.predicted;
  return m.deadline === null || end === null || (over(a) && a.state !== "finished") ? null : m.deadline - end;
}

/** All applications of the State. */
export const applications = computed(() => (state.value ? Object.values(state.value.applications ?? {}) : []));
/** Those that wait, in their order. */
export const waiting = computed(() =>
  applications.value.filter((a) => a.state === "queued").sort((a, b) => (a.queue?.place ?? 0) - (b.queue?.place ?? 0)),
);
/** Those that run. */
export const running = computed(() => applications.value.filter((a) => !over(a) && a.state !== "queued"));
/** Those that have ended, the last one first. */
export const ended = computed(() =>
  applications.value.filter(over).sort((a, b) => (moments(b).end ?? 0) - (moments(a).end ?? 0)),
);
export const nodes = computed(() =>
  state.value
    ? Object.values(state.value.nodes ?? {}).sort((a, b) => a.node.localeCompare(b.node, "en", { numeric: true }))
    : [],
);

/** The name of an application by its id, which is its own name where it is not in the State. @param {string} id */
export const nameOf = (id) => state.value?.applications?.[id]?.name ?? id;

/** The cores' history by the second and by the minute, as of schema CoresHistory. */
export const history = { second: signal(null), minute: signal(null) };

/** Puts a newer piece of history behind an old one. @param {?object} old @param {object} piece @param {number} most */
export function append(old, piece, most = 900) {
  if (!old || !old.points || piece.step_s !== old.step_s) return piece;
  const step = old.step_s,
    shift = Math.round((moment(piece.from) - moment(old.from)) / step);
  const points = shift + (piece.points ?? 0);
  if (shift < 0 || points <= old.points) return { ...old, promised: piece.promised ?? old.promised };
  if (shift > old.points + 30) return piece;
  const cut = Math.max(0, points - most);
  const join = (a, b) => {
    const out = [...(a ?? []).slice(0, shift)];
    while (out.length < shift) out.push(null);
    return out.concat(b ?? new Array(piece.points).fill(0)).slice(cut);
  };
  const ids = new Map(old.apps.map((a) => [a.app, a]));
  const fresh = new Map(piece.apps.map((a) => [a.app, a]));
  const none = { used_cores: new Array(old.points).fill(0), granted_cores: new Array(old.points).fill(0) };
  const both = (a, b) => ({
    used_cores: join(a?.used_cores, b?.used_cores),
    granted_cores: join(a?.granted_cores, b?.granted_cores),
  });
  return {
    ...piece,
    from: new Date((moment(old.from) + cut * step) * 1000).toISOString(),
    points: points - cut,
    offered_cores: join(old.offered_cores, piece.offered_cores),
    others_cores: join(old.others_cores, piece.others_cores),
    apps: [...new Set([...fresh.keys(), ...ids.keys()])]
      .map((app) => ({ app, ...both(ids.get(app) ?? none, fresh.get(app)) }))
      .filter((a) => a.used_cores.some((v) => v > 0)),
    rest: both(old.rest, piece.rest),
    promised: piece.promised ?? old.promised,
  };
}

/** A history without what is null. @param {object} h */
const whole = (h) => ({ ...h, apps: h.apps ?? [], promised: h.promised ?? [] });

const asking = { second: 0, minute: 0 };
/**
 * Asks for the history of a step, at most each so many seconds, and for what is new of it alone where it is there.
 * @param {"second"|"minute"} step @param {number} each
 */
export async function askHistory(step, each) {
  if (Date.now() - asking[step] < each * 1000) return;
  asking[step] = Date.now();
  const old = history[step].value;
  const last = old?.points ? moment(old.from) + (old.points - 1.5) * old.step_s : null;
  const after = last && new Date(last * 1000).toISOString();
  try {
    const piece = whole(await ask(withQuery("cores", { step, after })));
    history[step].value = append(history[step].value, piece, step === "second" ? 900 : 1440);
  } catch {
    asking[step] = Date.now() - each * 1000 + 5000; // The stream says what is wrong; this asks again soon.
  }
}

let stop = null;
/** Begins to follow the stream, and stops following the one before. */
export function follow() {
  stop?.();
  stop = watch(
    (value, seq) => {
      const at = moment(value.at);
      if (at) skew = at * 1000 - Date.now();
      state.value = value;
      const known = history.second;
      if (value.cores?.points && known.value) known.value = append(known.value, whole(value.cores));
      tick();
      document.documentElement.dataset.seq = String(seq);
    },
    (is, text) => {
      if (link.value.is !== is || link.value.text !== text) link.value = { is, text };
      if (is === "denied") session.value = null;
    },
  );
}
