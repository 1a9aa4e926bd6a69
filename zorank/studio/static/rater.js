// Asks raters who share a link for their name once; the browser stores it.

import { askText } from "./dialogs.js";
import { keepRaterName, raterName } from "./stash.js";

const OWNER = "owner";

/** Raters must not use the owner's name. */
export async function askRaterName() {
  let name = raterName();
  while (!name || name.toLowerCase() === OWNER) {
    name = await askText({
      heading: "Hello!", label: "What should we call you?", action: "Begin", testid: "rater-name", optional: false,
    });
  }
  keepRaterName(name);
  return name;
}
