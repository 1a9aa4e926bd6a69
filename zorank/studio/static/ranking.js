// The ranking as a value: pure functions on frozen objects, without DOM. Undo keeps earlier values.
//
// groups: the places, best first; the positions within one group tie. worst: marked as worst.
// picked: in a judge's order, the positions that the person moved to the front; else null.

export const EMPTY = Object.freeze({ groups: [], worst: [], tieNext: false, picked: null });

const ranking = (groups, worst, { tieNext = false, picked = null } = {}) =>
  Object.freeze({ groups: groups.filter((group) => group.length > 0), worst, tieNext, picked });

const without = (positions, position) => positions.filter((other) => other !== position);

const groupsWithout = (groups, position) => groups.map((group) => without(group, position));

export const isEmpty = ({ groups, worst }) => groups.length === 0 && worst.length === 0;

/** 1 for the best place, 0 when the position is not ranked. */
export const placeOf = ({ groups }, position) =>
  groups.findIndex((group) => group.includes(position)) + 1;

export const isTied = ({ groups }, position) =>
  groups.some((group) => group.length > 1 && group.includes(position));

/** Whether a place is still the judge's. */
export const isProposed = ({ picked }, position) => picked !== null && !picked.includes(position);

export const isWorst = ({ worst }, position) => worst.includes(position);

/** How many places precede the next pick: all, or those that the person gave. */
function settled({ groups, picked }) {
  const first = picked ? groups.findIndex((group) => !group.some((position) => picked.includes(position))) : -1;
  return first === -1 ? groups.length : first;
}

/** The place that the next picked picture would take. */
export const nextPlace = (current) =>
  current.tieNext ? Math.max(settled(current), 1) : settled(current) + 1;

/** A judge's order: picks go to its front, one after another. */
export const toCorrect = ({ groups, worst }) => ranking(groups, worst, { picked: [] });

/** Ranks a picture next, or removes it if the person had ranked it. */
export function pick(current, position, { tie = false } = {}) {
  const { picked } = current;
  if (picked ? picked.includes(position) : placeOf(current, position)) return takeBack(current, position);
  const rest = ranking(groupsWithout(current.groups, position), without(current.worst, position), { picked });
  const place = settled(rest);
  const before = rest.groups.slice(0, place);
  const joins = (tie || current.tieNext) && place > 0;
  const groups = joins
    ? [...before.slice(0, -1), [...before.at(-1), position], ...rest.groups.slice(place)]
    : [...before, [position], ...rest.groups.slice(place)];
  return ranking(groups, rest.worst, { picked: picked && [...picked, position] });
}

/** For questions with one answer: the new choice replaces the old one. */
export const pickOnly = (current, position) => ranking([[position]], []);

const pickedWithout = ({ picked }, position) => ({ picked: picked && without(picked, position) });

export const takeBack = (current, position) =>
  ranking(groupsWithout(current.groups, position), current.worst, pickedWithout(current, position));

/** Toggles whether the next pick ties with the last. */
export const toggleTieNext = (current) =>
  ranking(current.groups, current.worst, { tieNext: !current.tieNext && settled(current) > 0, picked: current.picked });

export const toggleWorst = (current, position) =>
  isWorst(current, position)
    ? ranking(current.groups, without(current.worst, position), { picked: current.picked })
    : ranking(groupsWithout(current.groups, position), [...current.worst, position], pickedWithout(current, position));

/** Gives a picture a place of its own; those behind it move down. */
export function moveToPlace(current, position, place) {
  const { picked } = pickedWithout(current, position);
  const rest = ranking(groupsWithout(current.groups, position), without(current.worst, position), { picked });
  const index = Math.min(Math.max(place - 1, 0), rest.groups.length);
  // At the front it joins the person's picks; further down it only changes the judge's order.
  const joins = picked && index <= settled(rest);
  return ranking(
    [...rest.groups.slice(0, index), [position], ...rest.groups.slice(index)],
    rest.worst,
    { picked: joins ? [...picked, position] : picked },
  );
}

/** One place better (-1) or worse (+1); a picture that has no place stays without one. */
export function shift(current, position, step) {
  const place = placeOf(current, position);
  if (!place) return current;
  // Leaving a tie downwards: the place after the group exists once the picture has left it.
  return moveToPlace(current, position, place + step);
}

/** A badge dragged onto another picture: that picture takes its place, or the two swap. */
export function handOver(current, from, to) {
  if (from === to || !placeOf(current, from)) return current;
  const place = placeOf(current, to);
  if (place) return moveToPlace(current, from, place);
  const groups = current.groups.map((group) => group.map((other) => (other === from ? to : other)));
  return ranking(groups, without(current.worst, to), pickedWithout(current, from));
}

/** All positions that have a place or are marked worst. */
export const named = ({ groups, worst }) => [...groups.flat(), ...worst];

/** Whether the order of all pictures is clear: at most one is left without a place. */
export const isDecided = (current, count) => named(current).length >= Math.max(count - 1, 1);

/** The body of an answer: all positions marked worst share one group. */
export const answerOf = ({ groups, worst }) => ({
  order: groups.map((group) => [...group]),
  worst: worst.length ? [[...worst]] : [],
});

/** A stored answer as a ranking; EMPTY if it does not fit the slate. */
export function fromAnswer(answer, count) {
  const groups = answer?.order ?? [];
  const worst = (answer?.worst ?? []).flat();
  if (!Array.isArray(groups) || !groups.every(Array.isArray)) return EMPTY;
  const positions = named({ groups, worst });
  const fits = positions.every((p) => Number.isInteger(p) && p >= 0 && p < count);
  return fits && new Set(positions).size === positions.length ? ranking(groups, worst) : EMPTY;
}

export const sameRanking = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });
const ordinal = (place) => `${place}${{ one: "st", two: "nd", few: "rd" }[ordinals.select(place)] ?? "th"}`;

/** Describes one position, for labels and announcements. */
export function describe(current, position) {
  const place = placeOf(current, position);
  if (place) return `${ordinal(place)} place${isTied(current, position) ? ", tied" : ""}`;
  return isWorst(current, position) ? "marked as worst" : "not ranked";
}
