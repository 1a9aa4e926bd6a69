// The ranking page: holds its state and connects grid, tray, controls and server. To add a button
// or a key, see controls.js.

import { get, post, runPath } from "./api.js";
import { createGrid } from "./cards.js";
import { showClosing } from "./closing.js";
import { bindControls } from "./controls.js";
import { attempt, hideRepeated, stopRepeating } from "./dialogs.js";
import { announce, debounce, drawIcons, find } from "./dom.js";
import { createEnlarged } from "./enlarge.js";
import { listen } from "./events.js";
import { showJudgeNote, tellProblem } from "./judge.js";
import { bindKeys } from "./keys.js";
import { neighbour } from "./layout.js";
import { kindOf, nameOf } from "./media.js";
import { createOwnerTools } from "./owner.js";
import * as model from "./ranking.js";
import { preload } from "./preload.js";
import { askRaterName } from "./rater.js";
import { askForOne, greet, showChrome, showProgress, showRunNote, showWaiting } from "./runview.js";
import { createSidebar } from "./sidebar.js";
import { forgetSounds, playFromHere, playInTurn, soundControls, switchSounds, toggleLoop, toggleSound } from "./sounds.js";
import * as stash from "./stash.js";
import { createTray } from "./tray.js";

const { run: runId, role } = document.body.dataset;
const path = (rest) => runPath(runId, rest);
let run = null;
let round = null;
let ranking = model.EMPTY;
let past = [];
let suggested = null;
let active = 0;
let busy = false;
let pushed = null;
const shown = new Set();
const LOADS = "The page tries again by itself.";

const single = () => round?.question === "best";
const rankable = () => round && !busy && !waiting() && !isViewer;
const waiting = () => round.you_answered && round.waiting_for > 0;
const isOwner = role === "owner";
const isViewer = role === "viewer";
const myName = () => run.you ?? stash.raterName();
const asSuggested = () => suggested && model.sameRanking(ranking, suggested);

const enlarged = createEnlarged(find("#enlarged"), {
  round: () => round, ranking: () => ranking, single,
  pick: (position) => pick(position, {}, { goOn: false }), worst: toggleWorst,
  moved: (position) => { active = position; },
});
const grid = createGrid(find("#grid"), find("#grid-frame"), find("#media-controls"), {
  pick, worst: toggleWorst, enlarge: look, endPeek: enlarged.close,
  active: (position) => { active = position; },
  handOver: (from, to) => change(single() ? model.pickOnly(ranking, to) : model.handOver(ranking, from, to)),
  takeBack: (position) => change(model.takeBack(ranking, position)),
});
const showTray = createTray(find("#tray"), {
  look, toggleTie,
  takeBack: (position) => change(model.takeBack(ranking, position)),
  shift: (position, step) => change(model.shift(ranking, position, step)),
  moveToPlace: (position, place) => change(model.moveToPlace(ranking, position, place)),
});
let sidebar = null;
let owner = null;

// The next round is previewed as soon as the answer seems complete; a preview for every click would
// slow down the answer itself. An answer with as many pictures as the last one is probably complete.
let usual = 0;
const seemsComplete = () => single() || model.isDecided(ranking, round.exhibits.length)
  || model.named(ranking).length === usual;
const previewAnswer = debounce(700, async (index) => {
  if (round?.index !== index || busy) return;
  const preview = await post(path(`/rounds/${index}/draft`), model.answerOf(ranking)).catch(() => null);
  if (preview && round?.index === index) preload(preview.ahead, round.exhibits[0].media_type);
}, seemsComplete);

function change(next, { remember = true, words } = {}) {
  if (!rankable() || model.sameRanking(next, ranking)) return;
  stopRepeating();
  if (remember) past.push(ranking);
  ranking = next;
  refresh();
  stash.keepSelection(runId, round.index, model.answerOf(ranking));
  previewAnswer(round.index);
  if (words) announce(words);
}

/** Puts the judge's order into an untouched tray, for the person to correct. */
function suggest(judge) {
  tellProblem(judge?.problem);
  const untouched = model.isEmpty(ranking) && !past.length && !stash.keptSelection(runId, round.index);
  if (!judge?.order || !untouched || single() || !rankable()) return;
  suggested = model.toCorrect(model.fromAnswer({ order: judge.order }, round.exhibits.length));
  ranking = suggested;
  refresh();
  previewAnswer(round.index);
  announce(find("#judge-name").textContent);
}

