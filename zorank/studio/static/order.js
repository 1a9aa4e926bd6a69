// The result of a run that ranks a finite set: all things in order, and how certain the order is.

import { get, runPath } from "./api.js";
import { attempt } from "./dialogs.js";
import { el, find } from "./dom.js";
import { exhibitView, kindOf, nounOf, thumbnail } from "./media.js";

const THUMBNAIL = 256;
const percent = (share) => `${Math.floor(100 * Math.min(share, 0.99))} %`;
const sized = (url, mediaType) => (kindOf(mediaType) === "image" ? `${url}&size=${THUMBNAIL}` : url);

/** Shows the order in place of the journey from a start to the best. */
export async function showOrder(runId, run, { retry }) {
  const done = await attempt(() => get(runPath(runId, "/order")), { retry });
  if (!done) return;
  const order = done.value;
  find("#result-body").hidden = true;
  find("#order-body").hidden = false;
  find("#order-heading").textContent = run.title || "Untitled";
  find("#order-note").textContent = run.note;
  find("#order-note").hidden = !run.note;
  find("#order-summary").textContent = summary(order);
  find("#order").replaceChildren(...order.places.map((place) => placeView(place)));
}

function summary({ places, items, compared, rounds, certainty, level, settled }) {
  const enough = settled ? "settled" : `settled at ${percent(level)}`;
  return [
    rounds === 1 ? "1 round" : `${rounds} rounds`,
    compared < items && `${compared} of ${items} seen`,
    `about ${percent(certainty)} of pairs in the right order (${enough})`,
    places.length < items && `the first ${places.length} of ${items} are shown`,
  ].filter(Boolean).join(" · ");
}

function placeView({ rank, item, name, score, sd, ahead, url, media_type: mediaType }) {
  const label = name || `${nounOf(mediaType)} ${item + 1}`;
  const isSound = kindOf(mediaType) === "audio";
  const small = !isSound && thumbnail({ url: sized(url, mediaType), media_type: mediaType });
  if (small) small.setAttribute("alt", label);
  // A sound plays here; other things open in a tab of their own.
  const link = isSound ? exhibitView({ url, media_type: mediaType }, { alt: label }) : el("a", { class: "order-thing", href: url, target: "_blank", rel: "noopener", title: label },
    small || el("span", { class: "order-text", text: label }));
  const next = ahead == null ? "" : `above the next: ${percent(ahead)}`;
  return el("li", { class: "order-place", data: { testid: "place", item: String(item) } }, link,
    el("span", { class: "order-rank", text: `${rank}` }),
    (small || isSound) && el("span", { class: "order-name", text: label }),
    el("span", { class: "order-score muted", text: `${score.toFixed(2)} ± ${sd.toFixed(2)}` }),
    el("span", { class: "order-ahead muted", text: next }));
}
