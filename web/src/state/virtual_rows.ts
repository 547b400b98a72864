// Which rows of a long table stand on the page, and how high a row is: so that ten thousand rows
// cost no more than the screen holds. Pure.

export interface RowRange {
  first: number;
  end: number; // one past the last
}

// Rows above and below the screen. At rest there are enough of them that scrolling shows no gap;
// in a hurry, when a frame moves by much of a screen, most would be gone before they are seen.
export const kRowsBeside = { atRest: 12, inAHurry: 1 };

export function isHurried(movedBy: number, screenHeight: number): boolean {
  return Math.abs(movedBy) > screenHeight / 3;
}

// `top`: of the first row above the upper edge of the screen, px; negative while it is below it.
export function visibleRows(
  top: number,
  screenHeight: number,
  rowHeight: number,
  total: number,
  rowsBeside: number,
): RowRange {
  const first = Math.max(0, Math.floor(top / rowHeight) - rowsBeside);
  const end = Math.ceil((top + screenHeight) / rowHeight) + rowsBeside;
  return { first: Math.min(first, total), end: Math.min(Math.max(end, 0), total) };
}

export interface RowLayout {
  isCards: boolean; // a row is a card of its own: not even the needed columns fit side by side
  cardColumns: number;
  rowHeight: number; // px, the gap below a card included
}

export const kTableRowHeight = 58;
const kCardLineHeight = 62; // a label, its value and what is said of it, and the space below
const kCardHeadHeight = 58; // the name, on two lines
const kCardEdges = 40; // padding, border and gap
const kCardColumnWidthMin = 148; // the gap beside it included
const kCardPadding = 34;
const kTableWidthMin = 560; // px: a phone that is held upright has less

// `cells`: how many places of a card a run takes, the name's aside.
export function rowLayout(available: number, cells: number): RowLayout {
  if (available >= kTableWidthMin) {
    return { isCards: false, cardColumns: 0, rowHeight: kTableRowHeight };
  }
  const cardColumns = Math.max(2, Math.floor((available - kCardPadding) / kCardColumnWidthMin));
  const lines = Math.ceil(cells / cardColumns);
  return {
    isCards: true,
    cardColumns: Math.min(cardColumns, cells),
    rowHeight: kCardEdges + kCardHeadHeight + lines * kCardLineHeight,
  };
}
