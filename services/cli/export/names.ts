/** Names of generated types: each once, and none that the languages have. Pure. */

export interface Names {
  /** A free name made of these words. */
  readonly of: (...words: ReadonlyArray<string>) => string
}

const reserved = [
  "Any",
  "Array",
  "Envelope",
  "Event",
  "Literal",
  "None",
  "NotRequired",
  "Object",
  "Readonly",
  "ReadonlyArray",
  "Record",
  "False",
  "True",
  "TypedDict",
  "Union"
]

export const newNames = (): Names => {
  const taken = new Set(reserved)
  return {
    of: (...words) => {
      const joined = words
        .flatMap((word) => word.split(/[^a-zA-Z0-9]+/u))
        .map((part) => `${part.slice(0, 1).toUpperCase()}${part.slice(1)}`)
        .join("")
      const plain = /^[A-Za-z]/u.test(joined) ? joined : `Event${joined}`
      const base = taken.has(plain) ? `Event${plain}` : plain
      let name = base
      for (let count = 2; taken.has(name); count += 1) name = `${base}${count}`
      taken.add(name)
      return name
    }
  }
}

/** A description as one line that ends no comment. */
export const inOneLine = (text: string): string =>
  text
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .replaceAll("*/", "* /")
    .trim()
