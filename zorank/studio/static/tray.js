// The ranking in a row, best first; it is changed by dragging or with the arrow keys.

import { el } from "./dom.js";
import { draggable } from "./drag.js";
import { nameOf, thumbnail } from "./media.js";
import { describe } from "./ranking.js";

export function createTray(tray, handlers) {
  const groupBoxes = () => [...tray.querySelectorAll(".tray-group")].map((group) => group.getBoundingClientRect());

  /** The place under the pointer, or null if it is far away, which removes the picture. */
  function placeAt({ x, y }) {
    const box = tray.getBoundingClientRect();
    if (y < box.top - 70 || y > box.bottom + 70) return null;
    const index = groupBoxes().findIndex((group) => x < group.right);
    return index === -1 ? groupBoxes().length : index + 1;
  }

  function mark(place) {
    tray.querySelectorAll(".tray-group").forEach((group, index) => group.classList.toggle("drop-target", index + 1 === place));
  }

  function item(exhibit, ranking) {
    const { position } = exhibit;
    const label = `${nameOf(exhibit)}, ${describe(ranking, position)}. Arrow keys move it, Delete removes it.`;
    const thumb = thumbnail(exhibit);
    // Sounds and texts are told apart by their number.
    const number = !thumb?.matches("img, video") && el("span", { class: "tray-number", text: position + 1 });
    const button = el("button", { type: "button", class: "tray-item", "aria-label": label, data: { position } }, thumb, number);
    button.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const removes = event.key === "Delete" || event.key === "Backspace";
      if (!step && !removes) return;
      event.preventDefault();
      event.stopPropagation();
      if (removes) handlers.takeBack(position);
      else handlers.shift(position, step);
      tray.querySelector(`[data-position="${position}"]`)?.focus();
    });
    button.addEventListener("click", () => handlers.look(position));
    draggable(button, {
      targetAt: placeAt,
      mark,
      drop: (place) => {
        if (place === null) handlers.takeBack(position);
        else handlers.moveToPlace(position, place);
      },
    });
    return button;
  }

  return function update(ranking, exhibits, { single }) {
    const shown = !single && ranking.groups.length > 0;
    tray.classList.toggle("filled", shown);
    if (!shown) return tray.replaceChildren();
    const before = new Set([...tray.querySelectorAll(".tray-item")].map(({ dataset }) => Number(dataset.position)));
    const groups = ranking.groups.map((group) =>
      el("li", { class: `tray-group${group.length > 1 ? " tied" : ""}` }, group.map((position) => item(exhibits[position], ranking))),
    );
    const tie = el("button", {
      type: "button", class: "tray-tie", "aria-pressed": String(ranking.tieNext),
      title: "The next pick ties with the last (T)", on: { click: handlers.toggleTie },
    }, "=", el("span", { class: "visually-hidden", text: " The next pick ties with the last" }));
    for (const button of groups.flatMap((group) => [...group.children])) {
      button.classList.toggle("fresh", !before.has(Number(button.dataset.position)));
    }
    tray.replaceChildren(el("ol", { class: "tray-list", "aria-label": "Your ranking, best first" }, groups), tie);
  };
}
