// Texts about the judge on the ranking page: a note while its order is in the tray, how far people
// agree with it, and its problem, shown once.

import { showBanner } from "./dialogs.js";
import { find } from "./dom.js";

let lastProblem = "";

/** Shows the note, in place of the hint, while the tray holds the judge's order. */
export function showJudgeNote(name, { tieNext }) {
  find("#judge-note").hidden = !name;
  find("#hint").hidden = Boolean(name) && !tieNext;
  find("#judge-name").textContent = name ? `sorted by ${name}: correct the order, then continue` : "";
}

export function tellProblem(problem) {
  if (!problem || problem === lastProblem) return;
  lastProblem = problem;
  showBanner(problem);
}

/** One sentence, or "" before the first round that both have ordered. */
export function agreementText(judge, { several }) {
  if (judge?.agreement == null) return "";
  const who = several ? "People" : "You";
  const rounds = judge.rounds === 1 ? "last round" : `last ${judge.rounds} rounds`;
  return `${who} and ${judge.name} agree on ${Math.round(100 * judge.agreement)}% of pairs (${rounds}).`;
}
