// Loads the probable next round while the person ranks.

import { waveOf } from "./waveform.js";

let wanted = [];

// One at a time: browsers allow six connections to a host, and an answer must never wait for them.
export async function preload(urls = [], mediaType = "image/jpeg") {
  wanted = urls;
  const isSound = mediaType.startsWith("audio/");
  if (!isSound && !mediaType.startsWith("image/")) return;
  for (const url of urls) {
    if (wanted !== urls) return;
    if (isSound) {
      await waveOf(url).catch(() => {});
      continue;
    }
    const picture = new Image();
    picture.src = url;
    await picture.decode().catch(() => {});
  }
}
