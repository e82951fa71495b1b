import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** A text, and the ways in which a careful speaker of its language reads it aloud. */
export interface SaidCase {
  readonly kind: string
  readonly source: string
  readonly locale: string
  readonly written: string
  readonly said: ReadonlyArray<string>
  readonly line: number
}

const folder = join(dirname(fileURLToPath(import.meta.url)), "cases")

const locales: Record<string, string> = { en: "en-US", de: "de-DE", es: "es-ES", fr: "fr-FR", it: "it-IT", pt: "pt-BR" }

export const languagesWithCases = readdirSync(folder).map((name) => name.replace(".txt", ""))

const unescaped = (text: string) => text.trim().replaceAll("\\n", "\n")

/**
 * The cases of `cases/<language>.txt`. `# kind:`, `# source:` and `# locale:` hold for the lines below them; a kind
 * starts without a source and in the language's own locale. A line is `written → said | said`, with `\n` for a line
 * break; below the kind `unchanged` a line without an arrow is said as it is written.
 */
export const casesOf = (language: string): ReadonlyArray<SaidCase> => {
  const locale = locales[language] ?? language
  let heading = { kind: "", source: "", locale }
  const cases: Array<SaidCase> = []
  for (const [index, text] of readFileSync(join(folder, `${language}.txt`), "utf8")
    .split("\n")
    .entries()) {
    const at = text.lastIndexOf(" → ")
    const [, name, value = ""] = at < 0 ? (/^# (kind|source|locale): (.+)$/.exec(text) ?? []) : []
    if (name === "kind") heading = { kind: value, source: "", locale }
    else if (name !== undefined) heading = { ...heading, [name]: value }
    else if (text.trim() !== "") {
      const written = unescaped(at < 0 ? text : text.slice(0, at))
      const said =
        at < 0
          ? [written]
          : text
              .slice(at + 3)
              .split(" | ")
              .map(unescaped)
      cases.push({ ...heading, written, said, line: index + 1 })
    }
  }
  return cases
}

/** Letters that are spelled: single ones, and words of capitals with the "s" of a plural. */
const spelled = /(?<![\p{L}'])(?:\p{Lu}+s?|\p{L})(?: (?:\p{Lu}+s?|\p{L})(?!\p{L}))+/gu

/**
 * Two readings with the same words and ends of sentences are heard alike: capitals, hyphens, commas, and the spaces
 * between spelled letters ("P M", "PM") and before the end of a sentence make no difference.
 */
export const asHeard = (text: string): string =>
  text
    .replaceAll("’", "'")
    .replaceAll(/[-‑\s]+/gu, " ")
    .replaceAll(",", "")
    .replaceAll(/ +([.!?])/gu, "$1")
    .replaceAll(spelled, (letters) => letters.replaceAll(" ", ""))
    .toLowerCase()
    .trim()
