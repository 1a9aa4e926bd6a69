// Raters are asked for their name once; the browser remembers it.

import { askText } from "./dialogs.js";
import { keepRaterName, raterName } from "./stash.js";

export const OWNER = "owner";

/** Nobody who came by a link may pass for the owner, so that name is asked for again. */
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
