// The form field for a photo: it is sent as soon as it is chosen, and the field holds its name.

import { at, upload } from "./api.js";
import { attempt, hideBanner } from "./dialogs.js";
import { announce, el } from "./dom.js";

const LONGEST = 2048;
const SMALL = 1_000_000;
const READ = ["image/jpeg", "image/png", "image/webp"];

/** Makes a large photo smaller before it is sent, which also drops its metadata. */
async function smaller(file) {
  if (file.size <= SMALL && READ.includes(file.type)) return file;
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, LONGEST / Math.max(picture.width, picture.height));
    const canvas = el("canvas", { width: Math.round(scale * picture.width), height: Math.round(scale * picture.height) });
    const pen = canvas.getContext("2d");
    pen.fillStyle = "white";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    return (await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.92))) ?? file;
  } catch {
    return file; // the studio says what is wrong with it
  }
}

const addressOf = (option) => at(`/api/photos/${option.replace("kept:", "")}`);

/** Returns the parts of the field; `common` has the id, name, class and data of its value. */
export function photoField(option, common, whenBusy) {
  const value = el("input", { ...common, id: null, type: "hidden", data: { type: "text" } });
  const shown = el("img", { class: "photo-shown", alt: "The chosen photo", data: { testid: "photo-shown" } });
  const chooser = el("input", { id: common.id, type: "file", accept: "image/*", class: "photo-file", data: { testid: "photo-file" } });
  const sample = el("button", { type: "button", class: "button small", text: "Use the sample photo", data: { testid: "photo-sample" } });

  function show(chosen, url = chosen && addressOf(chosen)) {
    value.value = chosen;
    shown.hidden = sample.hidden = !chosen;
    if (chosen) shown.src = url;
    else shown.removeAttribute("src");
  }

  async function send() {
    const [file] = chooser.files;
    if (!file) return;
    hideBanner();
    whenBusy(true);
    const done = await attempt(async () => upload(at("/api/photos"), await smaller(file)), { retry: send });
    whenBusy(false);
    if (!done) {
      chooser.value = "";
      return;
    }
    show(done.value.option, done.value.url);
    announce("The photo was added.");
  }

  chooser.addEventListener("change", send);
  sample.addEventListener("click", () => {
    chooser.value = "";
    show("");
    chooser.focus();
  });
  show(option.default ?? "");
  return el("div", { class: "photo-field" }, shown, el("div", { class: "photo-choice" }, chooser, sample), value);
}
