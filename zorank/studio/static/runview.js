// Texts and visibility on the ranking page, depending on the question.

import { announce, el, find } from "./dom.js";
import { nounOf } from "./media.js";

const NUMBERS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

const QUESTIONS = {
  start: { heading: "Pick a picture to start from", hint: "or rank the ones you like, best first", next: "Start here", same: "Show me others" },
  rank: { heading: "Rank the ones you like, best first", hint: "as many as you want; the rest count as worse, and equal to each other", next: "Next", same: "They look the same" },
  best: { heading: "Which is best?", hint: "click once to choose, again to continue", next: "Next", same: "They look the same" },
};

/** The text for sounds, which do not look the same but sound so. */
const forEars = (text, round) => (nounOf(round.exhibits[0]?.media_type) === "sound" ? text.replace("look", "sound") : text);

export function showChrome(round, { role, ready, tieNext, waiting }) {
  const words = QUESTIONS[round.question];
  const heading = words.heading.replace("picture", nounOf(round.exhibits[0]?.media_type));
  const watches = role === "viewer";
  find("#heading").textContent = watches ? "You are watching" : waiting ? "Thank you" : heading;
  find("#hint").textContent = waiting || watches ? "" : tieNext ? "the next pick ties with the last" : words.hint;
  find("#round-name").textContent = round.question === "start" ? "Start" : `Round ${round.index}`;
  const next = find("#next");
  find(".button-text", next).textContent = words.next;
  next.disabled = !ready || waiting;
  const same = find("#same");
  same.disabled = waiting;
  same.dataset.testid = round.question === "start" ? "others" : "same";
  find(".button-text", same).textContent = forEars(words.same, round);
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

/** Shows the owner a warning about the run, for example that its pictures may differ. */
export function showRunNote({ note }) {
  find("#run-note").textContent = note;
  find("#run-note").hidden = !note;
}

/** Greets a person whose link has their name. */
export function greet({ role, you }) {
  find("#greeting").textContent = role === "owner" || !you ? "" : `Hello, ${you}.`;
  find("#greeting").hidden = !find("#greeting").textContent;
}

export function askForOne() {
  const sentence = "pick at least one, or say that they look the same";
  find("#hint").textContent = sentence;
  announce(sentence);
}

/** Shows how many pictures are rendered. */
export function showProgress({ round: index, done, of }, round) {
  const status = find("#render-status");
  if (index < round.index) return;
  const ahead = index > round.index;
  if (done >= of) status.textContent = ahead ? `next ${NUMBERS[of] ?? of} ready` : "";
  else status.textContent = ahead ? "" : `preparing ${done + 1} of ${of}`;
}
