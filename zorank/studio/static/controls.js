// Every key and button of the ranking page, with its help text, in one table.
//
// To add a control:
//   1. add a row below: its action's name, its keys, its help text, and what it does;
//   2. add a button with data-action="NAME" to templates/run.html, unless keys are enough.
// A row with `of` is shown in the help of exhibits of that kind only.
// `page` (in run.js) is the state of the page and what can be done with it. A control that calls
// a route of this run (routes/) uses page.call("/path", body), which posts, reports failures and
// then loads the waiting round again.

import { openDialog } from "./dialogs.js";
import { el, find } from "./dom.js";

const rows = (page) => [
  // Digits, Enter and Space depend on modifiers and on the focus: keys.js handles them.
  { shown: "1 – 9", help: "pick, or undo a pick" },
  { shown: "Shift + 1 – 9", help: "pick as a tie" },
  { action: "next", shown: "Enter", help: "next", run: page.submit },
  { action: "undo", keys: ["z"], shown: "Z", help: "undo", run: page.undo },
  { action: "same", keys: ["s"], shown: "S", help: "they look the same", run: page.same },
  { action: "others", keys: ["o"], run: page.others },
  { action: "none-better", keys: ["n"], shown: "N", help: "none is better", run: page.noneBetter },
  { action: "worst", keys: ["w"], shown: "W", help: "mark as worst", run: () => page.toggleWorst() },
  { action: "tie", keys: ["t"], shown: "T", help: "the next pick ties with the last", run: page.toggleTie },
  { action: "better", keys: ["+"], shown: "+  −", help: "move up or down", run: () => page.shift(-1) },
  { action: "worse", keys: ["-"], run: () => page.shift(1) },
  { shown: "Space", help: "enlarge, press or hold" },
  { action: "flip", keys: ["f"], shown: "F", help: "flip with the best so far", run: page.flip },
  { action: "compare", keys: ["c"], shown: "C", help: "compare with the start", run: page.compare },
  {
    action: "focus", keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], repeats: true,
    shown: "← → ↑ ↓", help: "move the focus", run: page.focusNeighbour,
  },
  { action: "play-sound", keys: ["p"], shown: "P", help: "play or stop a sound", of: "audio", run: page.playSound },
  { action: "play-all", keys: ["a"], shown: "A", help: "play all in turn", of: "audio", run: page.playAll },
  { action: "loop", keys: ["l"], shown: "L", help: "repeat what plays", of: "audio", run: page.loop },
  { action: "switch", keys: ["x"], shown: "X", help: "switch between the last two, at the same position", of: "audio", run: page.switchSounds },
  { action: "continue", keys: ["v"], shown: "V", help: "continue with this sound at the same position", of: "audio", run: page.continueSound },
  { action: "clear", keys: ["Escape"], shown: "Esc", help: "clear", run: page.clear },
  { action: "help", keys: ["?"], shown: "?", help: "this help", run: () => showHelp(page) },
];

/** Binds the buttons, and returns the row that each key belongs to. */
export function bindControls(page) {
  const controls = rows(page);
  for (const button of document.querySelectorAll("[data-action]")) {
    const { run } = controls.find(({ action }) => action === button.dataset.action);
    button.addEventListener("click", () => run());
  }
  // After a mouse click, Enter means Next again, not the button that was clicked.
  find(".actions").addEventListener("click", (event) => event.detail > 0 && event.target.closest("[data-action]")?.blur());
  return new Map(controls.flatMap((row) => (row.keys ?? []).map((key) => [key, row])));
}

function showHelp(page) {
  const keys = rows(page).filter(({ help, of }) => help && (!of || of === page.kind())).map(({ shown, help }) =>
    el("div", {}, el("dt", {}, el("kbd", { text: shown })), el("dd", { text: help })));
  const form = el("form", { method: "dialog" },
    el("h2", { text: "Keys" }), el("dl", { class: "keys" }, keys),
    el("p", { class: "muted", text: "With the mouse: click in order, Shift + click to tie, hold to enlarge, drag a badge to reorder." }),
    el("div", { class: "dialog-actions" }, el("button", { class: "button primary", text: "Close", autofocus: true })));
  openDialog(form, { label: "Keys", class: "help-dialog", "data-testid": "help" });
}
