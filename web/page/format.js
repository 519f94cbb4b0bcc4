// Words for amounts: times, cores, memory. null and undefined are unknown, and shown as a dash.

const DASH = "–";
const known = (v) => typeof v === "number" && Number.isFinite(v);

/** A length of time as people say it: "40 s", "7 min", "1 h 20 min", "3 d 4 h". @param {?number} s seconds */
export function span(s) {
  if (!known(s)) return DASH;
  const a = Math.abs(s);
  const two = (big, unit, small, sub) => `${big} ${unit}` + (small > 0 ? ` ${small} ${sub}` : "");
  if (a < 9.95) return `${trim(a, 1)} s`;
  if (a < 99.5) return `${Math.round(a)} s`;
  const min = Math.round(a / 60);
  if (a < 600) return two(Math.floor(Math.round(a) / 60), "min", Math.round(a) % 60, "s");
  if (min < 60) return `${min} min`;
  if (min < 24 * 60) return two(Math.floor(min / 60), "h", min % 60, "min");
  const h = Math.round(a / 3600);
  return two(Math.floor(h / 24), "d", h % 24, "h");
}

/** A time on an axis, as a stop watch shows it: "1:40", "1:02:30". @param {number} s seconds */
export function watchTime(s) {
  if (s < 0) return "";
  const two = (v) => String(Math.floor(v)).padStart(2, "0");
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two((s % 3600) / 60)}:${two(s % 60)}`;
}

/** How an end lies beside its deadline: "7 min early", "40 s late". @param {?number} s seconds left at the end */
export function margin(s) {
  if (!known(s)) return "";
  return `${span(s)} ${s < 0 ? "late" : "early"}`;
}

/** A time of day, with the day where it is not today's. @param {?number} at Unix seconds @param {number} [now] */
export function clock(at, now = Date.now() / 1000) {
  if (!known(at) || at <= 0) return DASH;
  const d = new Date(at * 1000);
  const time = d.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (d.toDateString() === new Date(now * 1000).toDateString()) return time;
  return `${d.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${time}`;
}

/** A number without zeros that say nothing. @param {number} v @param {number} digits behind the point, at most */
export function trim(v, digits) {
  return String(Number(v.toFixed(digits)));
}

/** Cores: "0.6", "12". @param {?number} v */
export function cores(v) {
  if (v > 0 && v < 0.05) return "<0.1";
  return known(v) && v >= 0 ? trim(v, Math.abs(v) < 9.95 ? 1 : 0) : DASH;
}

/** A number of cores with its noun: "1 core", "0.6 cores". @param {?number} v */
export const coresOf = (v) => `${cores(v)} ${cores(v) === "1" ? "core" : "cores"}`;

/** Core-seconds as core-hours: "3.2". @param {?number} v */
const coreHours = (v) => (known(v) ? trim(v / 3600, v < 36000 ? 2 : 1) : DASH);

/** Work with its unit: "12 core-seconds", "3.2 core-hours". @param {?number} v core-seconds */
export const work = (v) =>
  known(v) && v < 360 ? `${trim(v, v < 9.95 ? 1 : 0)} core-seconds` : `${coreHours(v)} core-hours`;

/** Memory: "12 GiB". @param {?number} v bytes */
export function bytes(v) {
  if (!known(v)) return DASH;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  while (v >= 1023.95 && i < units.length - 1) [v, i] = [v / 1024, i + 1];
  return `${trim(v, v < 9.95 && i > 0 ? 1 : 0)} ${units[i]}`;
}

/** A part of one: "62 %". @param {?number} v */
export const percent = (v) => (known(v) ? `${trim(v * 100, Math.abs(v) < 0.0995 ? 1 : 0)} %` : DASH);

/** A count with its noun: "1 run", "1,204 runs". @param {number} n @param {string} noun @param {string} [many] */
export const count = (n, noun, many = noun + "s") => `${n.toLocaleString("en-US")} ${n === 1 ? noun : many}`;

/**
 * Seconds that somebody has typed: "90", "90s", "10m", "1h30m"; null for anything else.
 * @param {string} text
 */
export function seconds(text) {
  const m = /^\s*(?:(\d+(?:\.\d+)?)\s*h)?\s*(?:(\d+(?:\.\d+)?)\s*m(?:in)?)?\s*(?:(\d+(?:\.\d+)?)\s*s?)?\s*$/.exec(text);
  if (!m || !(m[1] || m[2] || m[3])) return null;
  return Number(m[1] || 0) * 3600 + Number(m[2] || 0) * 60 + Number(m[3] || 0);
}

/** A sentence that begins as one within another. @param {string} text */
export const lower = (text) => text.charAt(0).toLowerCase() + text.slice(1);

/** A sentence that begins as one. @param {string} text */
export const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A stage's name with its file without folders: "collect at etl.py:34". @param {string} name */
export const stageName = (name) => name.replace(/( at )\S.*[/\\](?=[^/\\]+$)/, "$1");

/** How an application stands, in one sentence. @param {{headline?: string, outcome?: string, state: string}} a */
export const sentence = (a) => upper(a.headline || a.outcome || a.state);
