// The ranking model: pure functions on frozen values, no DOM, so that it can be tested on its own
// and every earlier state can be kept for undo.
//
// groups: the places, best first; the positions within one group tie. worst: marked as worst.

export const EMPTY = Object.freeze({ groups: [], worst: [], tieNext: false });

const ranking = (groups, worst, tieNext = false) =>
  Object.freeze({ groups: groups.filter((group) => group.length > 0), worst, tieNext });

const without = (positions, position) => positions.filter((other) => other !== position);

const groupsWithout = (groups, position) => groups.map((group) => without(group, position));

export const isEmpty = ({ groups, worst }) => groups.length === 0 && worst.length === 0;

/** 1 for the best place, 0 when the position is not ranked. */
export const placeOf = ({ groups }, position) =>
  groups.findIndex((group) => group.includes(position)) + 1;

export const isTied = ({ groups }, position) =>
  groups.some((group) => group.length > 1 && group.includes(position));

export const isWorst = ({ worst }, position) => worst.includes(position);

/** The place that the next picked picture would take. */
export const nextPlace = ({ groups, tieNext }) =>
  tieNext ? Math.max(groups.length, 1) : groups.length + 1;

/** Ranks a picture next, or takes it back when it already has a place. */
export function pick(current, position, { tie = false } = {}) {
  if (placeOf(current, position)) return takeBack(current, position);
  const worst = without(current.worst, position);
  const joins = (tie || current.tieNext) && current.groups.length > 0;
  const groups = joins
    ? [...current.groups.slice(0, -1), [...current.groups.at(-1), position]]
    : [...current.groups, [position]];
  return ranking(groups, worst);
}

/** For questions with one answer: the new choice replaces the old one. */
export const pickOnly = (current, position) => ranking([[position]], []);

export const takeBack = (current, position) =>
  ranking(groupsWithout(current.groups, position), current.worst);

/** The next pick will share the last place; asking again takes this back. */
export const toggleTieNext = (current) =>
  ranking(current.groups, current.worst, !current.tieNext && current.groups.length > 0);

export const toggleWorst = (current, position) =>
  isWorst(current, position)
    ? ranking(current.groups, without(current.worst, position))
    : ranking(groupsWithout(current.groups, position), [...current.worst, position]);

/** Gives a picture a place of its own; those behind it move down. */
export function moveToPlace(current, position, place) {
  const rest = groupsWithout(current.groups, position).filter((group) => group.length > 0);
  const index = Math.min(Math.max(place - 1, 0), rest.length);
  return ranking(
    [...rest.slice(0, index), [position], ...rest.slice(index)],
    without(current.worst, position),
  );
}

/** One place better (-1) or worse (+1); a picture that has no place stays without one. */
export function shift(current, position, step) {
  const place = placeOf(current, position);
  if (!place) return current;
  // Leaving a tie downwards means the place behind the group, which exists once it has left.
  return moveToPlace(current, position, place + step);
}

/** A badge dragged onto another picture: that one takes the place, or the two change order. */
export function handOver(current, from, to) {
  if (from === to || !placeOf(current, from)) return current;
  const place = placeOf(current, to);
  if (place) return moveToPlace(current, from, place);
  const groups = current.groups.map((group) => group.map((other) => (other === from ? to : other)));
  return ranking(groups, without(current.worst, to));
}

/** What is sent to the server: all that are marked worst share one group. */
export const answerOf = ({ groups, worst }) => ({
  order: groups.map((group) => [...group]),
  worst: worst.length ? [[...worst]] : [],
});

/** A stored answer back into a ranking; anything that does not fit the slate gives EMPTY. */
export function fromAnswer(answer, count) {
  const groups = answer?.order ?? [];
  const worst = (answer?.worst ?? []).flat();
  if (!Array.isArray(groups) || !groups.every(Array.isArray)) return EMPTY;
  const named = [...groups.flat(), ...worst];
  const fits = named.every((p) => Number.isInteger(p) && p >= 0 && p < count);
  return fits && new Set(named).size === named.length ? ranking(groups, worst) : EMPTY;
}

export const sameRanking = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });
const ordinal = (place) => `${place}${{ one: "st", two: "nd", few: "rd" }[ordinals.select(place)] ?? "th"}`;

/** One position in words, for labels and announcements. */
export function describe(current, position) {
  const place = placeOf(current, position);
  if (place) return `${ordinal(place)} place${isTied(current, position) ? ", tied" : ""}`;
  return isWorst(current, position) ? "marked as worst" : "not ranked";
}
