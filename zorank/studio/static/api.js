// All requests of the pages. A failure becomes an ApiError with one sentence for the person.

export class ApiError extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

const SENTENCES = {
  0: "No response from the studio. Is it still running?",
  401: "Your link is no longer valid. Ask for a new one.",
  403: "You have no access to this. Ask for a new link.",
  404: "This no longer exists.",
  409: "This round was already answered.",
  413: "The request is too large.",
  429: "Too many requests. Wait a moment.",
};

function sentenceFor(status, detail) {
  // 503 is a locked or full store, or a picture that cannot be rendered: show the reason.
  if (status === 503 && typeof detail === "string") return detail;
  // Other server errors belong in the log.
  if (status >= 500) return "Something went wrong in the studio. Nothing you did is lost.";
  if (status === 401) return SENTENCES[401];
  if (typeof detail === "string" && detail) return detail;
  // FastAPI's validation gives a list; show its first message.
  if (Array.isArray(detail) && detail[0]?.msg) return `${detail[0].msg}.`;
  return SENTENCES[status] ?? "Something went wrong in the studio.";
}

let serverAhead = 0;

/** The server's time in milliseconds since 1970: the clock of this device may be wrong. */
export const serverNow = () => Date.now() + serverAhead;

function compareClocks(date) {
  const difference = Date.parse(date) - Date.now();
  // The header has whole seconds, and the response took some time.
  if (Number.isFinite(difference)) serverAhead = Math.abs(difference) < 5_000 ? 0 : difference;
}

export function request(method, path, body) {
  return body === undefined ? send(method, path) : send(method, path, JSON.stringify(body), "application/json");
}

async function send(method, path, body, type) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        "X-Requested-With": "zorank",
        Accept: "application/json",
        ...(type ? { "Content-Type": type } : {}),
      },
      body,
    });
  } catch {
    throw new ApiError(0, SENTENCES[0]);
  }
  compareClocks(response.headers.get("date"));
  const isJson = response.headers.get("content-type")?.includes("json");
  const data = isJson ? await response.json().catch(() => null) : null;
  if (!response.ok) throw new ApiError(response.status, sentenceFor(response.status, data?.detail));
  return data;
}

export const get = (path) => request("GET", path);
export const post = (path, body = {}) => request("POST", path, body);
export const patch = (path, body) => request("PATCH", path, body);
export const upload = (path, file) => send("POST", path, file, file.type || "application/octet-stream");
export const remove = (path) => request("DELETE", path);

// Behind a proxy the studio may be below a path, such as /rank. URLs in responses have it already.
const ROOT = document.documentElement.dataset.root ?? "";

export const at = (path) => `${ROOT}${path}`;
export const runPath = (id, rest = "") => at(`/api/runs/${encodeURIComponent(id)}${rest}`);
export const runPage = (id, rest = "") => at(`/runs/${encodeURIComponent(id)}${rest}`);
