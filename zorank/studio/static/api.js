// Every request of the pages goes through here, so that each failure becomes one human sentence.

export class ApiError extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

const SENTENCES = {
  0: "The studio does not answer. Is it still running?",
  401: "Your link is no longer valid. Ask for a new one.",
  403: "This is not open to you. Ask for a new link.",
  404: "This is no longer here.",
  409: "This round has already moved on.",
  413: "That is too large.",
  429: "That was a little too fast. Wait a moment.",
};

function sentenceFor(status, detail) {
  // A store that is locked or full, a picture that cannot be drawn: these sentences help.
  if (status === 503 && typeof detail === "string") return detail;
  // What a server says about its own fault is for its log, not for the person.
  if (status >= 500) return "Something went wrong in the studio. Nothing you did is lost.";
  if (typeof detail === "string" && detail) return detail;
  // FastAPI's own validation gives a list; its first message is the useful one.
  if (Array.isArray(detail) && detail[0]?.msg) return `${detail[0].msg}.`;
  return SENTENCES[status] ?? "Something went wrong in the studio.";
}

export async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        "X-Requested-With": "zorank",
        Accept: "application/json",
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(0, SENTENCES[0]);
  }
  const isJson = response.headers.get("content-type")?.includes("json");
  const data = isJson ? await response.json().catch(() => null) : null;
  if (!response.ok) throw new ApiError(response.status, sentenceFor(response.status, data?.detail));
  return data;
}

export const get = (path) => request("GET", path);
export const post = (path, body = {}) => request("POST", path, body);
export const patch = (path, body) => request("PATCH", path, body);
export const remove = (path) => request("DELETE", path);

export const runPath = (id, rest = "") => `/api/runs/${encodeURIComponent(id)}${rest}`;
