// The form for a new run: renderer, options, judge.

import { ApiError, at, get, post, runPage, upload } from "./api.js";
import { attempt, hideBanner } from "./dialogs.js";
import { drawIcons, el, find, svg } from "./dom.js";
import { nounOf, thumbnail } from "./media.js";
import { photoField } from "./photo.js";

let renderers = [];
let judges = [];
let methods = [];
let earlier = [];

/** Six tiles in colours derived from the renderer's name, for a renderer without a picture. */
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

/** The best of an earlier run with this renderer, else its sample, else its emblem. */
function portrait(renderer) {
  const best = earlier.find((run) => run.renderer === renderer.name && run.best);
  const tiles = emblem(renderer.name);
  const url = best?.best ?? renderer.sample;
  const small = url && thumbnail({ url, media_type: best?.media_type ?? renderer.media_type });
  if (!small) return tiles;
  small.classList.add("emblem");
  small.addEventListener("error", () => small.replaceWith(tiles), { once: true });
  return small;
}

function rendererCard(renderer, index) {
  const choice = el("input", { type: "radio", name: "renderer", value: renderer.name, checked: index === 0 });
  choice.addEventListener("change", () => {
    hideBanner(); // it may be about another renderer
    showForm();
  });
  return el("label", { class: "renderer", data: { testid: "renderer" } }, choice, portrait(renderer),
    el("span", { class: "renderer-text" }, el("strong", { text: renderer.title }), el("span", { text: renderer.description })));
}

const choicesOf = (option) => option.choices?.length ? option.choices : [true, false];

const sentence = (words) => words[0].toUpperCase() + words.slice(1).replaceAll("_", " ");

function valueOf(input, options) {
  if (input.dataset.type === "number") return Number(input.value);
  if (input.dataset.type !== "choice") return input.value;
  return choicesOf(options.find(({ name }) => name === input.name))[Number(input.value)];
}

function field(option, { of = "option", label = sentence(option.name), placeholder } = {}) {
  const id = `${of}-${option.name}`;
  const common = { id, name: option.name, class: "field", placeholder, data: { type: option.type } };
  let input;
  if (option.type === "choice") {
    // The value is an index, so that numbers and booleans keep their type.
    input = el("select", common, choicesOf(option).map((choice, index) =>
      el("option", { value: index, text: choice === true ? "yes" : choice === false ? "no" : choice, selected: choice === option.default })));
  } else if (option.type === "photo") {
    input = photoField(option, common, (busy) => {
      find("#start-run").disabled = busy;
    });
  } else {
    input = el("input", { ...common, type: option.type === "number" ? "number" : "text", step: "any", autocomplete: "off" });
    input.value = option.default ?? "";
  }
  const help = option.help && el("small", { id: `${id}-help`, text: option.help });
  if (help) (find("[type=file]", input) ?? input).setAttribute("aria-describedby", help.id);
  return el("div", { class: "form-row" }, el("label", { for: id, text: label }), input, help);
}

const checked = (name) => find(`input[name=${name}]:checked`)?.value;
const chosen = () => renderers.find(({ name }) => name === checked("renderer"));
const chosenJudge = () => judges.find(({ name }) => name === checked("judge"));

function showForm() {
  const options = chosen()?.options ?? [];
  find("#options").replaceChildren(...options.filter(({ more }) => !more).map((option) => field(option)));
  find("#more-options").replaceChildren(...options.filter(({ more }) => more).map((option) => field(option)));
  find("#how-many").textContent = `${sentence(nounOf(chosen()?.media_type))}s per round`;
  showJudges();
}

const JUDGE_NAMES = { dream: "Built-in", clip: "CLIP" };

/** Offers the judges that can score the chosen renderer's pictures; hidden if there are none. */
function showJudges() {
  const fitting = judges.filter((judge) => judge.renderers.includes(chosen()?.name));
  const segment = (value, text, isChosen) => {
    const choice = el("input", { type: "radio", name: "judge", value, checked: isChosen, on: { change: showJudgeOptions } });
    return el("label", {}, choice, el("span", { text }));
  };
  find("#judges").replaceChildren(
    segment("", "None", !fitting.some((judge) => judge.default)),
    ...fitting.map((judge) => segment(judge.name, JUDGE_NAMES[judge.name] ?? sentence(judge.title), judge.default)));
  find("#judge").hidden = fitting.length === 0;
  showJudgeOptions();
}

function showJudgeOptions() {
  const judge = chosenJudge();
  const painted = find("#option-prompt");
  find("#judge-help").hidden = !judge;
  find("#judge-options").replaceChildren(...(judge?.options ?? []).map((option) => field(option, option.name === "prompt"
    ? { of: "judge", label: "What the model looks for", placeholder: painted ? "the prompt above" : "snowy night" }
    : { of: "judge" })));
  askForAPrompt();
}

