// Waveforms: the largest and smallest sample of each moment of a sound, drawn as bars.
//
// The browser fetches and decodes a sound once; its card, the tray and the journey show the same peaks.

import { el, svg } from "./dom.js";
import { enqueue } from "./queue.js";

const BARS = 72;
const MOST_BYTES = 24e6;
const MOST_KEPT = 200;
// Peaks need no high frequencies, and a low rate needs little memory.
const DECODING_RATE = 8000;

const decoder = () => new OfflineAudioContext(1, 1, DECODING_RATE);
const kept = new Map();

class Unavailable extends Error {}

/** Asks for a sound; its bytes, or null if it is too large to be decoded at once. */
async function bytesOf(url, signal) {
  const response = await fetch(url, { signal }).catch(() => null);
  if (!response?.ok) {
    const data = await response?.json().catch(() => null);
    throw new Unavailable(typeof data?.detail === "string" ? data.detail : "");
  }
  if (Number(response.headers.get("content-length")) > MOST_BYTES) {
    await response.body?.cancel();
    return null;
  }
  return response.arrayBuffer();
}

function peaksOf(buffer) {
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index));
  const width = buffer.length / BARS;
  const heights = Array.from({ length: BARS }, (_, bar) => {
    let largest = 0;
    for (const samples of channels) {
      for (let i = Math.floor(bar * width); i < Math.floor((bar + 1) * width); i += 1) {
        const size = Math.abs(samples[i]);
        if (size > largest) largest = size;
      }
    }
    return largest;
  });
  return { heights, seconds: buffer.duration };
}

async function load(url, signal) {
  const release = await new Promise(enqueue);
  const bytes = await bytesOf(url, signal).finally(release);
  if (!bytes) return null;
  const decoded = await decoder().decodeAudioData(bytes).catch(() => {
    throw new Unavailable("This browser cannot play the sound.");
  });
  return peaksOf(decoded);
}

/** The peaks and the duration of a sound; null if it is too large to be decoded at once. */
export function waveOf(url) {
  if (!kept.has(url)) {
    const stop = new AbortController();
    const wave = load(url, stop.signal);
    wave.then(() => kept.set(url, { wave }), () => kept.delete(url));
    kept.set(url, { wave, stop });
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(url).wave;
}

/** Stops loading a sound that nobody will hear, to free its connection. */
export const abandon = (url) => kept.get(url)?.stop?.abort();

export const isUnavailable = (error) => error instanceof Unavailable;

function bars(heights, className) {
  const drawing = svg("svg", { viewBox: `0 0 ${BARS} 40`, preserveAspectRatio: "none", class: className });
  // All sounds on one scale: how loud they are is part of what they are.
  const path = heights.map((height, bar) => {
    const half = Math.max(0.7, 19 * Math.min(1, height));
    return `M${bar + 0.5} ${20 - half}V${20 + half}`;
  }).join("");
  drawing.append(svg("path", { d: path }));
  return drawing;
}

/** An element that draws the waveform of a sound; its part before --played looks played. */
export function waveform(url) {
  const view = el("span", { class: "wave", "aria-hidden": "true" });
  const draw = (heights) => view.replaceChildren(bars(heights, "wave-all"), bars(heights, "wave-played"));
  draw(Array(BARS).fill(0));
  waveOf(url).then((wave) => wave && draw(wave.heights), () => {});
  return view;
}
