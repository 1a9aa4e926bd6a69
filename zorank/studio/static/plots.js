// Small SVG charts without axes; a number gives the current value.

import { el, svg } from "./dom.js";

const WIDTH = 240;
const HEIGHT = 44;
const INSET = 5;

function points(values, floor) {
  const known = values.filter((value) => value != null);
  const high = Math.max(...known);
  const least = floor ?? Math.min(...known);
  // Draw a constant through the middle: at the bottom it would look like zero.
  const low = least === high ? high - 1 : least;
  const span = least === high ? 2 : high - low;
  const step = (WIDTH - 2 * INSET) / Math.max(values.length - 1, 1);
  return values
    .map((value, index) =>
      value == null ? null : [INSET + index * step, HEIGHT - INSET - ((value - low) / span) * (HEIGHT - 2 * INSET)],
    )
    .filter(Boolean);
}

const path = (dots) => dots.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

function line(values, floor, label) {
  const dots = points(values, floor);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot-line", role: "img", "aria-label": label, preserveAspectRatio: "none" });
  const [lastX] = dots.at(-1);
  drawing.append(
    svg("path", { d: `${path(dots)}L${lastX} ${HEIGHT}L${dots[0][0]} ${HEIGHT}Z`, class: "plot-area" }),
    svg("path", { d: path(dots), class: "plot-stroke", "vector-effect": "non-scaling-stroke" }),
  );
  return drawing;
}

/** One mark per round: tall where the best changed. */
function steps(moved, label) {
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} 22`, class: "plot-steps", role: "img", "aria-label": label, preserveAspectRatio: "none" });
  const pitch = WIDTH / Math.max(moved.length, 12);
  moved.forEach((yes, index) => {
    const height = yes ? 18 : 5;
    drawing.append(svg("rect", {
      x: index * pitch, y: 20 - height, width: Math.max(pitch - 3, 1.5), height, rx: 1.5, class: yes ? "moved" : "stayed",
    }));
  });
  return drawing;
}

const plot = (label, value, drawing) =>
  el("figure", { class: "plot" }, el("figcaption", {}, el("span", { text: label }), el("b", { text: value })), drawing);

const seconds = (value) => (value < 60 ? `${value < 10 ? value.toFixed(1) : Math.round(value)} s` : `${Math.round(value / 60)} min`);
const deviations = (value) => `${value.toFixed(2)} sd`;
const percent = (value) => `${Math.round(100 * value)} %`;

/** `floor` fixes the lower end of the axis; `quiet` hides the number. */
function linePlot(rows, field, label, format, { floor, quiet = false } = {}) {
  const values = rows.map((row) => row[field]);
  const last = values.findLast((value) => value != null);
  if (values.filter((value) => value != null).length < 3) return null;
  return plot(label, quiet ? "" : format(last), line(values, floor, `${label}: ${values.filter((value) => value != null).map(format).join(", ")}`));
}

/** All charts that the history has data for. */
export function historyPlots(rows, { several = false, brief = false } = {}) {
  const ranked = rows.filter((row) => row.question !== "start");
  if (!ranked.length) return [];
  // Some optimisers rank for a direction first; only their "which is best?" rounds can accept a step.
  const deciding = ranked.filter((row) => row.question === "best");
  const tries = deciding.length ? deciding : ranked;
  const accepted = tries.filter((row) => row.moved).length;
  const name = deciding.length ? "Steps accepted" : "New bests";
  const share = `${accepted} of ${tries.length}`;
  // If the optimizer reports an expected gain, the brief version shows little else.
  const models = ranked.some((row) => row.gain != null);
  return [
    plot(name, share, steps(tries.map((row) => row.moved), `${name}: ${share}`)),
    models && linePlot(ranked, "gain", "Expected gain", deviations, { floor: 0, quiet: true }),
    !brief && linePlot(ranked, "consistency", "Consistency", percent),
    (!brief || !models) && linePlot(ranked, "radius", "Search radius", (value) => value.toPrecision(2)),
    !brief && linePlot(ranked, "distance", "Distance from the start", (value) => value.toPrecision(2)),
    (!brief || !models) && linePlot(ranked, "seconds", "Time per answer", seconds),
    several && linePlot(ranked, "agreement", "Agreement", percent),
    !brief && linePlot(ranked, "judge_agreement", "Agreement with the judge", percent),
  ].filter(Boolean);
}

export function ratersTable(raters) {
  const share = (value) => (value == null ? "–" : percent(value));
  const weighed = raters.some((rater) => rater.weight !== 1);
  return el(
    "table",
    { class: "table" },
    el("thead", {}, el("tr", {}, ["Name", "Answers", "Agreement", ...(weighed ? ["Weight"] : [])].map((text) => el("th", { scope: "col", text })))),
    el("tbody", {}, raters.map((rater) =>
      el("tr", {}, el("th", { scope: "row", text: rater.name }), el("td", { text: rater.answers }),
        el("td", { text: share(rater.agreement) }), weighed && el("td", { text: rater.weight.toPrecision(2) })))),
  );
}
