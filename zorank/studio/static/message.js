import { drawIcons, find } from "./dom.js";

const PAUSE = 5_000;

drawIcons();

/** Loads the page again when the server no longer answers that its store is out of order. */
async function recover() {
  const response = await fetch(location.href).catch(() => null);
  if (response && response.status !== 503) location.reload();
  else setTimeout(recover, PAUSE);
}

if (find("[data-status='503']")) setTimeout(recover, PAUSE);