/** A judge without a prompt uses the renderer's, so one of the two is required. */
function askForAPrompt() {
  const wanted = find("#judge-prompt");
  if (wanted) wanted.required = !find("#option-prompt")?.value.trim();
}

const chosenMethod = () => methods.find(({ name }) => name === find("#method").value);

/** Offers the methods; the first choice leaves it to the studio, unless that has a default. */
function showMethods() {
  const automatic = el("option", { value: "", text: "Automatic" });
  find("#method").replaceChildren(...(methods.some((method) => method.default) ? [] : [automatic]),
    ...methods.map((method) => el("option", { value: method.name, text: method.title, selected: method.default })));
  showMethodSettings();
}

function showMethodSettings() {
  const method = chosenMethod();
  find("#method-help").textContent = method?.help ?? "Models looks if the renderer computes them quickly, else the numbers behind the pictures.";
  find("#method-settings").replaceChildren(...(method?.settings ?? []).map((setting) =>
    field({ ...setting, type: "number" }, { of: "method", label: setting.label })));
}

function methodAnswer() {
  const method = chosenMethod();
  if (!method) return {};
  const settings = values("#method-settings", method.settings, (input) => input.value !== "");
  return { method: method.name, method_settings: settings };
}

const values = (form, options, keeps) => Object.fromEntries(
  [...find(form).querySelectorAll(".field")].filter(keeps).map((input) => [input.name, valueOf(input, options)]));

/** Omits an unchanged default judge, so that the run follows the studio's default in future. */
function judgeAnswer() {
  const usual = judges.find((judge) => judge.default);
  const judge = chosenJudge();
  if (!judge) return usual ? { judge: null } : {};
  const options = values("#judge-options", judge.options, (input) => input.value.trim() !== "");
  const untouched = judge.options.every(({ name, default: filledIn }) => (options[name] ?? "") === (filledIn ?? ""));
  return judge === usual && untouched ? {} : { judge: { name: judge.name, options: { ...judge.kept, ...options } } };
}

const PNG_HEAD = 1 << 18; // texts come before the pixels
let vector = null;

/** Omits the studio's own start; an emptied field is no start. */
function startAnswer() {
  const input = find("#start");
  const text = input.value.trim();
  if (text === input.dataset.default) return {};
  return { x0: vector && text === vector.name ? vector.numbers : text || null };
}

/** Reads a seed from a picture, or the numbers of a vector, and shows which in the field. */
async function readStart(file) {
  vector = null;
  if (file.name.toLowerCase().endsWith(".json")) {
    const found = await file.text().then(JSON.parse).catch(() => null);
    const numbers = found?.best ?? found?.x ?? found;
    if (!Array.isArray(numbers)) throw new ApiError(422, "This file has no vector: it must be JSON with a list of numbers.");
    vector = { name: file.name, numbers };
    return file.name;
  }
  return (await upload(at("/api/starts"), file.slice(0, PNG_HEAD))).x0;
}

function answers() {
  const all = chosen().options;
  // An emptied text field is sent as an empty text; an emptied number field is omitted.
  const given = (input) => input.value !== "" || input.dataset.type === "text";
  const options = { ...values("#options", all, given), ...values("#more-options", all, given) };
  const run = { renderer: chosen().name, m: Number(checked("m")), options, ...judgeAnswer(), ...methodAnswer() };
  const title = find("#title").value.trim();
  const seed = find("#seed").value;
  const raters = Number(find("#raters").value) || 1;
  if (title) run.title = title;
  if (seed !== "") run.seed = Number(seed);
  if (raters > 1) run.raters = raters;
  return { ...run, ...startAnswer() };
}

async function begin() {
  const button = find("#start-run");
  button.disabled = true;
  button.classList.add("busy");
  const done = await attempt(() => post(at("/api/runs"), answers()), { retry: begin });
  button.disabled = false;
  button.classList.remove("busy");
  if (done) location.assign(runPage(done.value.id));
}

async function show() {
  const done = await attempt(() => get(at("/api/renderers")), { retry: show });
  if (!done) return;
  renderers = done.value;
  // These are optional.
  [earlier, judges, methods] = await Promise.all(
    ["/api/runs", "/api/judges", "/api/methods"].map((path) => get(at(path)).catch(() => [])));
  find("#renderers").replaceChildren(...renderers.map(rendererCard));
  find("#start-run").disabled = renderers.length === 0;
  showForm();
  showMethods();
}

find("#start-file").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  const done = file && await attempt(() => readStart(file));
  if (done) find("#start").value = done.value;
  target.value = ""; // so that the same file can be chosen again
});
find("#method").addEventListener("change", showMethodSettings);
find("#options").addEventListener("input", askForAPrompt);
find("#new-form").addEventListener("submit", (event) => {
  event.preventDefault();
  begin();
});
drawIcons();
show();
