// Helpers that build elements; text is always inserted as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const find = (selector, within = document) => within.querySelector(selector);

export function el(tag, { class: className, text, data = {}, on = {}, ...attributes } = {}, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  Object.assign(node.dataset, data);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const ICONS = {
  arrow: "M5 12h14m-6-6 6 6-6 6",
  back: "M19 12H5m6-6-6 6 6 6",
  undo: "M9 7 4 12l5 5M4.5 12H15a5 5 0 0 1 0 10h-2",
  enlarge: "M14 4h6v6m0-6-7 7M10 20H4v-6m0 6 7-7",
  worst: "M12 5v13m-6-6 6 6 6-6",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 12.5 10 17.5 19.5 7",
  plus: "M12 4.5v15M4.5 12h15",
  help: "M8 8.2a4 4 0 1 1 6 3.4c-1.3.8-2 1.5-2 3v.4m0 4.4v.1",
  menu: "M4 8h16M4 16h16",
  play: "M8 5.5v13l11-6.5z",
  pause: "M8.5 5.5v13m7-13v13",
  replay: "M4 12a8 8 0 1 0 2.6-5.9L4 8.5M4 4v4.5h4.5",
  slow: "M12 7v5l3 2M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17z",
  flip: "M4 8h15l-4-4m5 12H5l4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  trash: "M5 7h14M10 7V4.5h4V7m3.5 0-.8 12.5H7.3L6.5 7",
  branch: "M7 4v16m0-6c0-4 10-2 10-8m0 0-3 3m3-3 3 3",
  download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  theme: "M12 3.5a8.5 8.5 0 1 0 0 17zm0 0a8.5 8.5 0 0 1 0 17",
  compare: "M12 3v18M4 6h8v12H4zm8 0h8v12h-8",
  share: "M9 15l6-6M10.5 6.5 13 4a4.2 4.2 0 0 1 6 6l-2.5 2.5m-3 5L11 20a4.2 4.2 0 0 1-6-6l2.5-2.5",
};

export function icon(name) {
  const drawing = svg("svg", { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true" });
  drawing.append(svg("path", { d: ICONS[name] }));
  return drawing;
}

/** Draws the icons that templates name in data-icon. */
export function drawIcons(within = document) {
  for (const holder of within.querySelectorAll("[data-icon]")) {
    if (!holder.querySelector(".icon")) holder.prepend(icon(holder.dataset.icon));
  }
}

/** Announces a change to screen readers; clearing the text first makes repeats audible. */
export function announce(sentence) {
  const live = find("#live");
  if (!live) return;
  live.textContent = "";
  requestAnimationFrame(() => {
    live.textContent = sentence;
  });
}

/** Calls back after a pause between calls, or at once if `now(...values)` is true. */
export function debounce(milliseconds, callback, now = () => false) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => callback(...values), now(...values) ? 0 : milliseconds);
  };
}
