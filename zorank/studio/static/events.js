// Server-sent events of a run. The stream is closed while the tab is hidden: a browser allows six
// connections per host, and several open tabs would use them up.

import { runPath } from "./api.js";

export function listen(run, handlers) {
  let source = null;
  let wasHidden = false;

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(runPath(run, "/events"));
    for (const [name, handler] of Object.entries(handlers)) {
      if (name === "resumed") continue;
      source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
    }
    // Events are lost while the tab is hidden, so the page loads the current state.
    if (wasHidden) handlers.resumed?.();
    wasHidden = false;
  }

  function close() {
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return open();
    wasHidden = true;
    return close();
  });
  addEventListener("pagehide", close);
  open();
}
