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

/** Shows a failure, with a button that tries again; the person's input is kept. */
export function showBanner(sentence, retry, { background = false } = {}) {
  const banner = find("#banner");
  banner.dataset.background = background;
  banner.replaceChildren(
    el("span", { text: sentence }),
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

export function hideBanner() {
  find("#banner").hidden = true;
}

/** Whether the banner is about an action of the person, which only the person may repeat. */
function isAboutAction() {
  const banner = find("#banner");
  return !banner.hidden && banner.dataset.background !== "true";
}

/** The server understood and refused these, so trying again does not help. */
export const isFinal = (status) => [401, 403, 404, 409, 422].includes(status);

/**
 * Runs a request. Success gives { value }; a failure gives null and a banner whose button calls
 * `retry`, which repeats the whole action, so that nothing the person did is lost. A request in the
 * background, which the page repeats by itself, leaves the banner of an action alone; its own
 * banner disappears when a later request succeeds. `failed` is called with the status of a failure.
 */
export async function attempt(task, { retry, onStale, background = false, failed = () => {} } = {}) {
  if (!background) hideBanner();
  try {
    const value = await task();
    if (!isAboutAction()) hideBanner();
    return { value };
  } catch (failure) {
    if (failure.status === undefined) throw failure;
    failed(failure.status);
    if (failure.status === 409 && onStale) {
      await onStale();
      return null;
    }
    if (!(background && isAboutAction())) {
      showBanner(failure.message, isFinal(failure.status) ? null : retry, { background });
    }
    return null;
  }
}
