// The grid of pictures: builds the cards of a round and shows a ranking on them.

import { el, icon } from "./dom.js";
import { draggable, swallowNextClick } from "./drag.js";
import { largestGrid } from "./layout.js";
import { exhibitView, kindOf, nameOf, nounOf, videosInStep } from "./media.js";
import { describe, isProposed, isTied, isWorst, nextPlace, placeOf } from "./ranking.js";
import { abandon } from "./waveform.js";

const HOLD_MILLISECONDS = 380;
const SCROLLS = matchMedia("(max-width: 640px), (max-width: 900px) and (max-height: 520px)");
const UPRIGHT_PHONE = matchMedia("(max-width: 640px)");
const MEDALS = ["", "gold", "silver", "bronze"];

export function createGrid(grid, frame, controls, handlers) {
  let cards = [];
  let aspect = 1;
  let columns = 3;

  function fit() {
    const gap = SCROLLS.matches ? 10 : 16;
    const { clientWidth: width, clientHeight: height } = frame;
    const largest = largestGrid({ count: cards.length, width, height, aspect, gap });
    // A phone scrolls, so only the width counts; elsewhere all cards fit on the screen.
    columns = SCROLLS.matches ? Math.min(UPRIGHT_PHONE.matches ? 2 : 3, cards.length) : largest.columns;
    const cardWidth = SCROLLS.matches ? (width - gap * (columns - 1)) / columns : largest.cardWidth;
    grid.style.setProperty("--columns", columns);
    grid.style.setProperty("--card", `${cardWidth}px`);
    grid.style.setProperty("--aspect", aspect);
    grid.style.setProperty("--gap", `${gap}px`);
  }

  function build(exhibit, single) {
    const { position, current } = exhibit;
    const name = nameOf(exhibit);
    const pick = el("button", { type: "button", class: "pick", "aria-label": name, "aria-pressed": "false" });
    const badge = el("span", { class: "badge", hidden: true, "aria-hidden": "true" });
    const tool = (label, drawing, className, action) =>
      el("button", {
        type: "button", class: `tool ${className}`, tabindex: "-1", title: label, "aria-label": `${label}: ${name}`,
        on: { click: () => action(position) },
      }, icon(drawing));
    const worst = single ? null : tool("Mark as worst", "worst", "tool-worst", handlers.worst);
    const card = el(
      "li",
      { class: "card", data: { position, testid: "card", kind: kindOf(exhibit.media_type) } },
      el("div", { class: "skeleton", "aria-hidden": "true" }),
      el("progress", { class: "drawn", max: 1, value: 0, hidden: true, "aria-label": `${name}: rendering progress` }),
      pick,
      badge,
      current && el("span", { class: "current-mark", text: "best so far" }),
      worst,
      tool("Enlarge", "enlarge", "tool-enlarge", handlers.enlarge),
      el("kbd", { class: "digit", text: position + 1, "aria-hidden": "true" }),
    );
    const view = exhibitView(exhibit, {
      alt: name,
      onReady: (media) => {
        card.classList.add("ready");
        if (media.naturalWidth || media.videoWidth) {
          aspect = (media.naturalWidth || media.videoWidth) / (media.naturalHeight || media.videoHeight);
          fit();
        }
      },
      onFail: (again, reason) => {
        const retry = el("button", { type: "button", class: "button small", text: "Draw it again" });
        const failure = el("div", { class: "redraw" }, reason && el("p", { class: "reason", text: reason }), retry);
        retry.addEventListener("click", () => {
          failure.remove();
          again();
        });
        card.append(failure);
      },
    });
    card.firstElementChild.after(view);
    pick.addEventListener("click", (event) => handlers.pick(position, { tie: event.shiftKey }));
    pick.addEventListener("focus", () => handlers.active(position));
    card.addEventListener("pointermove", (event) => event.pointerType === "mouse" && handlers.active(position));
    badge.addEventListener("click", (event) => handlers.pick(position, { tie: event.shiftKey }));
    holdToEnlarge(pick, position);
    draggable(badge, {
      source: card,
      targetAt: cardAt,
      mark: markTarget,
      drop: (target) => {
        if (target) handlers.handOver(position, target.position);
        else handlers.takeBack(position);
      },
    });
    return { position, name, card, pick, badge, worst, view, current };
  }

  const cardAt = ({ x, y }) => {
    const hit = document.elementFromPoint(x, y)?.closest?.(".card");
    return cards.find(({ card }) => card === hit) ?? null;
  };
  const markTarget = (target) => cards.forEach((one) => one.card.classList.toggle("drop-target", one === target));

  function holdToEnlarge(pick, position) {
    let timer;
    let held = false;
    pick.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      held = false;
      const from = { x: event.clientX, y: event.clientY };
      const stop = () => {
        clearTimeout(timer);
        removeEventListener("pointermove", moved);
        removeEventListener("pointerup", released);
        removeEventListener("pointercancel", stop);
      };
      const moved = (move) => Math.hypot(move.clientX - from.x, move.clientY - from.y) > 10 && !held && stop();
      const released = () => {
        stop();
        if (held) swallowNextClick();
        // A finger covers the picture, so on touch screens it stays open after release.
        if (held && event.pointerType === "mouse") handlers.endPeek();
      };
      timer = setTimeout(() => {
        held = true;
        handlers.enlarge(position);
      }, HOLD_MILLISECONDS);
      addEventListener("pointermove", moved);
      addEventListener("pointerup", released);
      addEventListener("pointercancel", stop);
    });
    pick.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  function show(round) {
    const { media_type: mediaType } = round.exhibits[0] ?? {};
    if (kindOf(mediaType) === "audio") aspect = UPRIGHT_PHONE.matches ? 1 : 1.3;
    grid.setAttribute("aria-label", `${nounOf(mediaType)[0].toUpperCase()}${nounOf(mediaType).slice(1)}s`);
    const single = round.question !== "rank";
    const left = cards;
    cards = round.exhibits.map((exhibit) => build(exhibit, single));
    grid.replaceChildren(...cards.map(({ card }) => card));
    // Cancel pictures that are still loading, to free their connections.
    for (const { view } of left) {
      if (view.tagName === "IMG" && !view.complete) view.src = "";
      if (view.matches(".audio")) abandon(view.dataset.url);
    }
    grid.classList.remove("leaving");
    grid.dataset.question = round.question;
    const videos = cards.map(({ view }) => view).filter((view) => view.tagName === "VIDEO");
    controls.replaceChildren(...(videos.length ? videosInStep(videos) : []));
    fit();
  }

  function update(ranking, { single }) {
    grid.dataset.started = String(ranking.groups.length > 0);
    for (const { position, name, card, pick, badge, worst, current } of cards) {
      const place = placeOf(ranking, position);
      card.dataset.medal = place ? MEDALS[place] ?? "plain" : "";
      card.dataset.next = single ? "✓" : nextPlace(ranking);
      card.classList.toggle("worst", isWorst(ranking, position));
      card.classList.toggle("proposed", place > 0 && isProposed(ranking, position));
      card.classList.toggle("tied", isTied(ranking, position));
      pick.setAttribute("aria-pressed", String(place > 0));
      const marks = [name, current && "best so far", single ? place > 0 && "chosen" : describe(ranking, position)];
      pick.setAttribute("aria-label", marks.filter(Boolean).join(", "));
      worst?.setAttribute("aria-pressed", String(isWorst(ranking, position)));
      if (place) {
        badge.hidden = false;
        badge.dataset.testid = "badge";
        badge.replaceChildren(single ? icon("check") : String(place));
      } else {
        badge.hidden = true;
        delete badge.dataset.testid;
      }
    }
  }

  /** Shows each picture's rendering progress, if its renderer reports it. */
  function progress(shares) {
    for (const { position, card } of cards) {
      const bar = card.querySelector(".drawn");
      const share = shares[position];
      bar.hidden = share == null || share >= 1;
      if (!bar.hidden) bar.value = share;
    }
  }

  /** Shows intermediate previews while pictures are rendered. */
  function previews(pictures) {
    for (const { position, card, view } of cards) {
      const url = pictures[position];
      if (!url || card.classList.contains("ready")) continue;
      let preview = card.querySelector(".preview");
      if (!preview) view.after((preview = el("img", { class: "preview", alt: "", "aria-hidden": "true" })));
      preview.src = url;
    }
  }

  new ResizeObserver(fit).observe(frame);
  return {
    show,
    update,
    progress,
    previews,
    focus: (position) => cards[position]?.pick.focus(),
    columns: () => columns,
    leave: () => grid.classList.add("leaving"),
    return: () => grid.classList.remove("leaving"),
    view: (position) => cards[position]?.view,
  };
}
