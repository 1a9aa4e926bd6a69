// The strip of all bests so far, for the ranking page and the result page.

import { el } from "./dom.js";
import { thumbnail } from "./media.js";

/** The rounds in which the best changed. */
export const milestones = (rows) => rows.filter((row, index) => row.best && (row.moved || index === 0));

export const roundName = (row) => (row.question === "start" ? "Start" : `Round ${row.round}`);

export function showJourney(list, rows, { mediaType, selected, onLook }) {
  const stops = milestones(rows);
  const kept = list.scrollLeft;
  list.replaceChildren(...stops.map((row) => {
    const thumb = thumbnail({ url: row.best, media_type: mediaType })
      ?? el("span", { class: "journey-glyph", "aria-hidden": "true", text: row.round || "•" });
    return el("li", {}, el("button", {
      type: "button", class: "journey-stop", title: roundName(row), "aria-label": `Best after: ${roundName(row)}`,
      "aria-current": row === (selected ?? stops.at(-1)) ? "true" : null,
      on: { click: () => onLook(row) },
    }, thumb, el("span", { class: "journey-name", text: roundName(row), "aria-hidden": "true" })));
  }));
  list.scrollLeft = kept;
  // Not scrollIntoView, which would also scroll the page; and only once the strip is on the page.
  requestAnimationFrame(() => {
    const now = list.querySelector("[aria-current]");
    if (!now) return;
    const hiddenLeft = now.offsetLeft - list.scrollLeft < 0;
    const hiddenRight = now.offsetLeft + now.offsetWidth - list.scrollLeft > list.clientWidth;
    if (hiddenLeft || hiddenRight) list.scrollLeft = now.offsetLeft + now.offsetWidth - list.clientWidth + 6;
  });
  return stops;
}
