// The strip of every best so far, used by the ranking page and the result page.

import { el } from "./dom.js";
import { kindOf } from "./media.js";

/** The rounds in which the best changed; the others would repeat the same picture. */
export const milestones = (rows) => rows.filter((row, index) => row.best && (row.moved || index === 0));

export const roundName = (row) => (row.round === 0 ? "Start" : `Round ${row.round}`);

export function showJourney(list, rows, { mediaType, selected, onLook }) {
  const stops = milestones(rows);
  list.replaceChildren(...stops.map((row) => {
    const thumb = kindOf(mediaType) === "image"
      ? el("img", { src: row.best, alt: "", loading: "lazy", decoding: "async" })
      : el("span", { class: "journey-glyph", "aria-hidden": "true", text: row.round || "•" });
    return el("li", {}, el("button", {
      type: "button", class: "journey-stop", title: roundName(row), "aria-label": `Best after: ${roundName(row)}`,
      "aria-current": row === (selected ?? stops.at(-1)) ? "true" : null,
      on: { click: () => onLook(row) },
    }, thumb, el("span", { class: "journey-name", text: roundName(row), "aria-hidden": "true" })));
  }));
  // Not scrollIntoView, which would also scroll the page.
  const now = list.querySelector("[aria-current]");
  if (now) list.scrollLeft = now.offsetLeft + now.offsetWidth - list.clientWidth + 4;
  return stops;
}
