// When the waiting round closes, and how long that is from now.

import { serverNow } from "./api.js";
import { find } from "./dom.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** A duration in words, rounded up. */
export function inWords(milliseconds) {
  if (milliseconds <= MINUTE) return count(Math.ceil(milliseconds / 1000), "second");
  const minutes = Math.ceil(milliseconds / MINUTE);
  if (minutes < 60) return count(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return count(Math.round(hours / 24), "day");
  const rest = minutes % 60 ? ` and ${count(minutes % 60, "minute")}` : "";
  return `${count(hours, "hour")}${rest}`;
}

/** The time on the person's own clock; with the date, unless it is less than a day away. */
function onTheClock(left) {
  const time = { hour: "2-digit", minute: "2-digit" };
  const date = left < DAY ? {} : { weekday: "short", day: "numeric", month: "short" };
  return new Date(Date.now() + left).toLocaleString([], { ...date, ...time });
}

function sentence(closesAt) {
  if (closesAt == null) return "";
  const left = closesAt * 1000 - serverNow();
  if (left <= 0) return "This round closes with the next answer.";
  return `This round closes at ${onTheClock(left)}, in ${inWords(left)}.`;
}

let closesAt = null;

function write() {
  const place = find("#closes");
  const text = sentence(closesAt);
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
}

/** Shows when a round closes, and keeps the remaining time up to date. */
export function showClosing(round) {
  closesAt = round.closes_at;
  write();
}

setInterval(write, 1_000);
