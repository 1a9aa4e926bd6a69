// Shows one exhibit of any media type.

import { el, icon } from "./dom.js";
import { enqueue } from "./queue.js";
import { soundView } from "./sounds.js";
import { waveform } from "./waveform.js";

const RETRY_AFTER = [800, 2500];

export const kindOf = (mediaType = "image/") => mediaType.split("/")[0];

const NOUNS = { image: "picture", video: "clip", audio: "sound" };

/** The noun for exhibits of a media type. */
export const nounOf = (mediaType) => NOUNS[kindOf(mediaType)] ?? "text";

/** The name of an exhibit, from its screen position. */
export function nameOf({ media_type: mediaType, position }) {
  const noun = nounOf(mediaType);
  return `${noun[0].toUpperCase()}${noun.slice(1)} ${position + 1}`;
}

/**
 * A small still picture, the waveform of a sound, or null for texts. Video thumbnails show the middle frame,
 * because first frames look identical.
 */
export function thumbnail({ url, media_type: mediaType }) {
  if (kindOf(mediaType) === "image") return el("img", { src: url, alt: "", draggable: "false", loading: "lazy", decoding: "async" });
  if (kindOf(mediaType) === "audio") return waveform(url);
  if (kindOf(mediaType) !== "video") return null;
  const video = el("video", { src: url, playsinline: true, preload: "metadata", tabindex: "-1", "aria-hidden": "true" });
  video.muted = true;
  video.addEventListener("loadedmetadata", () => { video.currentTime = video.duration / 2; }, { once: true });
  return video;
}

const withRetry = (url, number) => (number ? `${url}${url.includes("?") ? "&" : "?"}retry=${number}` : url);

/** Asks the server why an image failed; "" if it gives no reason. */
async function reasonOf(url) {
  const response = await fetch(url).catch(() => null);
  if (!response || response.ok) return "";
  const data = await response.json().catch(() => null);
  return typeof data?.detail === "string" ? data.detail : "";
}

function loadPicture(picture, url, { onReady, onFail }) {
  let tries = 0;
  const start = () =>
    enqueue((release) => {
      // Pictures of an earlier round must not delay those of the new one.
      if (!picture.isConnected) return release();
      picture.onload = () => {
        release();
        onReady?.(picture);
      };
      picture.onerror = () => {
        release();
        tries += 1;
        if (tries > RETRY_AFTER.length) return reasonOf(withRetry(url, tries)).then((reason) => onFail?.(start, reason));
        setTimeout(start, RETRY_AFTER[tries - 1]);
      };
      picture.src = withRetry(url, tries);
    });
  // Deferred, because the caller has not put the element into the page yet.
  setTimeout(start);
}

/** An element that shows the exhibit; onReady is called with it when it has loaded. */
export function exhibitView({ url, media_type: mediaType }, { alt, onReady, onFail, eager = false } = {}) {
  const kind = kindOf(mediaType);
  if (kind === "image") {
    const picture = el("img", { class: "media", alt, draggable: "false", decoding: "async" });
    if (eager) {
      picture.onload = () => onReady?.(picture);
      picture.src = url;
    } else {
      loadPicture(picture, url, { onReady, onFail });
    }
    return picture;
  }
  if (kind === "video") {
    const video = el("video", { class: "media", src: url, playsinline: true, loop: true, preload: "auto", "aria-label": alt });
    video.muted = true;
    video.addEventListener("loadeddata", () => onReady?.(video), { once: true });
    video.addEventListener("error", () => onFail?.(() => video.load()));
    return video;
  }
  if (kind === "audio") return soundView(url, alt, { onReady, onFail });
  return textView(url, alt, { onReady, onFail });
}

function textView(url, label, { onReady, onFail }) {
  const frame = el("iframe", { class: "media", sandbox: "", title: label, tabindex: "-1" });
  // A frame cannot detect an HTTP error, so fetch the text first; the frame then uses the cache.
  const show = async () => {
    const response = await fetch(url).catch(() => null);
    if (!response?.ok) return onFail?.(show);
    frame.addEventListener("load", () => onReady?.(frame), { once: true });
    frame.src = url;
  };
  show();
  return frame;
}

/**
 * Plays a video. The browser rejects the promise if the element is paused or removed before it
 * has started, which is no error; a file that cannot be decoded fires the element's "error" event.
 */
export function playMedia(media) {
  media.play().catch(() => {});
}

/** Plays all videos of a round in step, and gives the controls for them. */
export function videosInStep(videos) {
  const ALLOWED_DRIFT = 0.08;
  let rate = 1;
  const rewind = (video) =>
    new Promise((resolve) => {
      video.pause();
      video.addEventListener("seeked", resolve, { once: true });
      video.currentTime = 0;
    });
  // Rewind all before any plays, or videos that seek quickly would be ahead.
  const replay = async () => {
    await Promise.all(videos.map(rewind));
    for (const video of videos) {
      video.playbackRate = rate;
      playMedia(video);
    }
  };
  const ready = (video) =>
    video.readyState >= 3 || new Promise((resolve) => video.addEventListener("canplay", resolve, { once: true }));
  Promise.all(videos.map(ready)).then(replay);
  const timer = setInterval(() => {
    const [leader, ...others] = videos;
    if (!leader?.isConnected) return clearInterval(timer);
    for (const video of others) {
      const apart = Math.abs(video.currentTime - leader.currentTime);
      if (apart > ALLOWED_DRIFT && apart < leader.duration - ALLOWED_DRIFT) video.currentTime = leader.currentTime;
    }
  }, 500);
  const slow = el("button", { type: "button", class: "button small quiet", "aria-pressed": "false" }, icon("slow"), "Slow");
  slow.addEventListener("click", () => {
    rate = rate === 1 ? 0.35 : 1;
    slow.setAttribute("aria-pressed", String(rate !== 1));
    for (const video of videos) video.playbackRate = rate;
  });
  const again = el("button", { type: "button", class: "button small quiet", on: { click: replay } }, icon("replay"), "Replay");
  return [slow, again];
}
