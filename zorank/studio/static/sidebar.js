// The sidebar of the ranking page: best so far, journey, progress.

import { get, runPage, runPath } from "./api.js";
import { openDialog } from "./dialogs.js";
import { el, find, icon } from "./dom.js";
import { roundName, showJourney } from "./journey.js";
import { agreementText } from "./judge.js";
import { exhibitView } from "./media.js";
import { historyPlots } from "./plots.js";
import { showRunNote } from "./runview.js";
import { comparison } from "./slider.js";
import { waveform } from "./waveform.js";

export function createSidebar({ run, role, enlarged }) {
  const bestButton = find("#best");
  const since = find("#best-since");
  let shownBest = "";
  let best = null;

  bestButton.addEventListener("click", () => best && enlarged.openAlone(best, "Best so far"));
  find("#compare")?.addEventListener("click", compare);
  showStart(run.start);
  drawer();
  find(".share")?.addEventListener("toggle", (event) => event.target.open && event.target.scrollIntoView({ behavior: "smooth", block: "end" }));

  function showBest(round) {
    best = round.best;
    find("#best-section").hidden = !best;
    find("#intro-section").hidden = Boolean(best) || round.question !== "start";
    find("#result-link").hidden = !best;
    if (!best) return;
    since.textContent = best.start ? "your start" : `since round ${best.since}`;
    if (best.url === shownBest) return;
    shownBest = best.url;
    if (best.media_type.startsWith("audio/")) return bestButton.replaceChildren(waveform(best.url), icon("play"), since);
    const { url } = best;
    const isPicture = best.media_type.startsWith("image/");
    const view = exhibitView(best, { alt: "Best so far", eager: true, onReady: () => {
      view.classList.add("shown");
      if (isPicture && url === shownBest) bestButton.replaceChildren(view, since);
    } });
    // A picture is inserted after it has loaded, so that the content below does not jump.
    if (!isPicture) bestButton.replaceChildren(view, since);
  }

  /** Before a start is picked there is nothing to compare with; things that already exist have no start. */
  function showStart(start) {
    run.start = start;
    if (role === "owner") find("#compare").hidden = !start || Boolean(run.items);
  }

  /** The history is optional, so a failure to load it is silent. */
  async function showHistory() {
    if (role !== "owner") return;
    const asked = [get(runPath(run.id)), get(runPath(run.id, "/history"))];
    const [now, history] = await Promise.all(asked).catch(() => []);
    if (!history) return;
    const { rows, raters } = history;
    showStart(now.start);
    showRunNote(now);
    showStatus(now);
    if (now.start) showDrift();
    const stops = showJourney(find("#journey"), rows, {
      mediaType: run.media_type,
      onLook: (row) => enlarged.openAlone({ url: row.best, media_type: run.media_type }, roundName(row), best),
    });
    find("#journey-section").hidden = stops.length < 2;
    const plots = historyPlots(rows, { several: raters.length > 1, brief: true });
    find("#plots").replaceChildren(...plots);
    showAgreementText(history);
  }

  /** Loads the agreement again, because a judge may finish after the answer was given. */
  async function showAgreement() {
    if (role === "owner") await get(runPath(run.id, "/history")).then(showAgreementText, () => {});
  }

  function showAgreementText({ judge, raters }) {
    find("#agreement").textContent = agreementText(judge, { several: raters.length > 1 });
    find("#going-section").hidden = !["#words", "#agreement", "#plots"].some((part) => find(part).hasChildNodes());
  }

  /** The status sentences; "You could stop here." gets a link to the result. */
  function showStatus({ words, could_stop: couldStop }) {
    const link = () => el("a", { href: runPage(run.id, "/result"), text: "See the result" });
    find("#words").replaceChildren(...words.map((sentence, index) =>
      el("p", {}, sentence, couldStop && index === words.length - 1 && [" ", link()])));
  }

  /** Only some renderers measure drift. */
  async function showDrift() {
    const drift = await get(runPath(run.id, "/drift")).catch(() => null);
    const line = find("#drift");
    line.textContent = drift?.words ?? "";
    line.hidden = !line.textContent;
  }

  function compare() {
    if (!best || !run.start) return;
    const { view } = comparison({
      before: { url: run.start, media_type: run.media_type }, after: best, afterLabel: "Best so far",
    });
    const close = el("button", { type: "button", class: "icon-button", "aria-label": "Close", on: { click: () => close.closest("dialog").close() } }, icon("close"));
    openDialog([el("header", { class: "compare-head" }, el("h2", { text: "From the start to now" }), close), view], {
      class: "compare-dialog", label: "Compare with the start",
    });
    view.querySelector("input")?.focus();
  }

  return { showBest, showHistory, showAgreement, compare };
}

/** Below 900 px the sidebar is a drawer over the page. */
function drawer() {
  const sidebar = find("#sidebar");
  const toggles = document.querySelectorAll("[data-drawer]");
  const set = (open) => {
    document.body.classList.toggle("drawer-open", open);
    for (const toggle of toggles) toggle.setAttribute("aria-expanded", String(open));
    if (open) sidebar.focus();
  };
  for (const toggle of toggles) {
    toggle.addEventListener("click", () => set(!document.body.classList.contains("drawer-open")));
  }
  find("#drawer-veil").addEventListener("click", () => set(false));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !document.body.classList.contains("drawer-open")) return;
    event.stopImmediatePropagation();
    set(false);
    find("[data-drawer]").focus();
  });
}
