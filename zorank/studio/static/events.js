// Server-sent events of a run. The stream is closed while the tab is hidden: a browser allows six
// connections per host, and several open tabs would use them up. A new stream begins with the
// current state, so nothing is missed.

import { runPath } from "./api.js";

const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 30_000;

/**
 * Calls the handler of each event. If the server answers with an error, for example because its
 * database restarts, `refused` is called and the stream is opened again after a pause, which grows
 * each time. If `refused` resolves to false, the page has no access any more and gives up.
 */
export function listen(run, { refused, ...handlers }) {
  let source = null;
  let timer = null;
  let pause = FIRST_PAUSE;
  let ended = false;

  function open() {
    if (source || ended || document.hidden) return;
    clearTimeout(timer);
    source = new EventSource(runPath(run, "/events"));
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        pause = FIRST_PAUSE;
        handler(JSON.parse(event.data));
      });
    }
    // The browser reconnects by itself, unless the server has answered with an error.
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      recover();
    });
  }

  async function recover() {
    timer = setTimeout(open, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
    if ((await refused()) !== false) return;
    ended = true;
    close();
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  open();
}
