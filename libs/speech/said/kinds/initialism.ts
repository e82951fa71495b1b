/** Initialisms that voices would read as words: they are spelled. Those that people read as words stay. Pure. */
import type { Kind } from "../language.ts"
import { said, wordAt } from "../word.ts"

const written = /^((?:\p{L}{1,5}['’])?)(\p{Lu}{2,5})((?:['’]?s)?)$/u

/** `names`: those that have vowels. An article may run into one, and a plural or a possessive belongs to it. */
export const initialism = (names: string): Kind => {
  const spelled = new Set(names.split(" "))
  return (place) => {
    const core = wordAt(place)?.core ?? ""
    const [, article = "", letters = "", tail] = /\p{Lu}{2}/u.test(core) ? (written.exec(core) ?? []) : []
    if (letters === "") return undefined
    const isReadable = /[AEIOUYÄÖÜ]/u.test(letters) || /^[IVX]+$/u.test(letters)
    return isReadable && !spelled.has(letters) ? undefined : said(`${article}${spell(letters, tail)}`)
  }
}

/** "G P Us" would be heard as "us". */
export const spell = (letters: string, tail = ""): string => Array.from(letters).join(" ") + (tail === "" ? "" : "'s")
