/**
 * What the recogniser may hear. It bends what it hears into the grammar, so the grammar holds what must not pass:
 * any word of the list in every place, so that another phrase is heard as other words; and openings that deny
 * the agreement or leave it out, so that these are not heard as the agreement. Pure.
 */
import { carrierSentences, phraseWordList, phraseWordsAsked } from "./phrase.ts"

const [agreement, lead] = carrierSentences
const carrier = `${agreement} ${lead}`

const denials = ["do not agree", "don't agree", "never agree", "disagree", "refuse"].map((denial) =>
  carrier.replace("agree", denial)
)

export const phraseGrammar = (): string => {
  const words = Array.from({ length: phraseWordsAsked }, () => "<word>").join(" ")
  return [
    "#JSGF V1.0;",
    "grammar consent;",
    `public <consent> = [<opening>] ${words};`,
    `<opening> = ${[carrier, ...denials, lead].join(" | ")};`,
    `<word> = ${phraseWordList.join(" | ")};`,
    ""
  ].join("\n")
}

/** The words of the list in what was heard; none when it does not open with the agreement. */
export const wordsHeard = (hypothesis: string): ReadonlyArray<string> => {
  const heard = hypothesis.trim()
  return heard.startsWith(`${carrier} `) ? heard.split(" ").filter((word) => listed.has(word)) : []
}

const listed: ReadonlySet<string> = new Set(phraseWordList)

const spoken: ReadonlySet<string> = new Set([...[carrier, ...denials].join(" ").split(" "), ...phraseWordList])

/** The lines of a pronouncing dictionary that the grammar needs: loading all of it takes as long as listening. */
export const phraseDictionary = (dictionary: string): string =>
  dictionary
    .split("\n")
    .filter((line) => spoken.has(line.split(/[ (]/u, 1)[0] ?? ""))
    .join("\n")
    .concat("\n")

/** The words that a dictionary, whole or cut down, does not know; a grammar with one of them cannot be used. */
export const wordsMissing = (dictionary: string): ReadonlyArray<string> => {
  const known = new Set(dictionary.split("\n").map((line) => line.split(/[ (]/u, 1)[0]))
  return [...spoken].filter((word) => !known.has(word))
}
