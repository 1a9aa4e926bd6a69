// One enlarged exhibit, with the best so far behind it at the same place: a flip shows differences, and
// sounds continue at the same position.

import { el, find } from "./dom.js";
import { exhibitView, nameOf, nounOf, playMedia } from "./media.js";
import { describe, placeOf } from "./ranking.js";
import { playFromHere, silence, toggleLoop, toggleSound } from "./sounds.js";

export function createEnlarged(dialog, context) {
  const figure = find(".enlarged-figure", dialog);
  const caption = find(".enlarged-caption", dialog);
  const flipButton = find("#enlarged-flip", dialog);
  const pickButton = find("#enlarged-pick", dialog);
  const worstButton = find("#enlarged-worst", dialog);
  const steps = dialog.querySelectorAll("[data-step]");
  let position = null; // null: an exhibit outside of the round, such as the best so far
  let flipped = false;
  let title = "";

  function show(exhibit, behind) {
    flipped = false;
    const front = exhibitView(exhibit, { alt: title, eager: true });
    front.classList.add("front");
    figure.replaceChildren(front);
    if (behind) {
      const back = exhibitView(behind, { alt: "Best so far", eager: true });
      back.classList.add("back");
      figure.append(back);
    }
    for (const video of figure.querySelectorAll("video")) playMedia(video);
    if (sound()) playFromHere(sound());
    flipButton.hidden = !behind;
    const noun = nounOf(exhibit.media_type);
    dialog.setAttribute("aria-label", `Enlarged ${noun}`);
    steps.forEach((step) => step.setAttribute("aria-label", `${Number(step.dataset.step) < 0 ? "Previous" : "Next"} ${noun}`));
    if (!dialog.open) dialog.showModal();
    refresh();
  }

  function refresh() {
    const ranking = context.ranking();
    const inRound = position !== null;
    dialog.dataset.flipped = String(flipped);
    caption.replaceChildren(el("strong", { text: flipped ? "Best so far" : title }));
    if (inRound && !flipped && (placeOf(ranking, position) || ranking.worst.includes(position))) {
      caption.append(` · ${context.single() ? "chosen" : describe(ranking, position)}`);
    }
    flipButton.setAttribute("aria-pressed", String(flipped));
    for (const control of [pickButton, ...steps]) control.hidden = !inRound;
    worstButton.hidden = !inRound || context.single();
    pickButton.lastChild.textContent = inRound && placeOf(ranking, position) ? "Undo pick" : "Pick";
  }

  function open(which) {
    const { exhibits, best } = context.round();
    position = which;
    title = nameOf(exhibits[which]);
    show(exhibits[which], best);
  }

  function openAlone(exhibit, name, behind = null) {
    position = null;
    title = name;
    show(exhibit, behind);
  }

  function flip() {
    if (flipButton.hidden) return;
    flipped = !flipped;
    if (sound()) playFromHere(sound());
    refresh();
  }

  function step(by) {
    if (position === null) return;
    const { exhibits } = context.round();
    open((position + by + exhibits.length) % exhibits.length);
    context.moved(position);
  }

  /** The sound that is shown, if it is one: the best so far while it is flipped. */
  const sound = () => figure.querySelector(`.audio.${flipped ? "back" : "front"}`);
  const close = () => dialog.open && dialog.close();

  dialog.addEventListener("close", () => {
    silence();
    figure.replaceChildren();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target === figure) close();
  });
  flipButton.addEventListener("click", flip);
  pickButton.addEventListener("click", () => context.pick(position));
  worstButton.addEventListener("click", () => context.worst(position));
  find("#enlarged-close", dialog).addEventListener("click", close);
  for (const button of steps) button.addEventListener("click", () => step(Number(button.dataset.step)));
  swipe(figure, step);

  dialog.addEventListener("keydown", (event) => {
    if (!dialog.open) return;  // a closed dialog may keep the focus until the next frame
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches(".seek") && event.key.startsWith("Arrow")) return event.stopPropagation();
    const onButton = event.target.closest("button");
    const key = event.key.toLowerCase();
    if (key === "escape") close();
    else if (key === "arrowleft" || key === "arrowup") step(-1);
    else if (key === "arrowright" || key === "arrowdown") step(1);
    else if (key === "f") flip();
    else if (key === "w" && position !== null && !context.single()) context.worst(position);
    else if (key === "p" && sound()) toggleSound(sound());
    else if (key === "l" && sound()) toggleLoop();
    else if (key === "x" && sound()) flip();
    else if (key === " " && !onButton && !event.repeat) close();
    else if (key === "enter" && !onButton && position !== null) context.pick(position);
    else if (/^[1-9]$/.test(key)) {
      if (Number(key) > context.round().exhibits.length) return;
      if (Number(key) - 1 === position) context.pick(position);
      else open(Number(key) - 1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return { open, openAlone, flip, close, refresh, isOpen: () => dialog.open };
}

function swipe(area, step) {
  const DISTANCE = 48;
  let start = null;
  area.addEventListener("pointerdown", (event) => {
    start = event.pointerType === "touch" ? event.clientX : null;
  });
  area.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const moved = event.clientX - start;
    start = null;
    if (Math.abs(moved) > DISTANCE) step(moved < 0 ? 1 : -1);
  });
}

