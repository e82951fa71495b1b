/** A paragraph of a runbook, as the page shows it: words and code. Pure. */

export interface Part {
  readonly text: string
  readonly isCode: boolean
}

/** Links become their words: the page has no other document. */
export const partsOf = (paragraph: string): ReadonlyArray<Part> =>
  paragraph
    .replaceAll(/\[([^[\]]+)\]\([^()]*\)/gu, "$1")
    .split("`")
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== "")
