// Keyboard handling of the ranking page; controls.js says which key does what. The enlarged picture
// has keys of its own (enlarge.js).

const TYPING = "input:not([type=range]), textarea, select, [contenteditable]";
const HOLD_MILLISECONDS = 350;

/** `controls` maps each key to its row in controls.js. */
export function bindKeys(controls, page) {
  let spaceDownAt = 0;

  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.(TYPING)) return;
    if (document.querySelector("dialog[open]:not(.enlarged)")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ((event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey) return run(event, page.undo);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Shift changes the character of a digit key, so the physical key decides.
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1] ?? (/^[1-9]$/.test(key) ? key : null);
    if (digit) return run(event, () => page.pick(Number(digit) - 1, { tie: event.shiftKey }));

    const onCard = event.target.matches?.(".pick");
    const onOther = !onCard && event.target.closest?.("button, a, summary, [role=slider], input");
    if (key === "Enter") return onOther ? undefined : run(event, page.enter);
    if (key === " ") {
      if (onOther) return undefined;
      if (!event.repeat) spaceDownAt = event.timeStamp; // when the key went down, not when a busy page reacts
      return run(event, () => !event.repeat && page.look());
    }
    const control = controls.get(key);
    if (!control || (event.repeat && !control.repeats)) return undefined;
    return run(event, () => control.run(key));
  });

  // Held, Space shows the enlarged picture until it is released; pressed, until the next press.
  document.addEventListener("keyup", (event) => {
    if (event.key !== " " || !spaceDownAt) return;
    if (event.target.matches?.(".pick")) event.preventDefault();
    if (event.timeStamp - spaceDownAt > HOLD_MILLISECONDS) page.endPeek();
    spaceDownAt = 0;
  });
}

function run(event, action) {
  event.preventDefault();
  action();
}
