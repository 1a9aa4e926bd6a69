// The result page: start and best side by side, the journey, progress, downloads.

import { get, post, runPage, runPath } from "./api.js";
import { attempt } from "./dialogs.js";
import { announce, drawIcons, find } from "./dom.js";
import { roundName, showJourney } from "./journey.js";
import { kindOf } from "./media.js";
import { showOrder } from "./order.js";
import { historyPlots, ratersTable } from "./plots.js";
import { showRunNote } from "./runview.js";
import { comparison } from "./slider.js";

const { run: runId, role } = document.body.dataset;
const STEP_MILLISECONDS = 700;
const FULL_SIZE = 1024;

let run = null;
let rows = [];
let stops = [];
let looked = null;
let stage = null;
let playing = 0;

const large = (url) => (kindOf(run.media_type) === "image" ? `${url}${url.includes("?") ? "&" : "?"}size=${FULL_SIZE}` : url);
const exhibit = (url) => ({ url, media_type: run.media_type });
const inFullSize = (url) => ({ ...exhibit(url), large: large(url) });

function showStage() {
  if (!run.best) {
    find("#nothing-yet").hidden = false;
    find("#result-body").hidden = true;
    return;
  }
  stage = comparison({ before: inFullSize(run.start ?? run.best), after: inFullSize(run.best) });
  find("#stage").replaceChildren(stage.view);
}

function look(row) {
  looked = row;
  const isLast = row === stops.at(-1);
  const name = isLast ? "Best" : roundName(row);
  stage.setAfter(isLast ? inFullSize(run.best) : exhibit(row.best), name);
  drawJourney();
  find("#looking-at").textContent = isLast ? "The best so far" : `The best after ${roundName(row).toLowerCase()}`;
  find("#branch").hidden = role !== "owner";
}

function drawJourney() {
  const held = find("#journey").contains(document.activeElement);
  stops = showJourney(find("#journey"), rows, { mediaType: run.media_type, selected: looked, onLook: (row) => { stop(); look(row); } });
  if (held) find("#journey [aria-current]")?.focus({ preventScroll: true });
}

async function branch() {
  const round = looked.round + 1; // A branch keeps this many rounds, including the selected one.
  const title = `${run.title || "Untitled"}, from ${roundName(looked).toLowerCase()}`;
  const done = await attempt(() => post(runPath(runId, "/branch"), { round, title }), { retry: branch });
  if (done) location.assign(runPage(done.value.id));
}

function stop() {
  clearInterval(playing);
  playing = 0;
  find("#play .button-text").textContent = "Play the journey";
}

/** Shows all bests in turn, at the same place on the screen. */
function play() {
  if (playing) return stop();
  const range = find("#stage input");
  if (range) {
    range.value = 0;
    range.dispatchEvent(new Event("input"));
  }
  let index = 0;
  const step = () => {
    look(stops[index]);
    index += 1;
    if (index === stops.length) stop();
  };
  find("#play .button-text").textContent = "Stop";
  playing = setInterval(step, STEP_MILLISECONDS);
  announce("Playing the journey");
  return step();
}

function showPlots({ raters }) {
  const several = raters.length > 1;
  const plots = historyPlots(rows, { several });
  find("#going-section").hidden = plots.length === 0;
  find("#plots").replaceChildren(...plots);
  if (several) find("#raters").replaceChildren(ratersTable(raters));
}

function showSummary() {
  const minutes = Math.round(rows.reduce((sum, row) => sum + (row.seconds ?? 0), 0) / 60);
  const parts = [
    rows.length === 1 ? "1 round" : `${rows.length} rounds`,
    minutes > 0 && (minutes === 1 ? "1 minute" : `${minutes} minutes`),
    stops.length > 1 && (stops.length === 2 ? "one step forward" : `${stops.length - 1} steps forward`),
  ];
  find("#summary").textContent = parts.filter(Boolean).join(" · ");
}

function linkDownloads() {
  const extension = run.media_type?.split("/")[1]?.replace("jpeg", "jpg").replace("plain", "txt") ?? "bin";
  const forEveryone = { "#download-best": [large(runPath(runId, "/best")), `best.${extension}`] };
  const forTheOwner = {
    "#download-vector": [runPath(runId, "/vector"), "vector.json"],
    "#download-recipe": [runPath(runId, "/export"), "recipe.json"],
    "#download-journey": [runPath(runId, "/journey"), "journey.webp"],
  };
  const links = role === "owner" ? { ...forEveryone, ...forTheOwner } : forEveryone;
  for (const link of document.querySelectorAll(".downloads a")) {
    if (!(`#${link.id}` in links) && link.id !== "download-keepsake") link.remove();
  }
  for (const [selector, [href, name]] of Object.entries(links)) {
    const link = find(selector);
    if (!link) continue; // removed by an earlier call
    link.href = href;
    link.setAttribute("download", `zorank-${runId}-${name}`);
  }
  if (run.keepsake) {
    const link = find("#download-keepsake");
    link.hidden = false;
    link.href = runPath(runId, "/keepsake");
    link.setAttribute("download", `zorank-${runId}-${run.keepsake}`);
    find(".button-text", link).textContent = run.keepsake;
  }
  find("#play").hidden = kindOf(run.media_type) === "audio"; // its steps are too short to listen
  if (kindOf(run.media_type) === "image") return;
  find("#download-journey")?.remove();
  find("#download-best .button-text").textContent = "Download the best";
}

async function start() {
  const done = await attempt(() => get(runPath(runId)), { retry: start });
  if (!done) return;
  run = done.value;
  find("#heading").textContent = run.title || "Untitled";
  document.title = `${run.title || "Untitled"} · zorank studio`;
  showRunNote(run);
  if (run.items) return showOrder(runId, run, { retry: start });
  showStage();
  if (!stage) return;
  linkDownloads();
  const history = await attempt(() => get(runPath(runId, "/history")), { retry: start });
  if (!history) return;
  rows = history.value.rows;
  drawJourney();
  find("#journey-section").hidden = stops.length < 2;
  if (stops.length) look(stops.at(-1));
  showPlots(history.value);
  showSummary();
  find("#branch").addEventListener("click", branch);
  find("#play").addEventListener("click", play);
}

drawIcons();
start();
