// Dragging with pointer events: the same code serves mouse, pen and touch.

const THRESHOLD = 5;

/** Ignores the click event that ends a drag or a long press. */
export function swallowNextClick() {
  const swallow = (click) => {
    click.stopPropagation();
    click.preventDefault();
  };
  addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", swallow, true), 50);
}

/**
 * Makes `handle` draggable. A copy of it follows the pointer, and `source` is styled meanwhile.
 * `targetAt` returns what is at a point of the window, `mark` highlights it (null: nothing), and
 * `drop` gets it at the end. A press that does not move stays a click.
 */
export function draggable(handle, { source = handle, targetAt, mark, drop }) {
  handle.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    down.stopPropagation(); // Or the card underneath would take it for a long press.
    const box = handle.getBoundingClientRect();
    let ghost = null;

    const begin = () => {
      ghost = handle.cloneNode(true);
      for (const node of [ghost, ...ghost.querySelectorAll("[data-testid]")]) delete node.dataset.testid;
      ghost.classList.add("drag-ghost");
      ghost.setAttribute("aria-hidden", "true");
      Object.assign(ghost.style, { width: `${box.width}px`, height: `${box.height}px`, background: getComputedStyle(handle).backgroundColor, left: `${box.left}px`, top: `${box.top}px` });
      document.body.append(ghost);
      document.documentElement.classList.add("dragging");
      handle.setPointerCapture(down.pointerId);
      source.classList.add("drag-source");
    };
    const move = (event) => {
      const dx = event.clientX - down.clientX;
      const dy = event.clientY - down.clientY;
      if (!ghost && Math.hypot(dx, dy) < THRESHOLD) return;
      if (!ghost) begin();
      ghost.style.transform = `translate(${dx}px, ${dy}px)`;
      mark(targetAt({ x: event.clientX, y: event.clientY }));
    };
    const finish = (event) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", finish);
      removeEventListener("pointercancel", finish);
      removeEventListener("keydown", escape, true);
      if (!ghost) return;
      ghost.remove();
      document.documentElement.classList.remove("dragging");
      swallowNextClick();
      source.classList.remove("drag-source");
      mark(null);
      if (event.type === "pointerup") drop(targetAt({ x: event.clientX, y: event.clientY }));
    };
    const escape = (event) => {
      if (event.key !== "Escape" || !ghost) return;
      event.stopPropagation();
      finish(event);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", finish);
    addEventListener("pointercancel", finish);
    addEventListener("keydown", escape, true);
  });
}
