// Words and visibility on the ranking page that follow from the question being asked.

import { openDialog } from "./dialogs.js";
import { announce, el, find } from "./dom.js";
import { nounOf } from "./media.js";

const NUMBERS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

const QUESTIONS = {
  start: { heading: "Pick a picture to start from", hint: "or rank the ones you like, best first", next: "Start here", same: "Show me others" },
  rank: { heading: "Rank the ones you like, best first", hint: "as many as you want, the rest count as equal", next: "Next", same: "They look the same" },
  best: { heading: "Which is best?", hint: "one click chooses, a second goes on", next: "Next", same: "They look the same" },
};

export function showChrome(round, { role, ready, tieNext, waiting }) {
  const words = QUESTIONS[round.question];
  const heading = words.heading.replace("picture", nounOf(round.exhibits[0]?.media_type));
  find("#heading").textContent = waiting ? "Thank you" : heading;
  find("#hint").textContent = waiting ? "" : tieNext ? "the next pick ties with the last" : words.hint;
  find("#round-name").textContent = round.question === "start" ? "Start" : `Round ${round.index}`;
  const next = find("#next");
  find(".button-text", next).textContent = words.next;
  next.disabled = !ready || waiting;
  const same = find("#same");
  same.disabled = waiting;
  same.dataset.testid = round.question === "start" ? "others" : "same";
  find(".button-text", same).textContent = words.same;
  const noneBetter = find("#none-better");
  noneBetter.hidden = round.question !== "best" || !round.exhibits.some((exhibit) => exhibit.current);
  noneBetter.disabled = waiting;
  document.body.dataset.question = round.question;
  find("#undo").disabled = !ready && (role !== "owner" || round.index === 0);
}

export function showWaiting(round, { isOwner }) {
  const waits = round.you_answered && round.waiting_for > 0;
  document.body.classList.toggle("waiting", waits);
  find("#waiting").hidden = !waits;
  const answers = round.waiting_for === 1 ? "one more answer" : `${round.waiting_for} more answers`;
  find("#waiting-text").textContent = `Waiting for ${answers}.`;
  const names = round.answered_by ?? [];
  for (const list of document.querySelectorAll("[data-answered-by]")) {
    list.replaceChildren(...names.map((name) => el("li", { text: name })));
    list.hidden = names.length === 0;
  }
  if (isOwner) find("#close-round").hidden = names.length === 0 || round.waiting_for === 0;
}

/** What the owner should know of the run as a whole, such as that its pictures may differ. */
export function showRunNote({ note }) {
  find("#run-note").textContent = note;
  find("#run-note").hidden = !note;
}

export function askForOne() {
  const sentence = "pick at least one, or say that they look the same";
  find("#hint").textContent = sentence;
  announce(sentence);
}

/** Rendering ahead is announced quietly: nobody has to wait for it. */
export function showProgress({ round: index, done, of }, round) {
  const status = find("#render-status");
  if (index < round.index) return;
  const ahead = index > round.index;
  if (done >= of) status.textContent = ahead ? `next ${NUMBERS[of] ?? of} ready` : "";
  else status.textContent = ahead ? "" : `drawing ${done + 1} of ${of}`;
}

const KEYS = [
  ["1 – 9", "pick, or take back"], ["Shift + 1 – 9", "pick as a tie"], ["Enter", "next"], ["Z", "undo"],
  ["S", "they look the same"], ["N", "none is better"], ["W", "mark as worst"], ["T", "next pick ties"],
  ["+  −", "move up or down"], ["Space", "enlarge, press or hold"], ["F", "flip with the best so far"],
  ["C", "compare with the start"], ["← → ↑ ↓", "go to a neighbour"], ["P", "play a sound"], ["Esc", "clear"], ["?", "this help"],
];

export function showHelp() {
  const list = el("dl", { class: "keys" }, KEYS.map(([key, meaning]) =>
    el("div", {}, el("dt", {}, el("kbd", { text: key })), el("dd", { text: meaning }))));
  const form = el("form", { method: "dialog" },
    el("h2", { text: "Keys" }), list,
    el("p", { class: "muted", text: "With the mouse: click in order, Shift + click to tie, hold to enlarge, drag a badge to reorder." }),
    el("div", { class: "dialog-actions" }, el("button", { class: "button primary", text: "Close", autofocus: true })));
  openDialog(form, { label: "Keys", class: "help-dialog", "data-testid": "help" });
}
