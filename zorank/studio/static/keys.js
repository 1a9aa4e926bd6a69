// The keyboard of the ranking page. The enlarged picture has keys of its own (enlarge.js).

const TYPING = "input:not([type=range]), textarea, select, [contenteditable]";
const HOLD_MILLISECONDS = 350;

export function bindKeys(actions) {
  let spaceDownAt = 0;

  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.(TYPING)) return;
    if (document.querySelector("dialog[open]:not(.enlarged)")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ((event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey) return run(event, actions.undo);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Shift changes what a digit key types, so the physical key tells which digit was meant.
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1] ?? (/^[1-9]$/.test(key) ? key : null);
    if (digit) return run(event, () => actions.pick(Number(digit) - 1, { tie: event.shiftKey }));

    const onCard = event.target.matches?.(".pick");
    const onOther = !onCard && event.target.closest?.("button, a, summary, [role=slider], input");
    if (key === "Enter") return onOther ? undefined : run(event, actions.enter);
    if (key === " ") {
      if (onOther) return undefined;
      if (!event.repeat) spaceDownAt = performance.now();
      return run(event, () => !event.repeat && actions.enlarge());
    }
    const bound = {
      z: actions.undo, s: actions.same, o: actions.others, n: actions.noneBetter, w: actions.worst,
      t: actions.tie, f: actions.flip, p: actions.playSound, c: actions.compare,
      "+": actions.better, "-": actions.worse, "?": actions.help, Escape: actions.clear,
      ArrowLeft: actions.focus, ArrowRight: actions.focus, ArrowUp: actions.focus, ArrowDown: actions.focus,
    }[key];
    if (!bound || (event.repeat && !key.startsWith("Arrow"))) return undefined;
    return run(event, () => bound(key));
  });

  // Held: a look that ends with the key. Pressed: stays until the next press.
  document.addEventListener("keyup", (event) => {
    if (event.key !== " " || !spaceDownAt) return;
    if (event.target.matches?.(".pick")) event.preventDefault();
    if (performance.now() - spaceDownAt > HOLD_MILLISECONDS) actions.endPeek();
    spaceDownAt = 0;
  });
}

function run(event, action) {
  event.preventDefault();
  action();
}
