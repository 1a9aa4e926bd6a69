// Browser storage: the selection in progress and the rater's name survive a reload.

const selectionKey = (run, index) => `zorank-selection-${run}-${index}`;
const NAME = "zorank-rater";

function quietly(action) {
  try {
    return action();
  } catch {
    return null; // Storage may be full or forbidden; the page works without it.
  }
}

export const keepSelection = (run, index, answer) =>
  quietly(() => sessionStorage.setItem(selectionKey(run, index), JSON.stringify(answer)));

export const keptSelection = (run, index) =>
  quietly(() => JSON.parse(sessionStorage.getItem(selectionKey(run, index))));

export const dropSelection = (run, index) =>
  quietly(() => sessionStorage.removeItem(selectionKey(run, index)));

export const raterName = () => quietly(() => localStorage.getItem(NAME));
export const keepRaterName = (name) => quietly(() => localStorage.setItem(NAME, name));
