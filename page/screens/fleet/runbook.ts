/** A runbook of docs/runbooks.md, as the page shows it: labelled paragraphs of words and code. Pure. */

export interface Step {
  /** `Means`, `Look at`, `Do`. */
  readonly label: string
  readonly parts: ReadonlyArray<Part>
}

export interface Part {
  readonly text: string
  readonly isCode: boolean
}

/** Its steps in their order; none where the document has no such heading. */
export const runbookIn = (document: string, heading: string): ReadonlyArray<Step> => {
  const [, section = ""] = document.split(`\n### ${heading}\n`)
  const [own = ""] = section.split(/^#{2,4} /mu)
  return own
    .split(/^- /mu)
    .slice(1)
    .map((item) => {
      const [, label = "", words = ""] = /^([A-Z][\w ]*): ([\s\S]*)$/u.exec(item.trim()) ?? ["", "", item.trim()]
      return { label, parts: partsOf(words.replaceAll(/\s+/gu, " ")) }
    })
}

/** Links become their words: the page has no other document. */
const partsOf = (words: string): ReadonlyArray<Part> =>
  words
    .replaceAll(/\[([^[\]]+)\]\([^()]*\)/gu, "$1")
    .split("`")
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== "")
