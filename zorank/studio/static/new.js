// The page that starts a run: what to make, its options, one button.

import { get, post } from "./api.js";
import { attempt } from "./dialogs.js";
import { drawIcons, el, find, svg } from "./dom.js";

let renderers = [];
let earlier = [];

/** Until there is a picture of its own, a renderer shows six tiles in colours drawn from its name. */
function emblem(name) {
  let state = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  const random = () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const hue = random() * 360;
  const drawing = svg("svg", { viewBox: "0 0 156 104", class: "emblem", "aria-hidden": "true", preserveAspectRatio: "xMidYMid slice" });
  for (let tile = 0; tile < 6; tile += 1) {
    const own = hue + (random() - 0.5) * 90;
    const light = 58 + random() * 18;
    const id = `emblem-${name}-${tile}`;
    const stop = (offset, color) => svg("stop", { offset, "stop-color": color });
    drawing.append(
      svg("linearGradient", { id, x1: 0, y1: 0, x2: random() - 0.5, y2: 1 },
        stop(0, `hsl(${own} 46% ${light}%)`), stop(1, `hsl(${own + 48} 42% ${light - 24}%)`)),
      svg("rect", { x: (tile % 3) * 52, y: tile > 2 ? 52 : 0, width: 52, height: 52, fill: `url(#${id})` }),
    );
  }
  return drawing;
}

/** The best that this renderer has made so far says more than any sign. */
function portrait(renderer) {
  const made = renderer.preview ?? earlier.find((run) => run.renderer === renderer.name && run.best && run.media_type?.startsWith("image/"))?.best;
  return made ? el("img", { class: "emblem", src: made, alt: "" }) : emblem(renderer.name);
}

function rendererCard(renderer, index) {
  const choice = el("input", { type: "radio", name: "renderer", value: renderer.name, checked: index === 0 });
  choice.addEventListener("change", showOptions);
  return el("label", { class: "renderer", data: { testid: "renderer" } }, choice, portrait(renderer),
    el("span", { class: "renderer-text" }, el("strong", { text: renderer.title }), el("span", { text: renderer.description })));
}

const choicesOf = (option) => option.choices?.length ? option.choices : [true, false];

function valueOf(input) {
  if (input.dataset.type === "number") return Number(input.value);
  if (input.dataset.type !== "choice") return input.value;
  return choicesOf(chosen().options.find(({ name }) => name === input.name))[Number(input.value)];
}

function field(option) {
  const id = `option-${option.name}`;
  const common = { id, name: option.name, class: "field", data: { type: option.type } };
  let input;
  if (option.type === "choice") {
    // The index is the value, so that numbers and booleans keep their type.
    input = el("select", common, choicesOf(option).map((choice, index) =>
      el("option", { value: index, text: choice === true ? "yes" : choice === false ? "no" : choice, selected: choice === option.default })));
  } else {
    input = el("input", { ...common, type: option.type === "number" ? "number" : "text", step: "any", autocomplete: "off" });
    input.value = option.default ?? "";
  }
  const words = option.name.replaceAll("_", " ");
  const help = option.help && el("small", { id: `${id}-help`, text: option.help });
  if (help) input.setAttribute("aria-describedby", help.id);
  return el("div", { class: "form-row" }, el("label", { for: id, text: words[0].toUpperCase() + words.slice(1) }), input, help);
}

const chosen = () => renderers.find(({ name }) => name === find("input[name=renderer]:checked")?.value);

function showOptions() {
  const options = chosen()?.options ?? [];
  find("#options").replaceChildren(...options.filter(({ more }) => !more).map(field));
  find("#more-options").replaceChildren(...options.filter(({ more }) => more).map(field));
}

function answers() {
  const options = {};
  for (const input of document.querySelectorAll(".options .field")) {
    // A text that was emptied is an answer; a number that was emptied is none.
    if (input.value !== "" || input.dataset.type === "text") options[input.name] = valueOf(input);
  }
  const run = { renderer: chosen().name, m: Number(find("input[name=m]:checked").value), options };
  const title = find("#title").value.trim();
  const seed = find("#seed").value;
  const raters = Number(find("#raters").value) || 1;
  if (title) run.title = title;
  if (seed !== "") run.seed = Number(seed);
  if (raters > 1) run.raters = raters;
  return run;
}

async function begin() {
  const button = find("#start-run");
  button.disabled = true;
  button.classList.add("busy");
  const done = await attempt(() => post("/api/runs", answers()), { retry: begin });
  button.disabled = false;
  button.classList.remove("busy");
  if (done) location.assign(`/runs/${encodeURIComponent(done.value.id)}`);
}

async function show() {
  const done = await attempt(() => get("/api/renderers"), { retry: show });
  if (!done) return;
  renderers = done.value;
  earlier = await get("/api/runs").catch(() => []);
  find("#renderers").replaceChildren(...renderers.map(rendererCard));
  find("#start-run").disabled = renderers.length === 0;
  showOptions();
}

find("#new-form").addEventListener("submit", (event) => {
  event.preventDefault();
  begin();
});
drawIcons();
show();
