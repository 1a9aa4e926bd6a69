// Sounds: one player for the page, so that only one sounds at a time. It plays one of them, plays all in
// turn, or switches from one to another at the same position, to compare them.
//
// Browsers let a page start sounds by itself only on a player that was started by hand, so all share one.

import { el, icon } from "./dom.js";
import { isUnavailable, waveOf, waveform } from "./waveform.js";

const SAME_POSITION = 0.05;

const player = new Audio();
player.preload = "auto";

let current = null; // the view that plays or has played last
let previous = null; // the one before
let turn = null; // { views, index } while all are played in turn
let onTurn = () => {};
let onLoop = () => {};
let loops = false;

const urlOf = (view) => view.dataset.url;
const isPlaying = (view) => view === current && !player.paused;

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
const lengthOf = (seconds) => (seconds < 10 ? `${seconds.toFixed(1)} s` : clock(seconds));

/** An element that shows and plays a sound; onReady is called with it when it can be played. */
export function soundView(url, label, { onReady, onFail } = {}) {
  const face = el("span", { class: "play-face" }, icon("play"));
  const button = el("button", { type: "button", class: "play", "aria-label": `Play ${label}` }, face);
  const length = el("span", { class: "sound-length" });
  const seek = el("input", {
    type: "range", class: "seek", min: 0, max: 1, step: 0.001, value: 0, "aria-label": `Position in ${label}`,
  });
  const view = el("div", { class: "media audio", data: { url, label } }, el("div", { class: "wave-frame" }, waveform(url), seek), button, length);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    toggleSound(view);
  });
  seek.addEventListener("click", (event) => event.stopPropagation());
  seek.addEventListener("input", () => seekTo(view, Number(seek.value)));
  const load = async () => {
    try {
      const wave = await waveOf(url);
      if (wave) {
        view.dataset.seconds = wave.seconds;
        length.textContent = lengthOf(wave.seconds);
      }
      onReady?.(view);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      onFail?.(() => {
        view.querySelector(".wave").replaceWith(waveform(url));
        load();
      }, error.message);
    }
  };
  // Deferred, because the caller has not put the element into the page yet.
  setTimeout(load);
  return view;
}

/** Shows on a view whether it plays, and how far. */
function show(view) {
  if (!view) return;
  const plays = isPlaying(view);
  const share = view === current && player.duration && !player.ended ? player.currentTime / player.duration : 0;
  const label = `${plays ? "Stop" : "Play"} ${view.dataset.label}`;
  const button = view.querySelector(".play");
  if (button.getAttribute("aria-label") !== label) {
    button.setAttribute("aria-label", label);
    button.querySelector(".play-face").replaceChildren(icon(plays ? "pause" : "play"));
  }
  view.classList.toggle("playing", plays);
  view.closest(".card")?.classList.toggle("sounding", plays);
  view.style.setProperty("--played", `${100 * share}%`);
  view.querySelector(".seek").value = share;
}

function frame() {
  show(current);
  if (!player.paused) requestAnimationFrame(frame);
}

/** Starts a sound at a position in seconds. */
function start(view, at = 0) {
  const before = current;
  current = view;
  if (before !== view) {
    previous = before;
    show(before);
  }
  const begin = () => {
    player.currentTime = Math.min(at, Math.max(0, (player.duration || at) - SAME_POSITION));
  };
  if (player.dataset.url !== urlOf(view)) {
    player.dataset.url = urlOf(view);
    player.src = urlOf(view);
    if (at > 0) player.addEventListener("loadedmetadata", () => current === view && begin(), { once: true });
  } else if (player.paused || Math.abs(player.currentTime - at) > SAME_POSITION) {
    begin();
  }
  player.loop = loops && !turn;
  // Rejected if another sound is started first, which is no error; a file that fails fires "error".
  player.play().catch(() => {});
}

function seekTo(view, share) {
  if (view === current && player.duration) player.currentTime = share * player.duration;
  else start(view, share * Number(view.dataset.seconds ?? 0));
  show(view);
}

function stopTurn() {
  turn = null;
  onTurn(false);
}

/** Plays or stops a sound; it begins at its beginning. */
export function toggleSound(view) {
  stopTurn();
  if (isPlaying(view)) player.pause();
  else start(view);
}

/** Plays a sound from where another one is; from its beginning if none plays. */
export function playFromHere(view) {
  stopTurn();
  if (view !== current) start(view, player.paused ? 0 : player.currentTime);
  else if (player.paused) start(view);
}

/** Switches between the last two sounds, at the same position. */
export function switchSounds() {
  if (!previous?.isConnected) return;
  stopTurn();
  start(previous, player.ended ? 0 : player.currentTime);
}

/** Plays sounds one after another, or stops if they are being played. */
export function playInTurn(views) {
  if (turn || !views.length) return silence();
  turn = { views, index: 0 };
  onTurn(true);
  return playTurn();
}

function playTurn() {
  const view = turn.views[turn.index];
  if (!view.isConnected) return silence();
  start(view);
  return view.closest(".card")?.scrollIntoView({ block: "nearest", behavior: "smooth" });
}

export function silence() {
  stopTurn();
  player.pause();
}

/** Forgets sounds that have left the page. */
export function forgetSounds() {
  silence();
  current = null;
  previous = null;
}

export function toggleLoop() {
  loops = !loops;
  player.loop = loops && !turn;
  onLoop();
  return loops;
}

for (const name of ["play", "pause", "seeked", "loadedmetadata"]) player.addEventListener(name, frame);
player.addEventListener("ended", () => {
  show(current);
  if (!turn) return;
  turn.index += 1;
  if (turn.index === turn.views.length && loops) turn.index = 0;
  if (turn.index < turn.views.length) playTurn();
  else silence();
});

/** A button that switches between two sounds, such as the start and the best, at the same position. */
export function switchButton(pair) {
  const other = () => {
    const [first, second] = pair();
    playFromHere(first === current ? second : first);
  };
  return el("button", { type: "button", class: "button small", data: { testid: "switch" }, on: { click: other } },
    icon("flip"), "Switch at the same position");
}

/** The buttons above a round of sounds; `page` has what they do. */
export function soundControls(page) {
  const button = (name, drawing, text, title, run) =>
    el("button", { type: "button", class: "button small quiet", title, data: { testid: name }, on: { click: run } },
      icon(drawing), el("span", { class: "button-text", text }));
  const all = button("play-all", "play", "Play all", "Play all in turn (A)", page.playAll);
  const other = button("switch", "flip", "Switch", "Switch between the last two, at the same position (X)", page.switchSounds);
  const loop = button("loop", "replay", "Loop", "Repeat what plays (L)", page.loop);
  loop.setAttribute("aria-pressed", String(loops));
  onLoop = () => loop.setAttribute("aria-pressed", String(loops));
  onTurn = (plays) => {
    all.setAttribute("aria-pressed", String(plays));
    all.querySelector(".icon").replaceWith(icon(plays ? "pause" : "play"));
  };
  onTurn(false);
  return [all, other, loop];
}
