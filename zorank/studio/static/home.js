// The home page: all runs as cards.

import { at, get, post, remove, runPage, runPath } from "./api.js";
import { attempt, confirmDialog } from "./dialogs.js";
import { announce, drawIcons, el, find, icon } from "./dom.js";
import { exhibitView, kindOf } from "./media.js";
import { waveform } from "./waveform.js";

const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

function ago(unixSeconds) {
  const passed = Date.now() / 1000 - unixSeconds;
  const unit = UNITS.find(([, length]) => passed >= length);
  if (!unit) return "just now";
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.floor(passed / unit[1]), unit[0]);
}

const roundsIn = (count) => (count === 1 ? "1 round" : `${count} rounds`);

function card(run) {
  const title = run.title || "Untitled";
  const picture = el("div", { class: "run-picture" }, el("div", { class: "skeleton", "aria-hidden": "true" }));
  if (run.best && kindOf(run.media_type) === "audio") {
    picture.classList.add("unstarted");
    picture.append(waveform(run.best), icon("play"));
  } else if (run.best) {
    picture.append(exhibitView({ url: run.best, media_type: run.media_type }, { alt: "", onReady: () => picture.classList.add("ready") }));
  } else {
    picture.classList.add("unstarted");
    picture.append(el("span", { class: "podium small blank", "aria-hidden": "true" }, Array.from({ length: 6 }, () => el("i"))));
  }
  const action = (label, drawing, act, testid) =>
    el("button", { type: "button", class: "icon-button", title: label, "aria-label": `${label}: ${title}`, "data-testid": testid, on: { click: act } }, icon(drawing));
  return el("li", { class: "run-card", data: { run: run.id, testid: "run" } },
    el("a", { class: "run-link", href: runPage(run.id), "aria-label": `Continue: ${title}` }, picture),
    el("div", { class: "run-text" },
      el("h2", { text: title }),
      el("p", { class: "muted", text: run.problem ?? `${roundsIn(run.rounds)} · ${ago(run.created_at)}` })),
    el("div", { class: "run-actions" },
      run.best && el("a", { class: "icon-button", href: runPage(run.id, "/result"), title: "Result", "aria-label": `Result: ${title}` }, icon("compare")),
      action("Duplicate", "copy", () => duplicate(run)),
      action("Delete", "trash", () => discard(run), "delete")));
}

async function duplicate(run) {
  const done = await attempt(() => post(runPath(run.id, "/branch"), { title: `${run.title || "Untitled"} (copy)` }), { retry: () => duplicate(run) });
  if (!done) return;
  announce("Duplicated");
  show();
}

async function discard(run) {
  const sure = await confirmDialog({
    heading: `Delete “${run.title || "Untitled"}”?`, text: find("#runs").dataset.items === undefined
      ? "Its pictures and answers will be deleted." : "Its answers will be deleted; the files stay.", action: "Delete", danger: true,
  });
  if (!sure) return;
  const erase = () => attempt(() => remove(runPath(run.id)), { retry: async () => (await erase()) && show() });
  if (await erase()) {
    announce("Deleted");
    show();
  }
}

async function show() {
  const done = await attempt(() => get(at("/api/runs")), { retry: show });
  // If the list fails to load, a new run can still be started.
  const runs = done ? [...done.value].sort((a, b) => b.created_at - a.created_at) : [];
  const welcomes = Boolean(done) && runs.length === 0;
  find("#welcome").hidden = !welcomes;
  find("#collection").hidden = welcomes;
  // Both sections have a link to a new run; only the visible one gets the test id.
  for (const link of document.querySelectorAll("[data-new-run]")) {
    if (link.closest("section").hidden) delete link.dataset.testid;
    else link.dataset.testid = "new-run";
  }
  const list = find("#runs");
  list.replaceChildren(list.firstElementChild, ...runs.map(card));
}

// The back button restores an old page, so load the list again.
addEventListener("pageshow", (event) => event.persisted && show());
drawIcons();
show();
