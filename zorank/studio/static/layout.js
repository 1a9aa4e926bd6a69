// Grid arithmetic without DOM: the number of columns, and neighbours.

/** The grid that shows `count` pictures of one aspect ratio (width / height) as large as it can. */
export function largestGrid({ count, width, height, aspect = 1, gap = 14 }) {
  let best = { columns: 1, cardWidth: 0 };
  for (let columns = 1; columns <= Math.max(count, 1); columns += 1) {
    const rows = Math.ceil(count / columns);
    const byWidth = (width - gap * (columns - 1)) / columns;
    const byHeight = ((height - gap * (rows - 1)) / rows) * aspect;
    const cardWidth = Math.floor(Math.min(byWidth, byHeight));
    if (cardWidth > best.cardWidth) best = { columns, cardWidth };
  }
  return best;
}

/** The neighbour of a card in a grid, or the card itself at the border. */
export function neighbour({ index, count, columns, key }) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  const target = index + step;
  return target >= 0 && target < count ? target : index;
}
