// Loads the probable next round while the person ranks.

let wanted = [];

// One at a time: browsers allow six connections to a host, and an answer must never wait for them.
export async function preload(urls = [], mediaType = "image/jpeg") {
  wanted = urls;
  if (!mediaType.startsWith("image/")) return;
  for (const url of urls) {
    if (wanted !== urls) return;
    const picture = new Image();
    picture.src = url;
    await picture.decode().catch(() => {});
  }
}