function refresh() {
  grid.update(ranking, { single: single() });
  showTray(ranking, round.exhibits, { single: single() });
  showClosing(round);
  showChrome(round, { role, ready: !model.isEmpty(ranking), tieNext: ranking.tieNext, waiting: waiting() });
  showJudgeNote(ranking.picked && !model.isEmpty(ranking) ? round.judge?.name : "", ranking);
  if (enlarged.isOpen()) enlarged.refresh();
}

function pick(position, { tie = false } = {}, { goOn = true } = {}) {
  if (isViewer) return look(position);
  if (!rankable() || position >= round.exhibits.length) return;
  active = position;
  if (single() && model.placeOf(ranking, position)) return goOn ? submit() : change(model.EMPTY);
  const next = single() ? model.pickOnly(ranking, position) : model.pick(ranking, position, { tie });
  change(next, { words: `${nameOf(round.exhibits[position])}: ${single() ? "chosen" : model.describe(next, position)}` });
}

function toggleWorst(position = active) {
  if (!rankable() || single()) return;
  const next = model.toggleWorst(ranking, position);
  change(next, { words: `${nameOf(round.exhibits[position])}: ${model.describe(next, position)}` });
}

function toggleTie() {
  if (!single()) change(model.toggleTieNext(ranking), { words: "The next pick ties with the last" });
}

function look(position = active) {
  if (!round?.exhibits[position]) return;
  active = position;
  enlarged.open(position);
}

function submit() {
  if (isViewer) return;
  if (model.isEmpty(ranking)) return round && askForOne();
  usual = model.named(ranking).length;
  // "Try again" sends the current selection: the person may have changed it.
  return send(model.answerOf(ranking), submit);
}

async function send(answer, retry = () => send(answer)) {
  if (!rankable()) return;
  busy = true;
  enlarged.close();
  grid.leave();
  const { index, key } = round;
  const rater = run.you ?? await askRaterName();
  // The server takes one answer for a key, so an answer that was stored unnoticed does no harm.
  const done = await attempt(() => post(path(`/rounds/${index}/answer`), { ...answer, rater, key }), {
    retry: () => round.key === key && retry(),
    repeats: "Your answer is kept, and is sent again by itself.",
    onStale: () => stash.dropSelection(runId, index),
  });
  busy = false;
  grid.return();
  // A stale answer shows no banner: the current round is loaded instead.
  if (!done && !find("#banner").hidden) return catchUp();
  stash.dropSelection(runId, index);
  // The answer returns the next round; without it, what followed the answer has failed.
  if (done?.value.round) show(done.value.round);
  else await load();
}

/** Loads the waiting round, and shows it, unless `unless` objects by then. */
async function load({ failed, unless = () => false } = {}) {
  // Raters who share one link have typed their names, which the server needs.
  const who = run.you ? "" : `?rater=${encodeURIComponent(stash.raterName() ?? "")}`;
  const done = await attempt(() => get(path(`/round${who}`)), { retry: () => load(), background: true, repeats: LOADS, failed });
  if (done && !unless()) show(done.value);
}

/** Loads the round after the stream of events was refused; false if the link has become invalid. */
async function afterRefusal() {
  let valid = true;
  const failed = (status) => { valid = ![401, 403, 404].includes(status); };
  await load({ failed, unless: () => busy });
  return valid;
}

/** Shows the waiting round. A round that was undone and shown again has another key. */
function show(next) {
  const isNew = round?.key !== next.key;
  shown.add(next.key);
  const hadFocus = find("#grid").contains(document.activeElement);
  round = next;
  if (isNew) {
    hideRepeated();
    past = [];
    suggested = null;
    active = 0;
    ranking = model.fromAnswer(stash.keptSelection(runId, round.index), round.exhibits.length);
    enlarged.close();
    forgetSounds();
    grid.show(round);
    if (sounds().length) find("#media-controls").replaceChildren(...soundControls(page));
    if (hadFocus) find("#grid").focus({ preventScroll: true });
    sidebar.showHistory();
  }
  sidebar.showBest(round);
  owner?.show(round);
  showWaiting(round, { isOwner });
  refresh();
  if (isNew) preload(round.ahead, round.exhibits[0].media_type);
  suggest(round.judge);
  const said = ["#round-name", "#heading", "#judge-name"].map((part) => find(part).textContent);
  if (isNew) announce(said.filter(Boolean).join(". "));
}

