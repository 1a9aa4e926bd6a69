// Before and after in one frame, under a native range input, which brings keyboard, touch and
// screen reader support.

import { el } from "./dom.js";
import { exhibitView, kindOf, playMedia } from "./media.js";
import { switchButton } from "./sounds.js";

/** Returns { view, setAfter }; media other than pictures are shown side by side. */
export function comparison({ before, after, beforeLabel = "Start", afterLabel = "Best" }) {
  const pictures = kindOf(before.media_type) === "image" && kindOf(after.media_type) === "image";
  return pictures ? slider(before, after, beforeLabel, afterLabel) : sideBySide(before, after, beforeLabel, afterLabel);
}

/** Shows the cached small picture, and replaces it when the full size has loaded. */
function showSoon(picture, { url, large }) {
  if (picture.dataset.shows === url) return;
  picture.src = url;
  picture.dataset.shows = url;
  if (!large) return;
  const larger = new Image();
  larger.addEventListener("load", () => {
    if (picture.dataset.shows === url) picture.src = large;
  });
  larger.src = large;
}

function slider(before, after, beforeLabel, afterLabel) {
  const first = el("img", { class: "before", alt: beforeLabel, draggable: "false" });
  const second = el("img", { class: "after", alt: afterLabel, draggable: "false" });
  const afterTag = el("span", { class: "slider-tag right", text: afterLabel, "aria-hidden": "true" });
  const range = el("input", { type: "range", min: 0, max: 100, step: 1, value: 50, "aria-label": "How much of the start is shown" });
  const view = el("div", { class: "slider", data: { testid: "slider" } },
    second, first,
    el("span", { class: "slider-line", "aria-hidden": "true" }),
    el("span", { class: "slider-tag left", text: beforeLabel, "aria-hidden": "true" }), afterTag,
    range);
  const split = () => {
    view.style.setProperty("--split", `${range.value}%`);
    view.dataset.edge = range.value < 14 ? "left" : range.value > 86 ? "right" : "";
    range.setAttribute("aria-valuetext", `${range.value} percent start`);
  };
  second.addEventListener("load", () => view.style.setProperty("--aspect", second.naturalWidth / second.naturalHeight));
  range.addEventListener("input", split);
  split();
  showSoon(first, before);
  showSoon(second, after);
  return {
    view,
    setAfter(exhibit, label) {
      showSoon(second, exhibit);
      second.alt = label;
      afterTag.textContent = label;
    },
  };
}

function sideBySide(before, after, beforeLabel, afterLabel) {
  const half = (exhibit, label) => el("figure", {}, exhibitView(exhibit, { alt: label, eager: true }), el("figcaption", { text: label }));
  const second = half(after, afterLabel);
  const view = el("div", { class: "side-by-side", data: { testid: "slider" } }, half(before, beforeLabel), second);
  for (const video of view.querySelectorAll("video")) playMedia(video);
  if (kindOf(after.media_type) === "audio") view.append(switchButton(() => view.querySelectorAll(".audio")));
  return {
    view,
    setAfter(exhibit, label) {
      second.replaceChildren(exhibitView(exhibit, { alt: label, eager: true }), el("figcaption", { text: label }));
    },
  };
}
