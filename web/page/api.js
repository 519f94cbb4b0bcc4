// Asks the planner. Every request carries the session's token in a header; cookies would travel to other ports too.

/** @typedef {{user: string, role: "view"|"submit"|"operate", expires_at: ?string, release: string,
 *   planner?: string}} Session */

/** Why the planner does not do something: a status (0: it was not reached), its kind, and one line for people. */
export class Problem extends Error {
  /** @param {number} status @param {string} kind @param {string} detail */
  constructor(status, kind, detail) {
    super(detail);
    this.status = status;
    this.kind = kind;
  }
}

const KEY = "pacer.token";

/** The token of this page's session, "" without one. */
export const token = () => localStorage.getItem(KEY) ?? "";

/** @param {string} value a new token, "" to forget it */
export function keepToken(value) {
  if (value) localStorage.setItem(KEY, value);
  else localStorage.removeItem(KEY);
}

/** The address of a path of the API, beside the page's own. @param {string} path */
export const address = (path) => new URL("./api/v1/" + path, document.baseURI).href;

/** What a request carries. */
export const headers = () => (token() ? { Authorization: "Bearer " + token() } : {});

/**
 * Fetches a path of the API. It throws a Problem where there is no answer, or one that is an error.
 * @param {string} path @param {RequestInit} [init] @returns {Promise<Response>}
 */
export async function request(path, init = {}) {
  let response;
  try {
    response = await fetch(address(path), {
      cache: "no-store",
      credentials: "omit",
      ...init,
      headers: { ...headers(), ...init.headers },
    });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Problem(0, "transient", "The planner does not answer.");
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Problem(
    response.status,
    told.kind ?? "internal",
    told.detail ?? `The planner answered ${response.status}.`,
  );
}

/**
 * Asks for a value, or with a body has something done.
 * @param {string} path @param {{method?: string, body?: object, signal?: AbortSignal}} [how]
 */
export async function ask(path, { method, body, signal } = {}) {
  const init = { method: method ?? (body ? "POST" : "GET"), signal, headers: {} };
  if (body) {
    init.body = JSON.stringify(body);
    init.headers["Content-Type"] = "application/json";
  }
  return (await request(path, init)).json();
}

/** A path with a query; what is null or "" is left out. @param {string} path @param {Object<string, any>} query */
export function withQuery(path, query) {
  const q = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== ""));
  return q.size ? `${path}?${q}` : path;
}
