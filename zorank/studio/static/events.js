// Server-sent events of a run. The stream is closed while the tab is hidden: a browser allows six
// connections per host, and several open tabs would use them up. A new stream begins with the
// current state, so nothing is missed.

import { runPath } from "./api.js";

/** Calls the handler of each event; `refused` if the server no longer accepts this page. */
export function listen(run, { refused, ...handlers }) {
  let source = null;

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(runPath(run, "/events"));
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
    }
    // The browser reconnects by itself, unless the server has answered with an error.
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      refused();
    });
  }

  function close() {
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  open();
}