/** Shows the round that the server pushed, unless it was shown before: events may come late. */
function catchUp() {
  if (!pushed || shown.has(pushed.key)) return;
  // The answers and the judge's order of the round follow in events of their own.
  const judge = round.judge && { ...round.judge, order: null };
  show({ ...pushed, judge, answered_by: [], waiting_for: 1, you_answered: false });
}

async function undo() {
  if (!round || busy) return;
  if (past.length) return change(past.pop(), { remember: false, words: "Undone" });
  const before = isOwner && round.index > 0;
  // The judge's order is not the person's action, so undo skips it.
  if (!model.isEmpty(ranking) && !(before && asSuggested())) return change(model.EMPTY, { remember: false, words: "Cleared" });
  if (before) await call("/undo", { rounds: 1 }, ({ index }) => stash.dropSelection(runId, index));
}

/** Posts to a route of this run; after success, shows the waiting round. */
async function call(rest, body, onSuccess = () => {}) {
  if (!round || busy) return;
  busy = true;
  const done = await attempt(() => post(path(rest), body), { retry: () => call(rest, body, onSuccess), onStale: load });
  busy = false;
  if (!done) return catchUp();
  onSuccess(done.value);
  if (done.value.round) show(done.value.round);
  else await load();
}

const same = () => rankable() && send({ order: [], worst: [] });
function noneBetter() {
  const current = round?.exhibits.find((exhibit) => exhibit.current);
  if (rankable() && round.question === "best" && current) send({ order: [[current.position]], worst: [] });
}

const sounds = () => (round?.exhibits ?? []).map(({ position }) => grid.view(position)).filter((view) => view?.matches(".audio"));

/** What the controls of the page can do: see controls.js. */
const page = {
  call, pick, undo, same, noneBetter, look, toggleWorst, toggleTie,
  submit: () => submit(),
  others: () => round?.question === "start" && same(),
  enter: () => {
    const onCard = document.activeElement?.matches(".pick");
    if (model.isEmpty(ranking) && onCard) pick(active);
    else submit();
  },
  endPeek: enlarged.close,
  flip: () => { look(); enlarged.flip(); },
  kind: () => kindOf(run.media_type),
  playSound: () => sounds().length && toggleSound(grid.view(active)),
  continueSound: () => sounds().length && playFromHere(grid.view(active)),
  playAll: () => playInTurn(sounds()),
  loop: () => toggleLoop() ? announce("Loop on") : announce("Loop off"),
  switchSounds,
  shift: (step) => change(model.shift(ranking, active, step)),
  compare: () => isOwner && sidebar.compare(),
  clear: () => change(model.EMPTY, { words: "Cleared" }),
  focusNeighbour: (key) => {
    const onCard = document.activeElement?.matches(".pick");
    if (onCard) active = neighbour({ index: active, count: round.exhibits.length, columns: grid.columns(), key });
    grid.focus(active);
  },
};

async function start() {
  drawIcons();
  const done = await attempt(() => get(path("")), { retry: start, repeats: LOADS });
  if (!done) return;
  run = done.value;
  showRunNote(run);
  greet(run);
  sidebar = createSidebar({ run, role, enlarged });
  if (isOwner) owner = createOwnerTools({ run, round: () => round, reload: load });
  bindKeys(bindControls(page), page);
  if (!run.you) await askRaterName();
  await load();
  listen(runId, {
    round: (next) => {
      pushed = next;
      if (!round) load();
      else if (!busy) catchUp();
    },
    ballots: ({ round: index, ...ballots }) => {
      if (index !== round?.index) return;
      round = { ...round, ...ballots, you_answered: ballots.answered_by.includes(myName()) };
      owner?.show(round);
      showWaiting(round, { isOwner });
      refresh();
    },
    judge: (judge) => {
      if (judge.round === round?.index) suggest(judge);
      if (judge.order) sidebar.showAgreement();
    },
    exhibit: (progress) => round && showProgress(progress, round),
    progress: ({ round: index, shares }) => index === round?.index && grid.progress(shares),
    previews: ({ round: index, pictures }) => index === round?.index && grid.previews(pictures),
    refused: afterRefusal,
  });
}

start();
