// A banner for failures, native dialogs for everything else.

import { el, find, icon } from "./dom.js";

/** Opens a modal dialog made of the given content; resolves with its return value. */
export function openDialog(content, { class: className = "", label, ...attributes } = {}) {
  const dialog = el("dialog", { class: `dialog ${className}`, "aria-label": label, ...attributes }, content);
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close("");
  });
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

const actions = (...buttons) => el("div", { class: "dialog-actions" }, buttons);

const button = (text, value, { class: className = "", ...attributes } = {}) =>
  el("button", { type: "submit", value, class: `button ${className}`, text, ...attributes });

export async function confirmDialog({ heading, text, action, danger = false }) {
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { text: heading }),
    el("p", { text }),
    actions(
      button("Keep it", "", { autofocus: true }),
      button(action, "yes", { class: danger ? "danger" : "primary", "data-testid": "confirm" }),
    ),
  );
  return (await openDialog(form, { label: heading })) === "yes";
}

/** One text field; resolves with its value, or "" when the person closes the dialog. */
export async function askText({ heading, text, label, action, value = "", multiline = false, testid, placeholder, optional = true }) {
  const field = el(multiline ? "textarea" : "input", {
    id: "ask-text",
    class: "field",
    rows: multiline ? 7 : null,
    maxlength: multiline ? null : 60,
    placeholder,
    required: true,
    autofocus: true,
    autocomplete: "off",
    "data-testid": testid,
  });
  field.value = value;
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { text: heading }),
    text && el("p", { text }),
    el("label", { for: "ask-text", class: "field-label", text: label }),
    field,
    actions(
      optional && el("button", { type: "button", class: "button", text: "Cancel", on: { click: () => form.closest("dialog").close("") } }),
      button(action, "yes", { class: "primary" }),
    ),
  );
  return (await openDialog(form, { label: heading })) === "yes" ? field.value.trim() : "";
}

const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 10_000;
let pause = FIRST_PAUSE;
let timer = null;

/**
 * Shows a failure, with a button that tries again; the person's input is kept. With `repeats`, which
 * says so to the person, the page tries again by itself after a pause, which grows each time.
 */
export function showBanner(sentence, retry, { background = false, repeats = "" } = {}) {
  const banner = find("#banner");
  banner.dataset.background = background;
  clearTimeout(timer);
  if (repeats) {
    timer = setTimeout(retry, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
  banner.replaceChildren(
    el("span", {}, asSentence(sentence), repeats && el("span", { class: "banner-repeats", text: ` ${repeats}` })),
    el(
      "span",
      { class: "banner-actions" },
      retry && el("button", {
        type: "button",
        class: "button small",
        text: "Try again",
        on: {
          click: () => {
            hideBanner();
            retry();
          },
        },
      }),
      el("button", { type: "button", class: "icon-button", "aria-label": "Close", on: { click: hideBanner } }, icon("close")),
    ),
  );
  banner.hidden = false;
}

/** A capital letter first and a full stop last, so that another sentence may follow. */
const asSentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

export function hideBanner() {
  clearTimeout(timer);
  pause = FIRST_PAUSE;
  find("#banner").hidden = true;
}

/** Leaves it to the person to try again, because they have changed what is sent. */
export function stopRepeating() {
  clearTimeout(timer);
  find("#banner .banner-repeats")?.remove();
}

/** Hides a banner whose request is repeated, because there is nothing left to repeat. */
export function hideRepeated() {
  if (find("#banner .banner-repeats")) hideBanner();
}

/** Whether the banner is about an action of the person, and not about loading. */
function isAboutAction() {
  const banner = find("#banner");
  return !banner.hidden && banner.dataset.background !== "true";
}

/** The server understood and refused these, so trying again does not help. */
export const isFinal = (status) => [401, 403, 404, 409, 422].includes(status);

/** No answer, or a store or a server that may work again soon. */
const mayPass = (status) => [0, 502, 503, 504].includes(status);

/**
 * Runs a request. Success gives { value }; a failure gives null and a banner whose button calls
 * `retry`, which repeats the whole action, so that nothing the person did is lost. A request in the
 * background, which the page repeats by itself, leaves the banner of an action alone; its own
 * banner disappears when a later request succeeds. `failed` is called with the status of a failure.
 *
 * A request with `repeats`, a sentence for the banner, is repeated by the page until it succeeds or
 * is refused. It must have the same effect if the server gets it twice.
 */
export async function attempt(task, { retry, onStale, background = false, repeats = "", failed = () => {} } = {}) {
  if (!background && !repeats) hideBanner();
  if (!background) clearTimeout(timer);
  try {
    const value = await task();
    if (!background || !isAboutAction()) hideBanner();
    return { value };
  } catch (failure) {
    if (failure.status === undefined) throw failure;
    failed(failure.status);
    if (failure.status === 409 && onStale) {
      hideRepeated();
      await onStale();
      return null;
    }
    if (!(background && isAboutAction())) {
      const again = mayPass(failure.status) ? repeats : "";
      showBanner(failure.message, isFinal(failure.status) ? null : retry, { background, repeats: again });
    }
    return null;
  }
}
