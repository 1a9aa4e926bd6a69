// What the ranking page says of a judge that orders the pictures: a calm note while its order is in
// the tray, how far people agree with it, and, once, what keeps it from looking.

import { showBanner } from "./dialogs.js";
import { find } from "./dom.js";

let told = "";

/** Shown while the tray began with the judge's order; the usual hint makes room for it. */
export function showJudgeNote(name, { tieNext }) {
  find("#judge-note").hidden = !name;
  find("#hint").hidden = Boolean(name) && !tieNext;
  find("#judge-name").textContent = name ? `ordered by ${name}: correct it, then go on` : "";
}

export function tellProblem(problem) {
  if (!problem || problem === told) return;
  told = problem;
  showBanner(problem);
}

/** One sentence, or nothing before the first round that both ordered. */
export function agreementWords(judge, { several }) {
  if (judge?.agreement == null) return "";
  const who = several ? "People" : "You";
  const rounds = judge.rounds === 1 ? "last round" : `last ${judge.rounds} rounds`;
  return `${who} and ${judge.name} agree on ${Math.round(100 * judge.agreement)}% of pairs (${rounds}).`;
}
