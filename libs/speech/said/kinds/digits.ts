/** Rows of digits that nobody reads as a number: codes behind their name, and post codes. Pure. */
import type { Kind, Language } from "../language.ts"
import { digitByDigit } from "../number.ts"
import { following, previousCore, said, wordAt } from "../word.ts"

/** The first of those that read a word with digits in it. */
export const withDigits =
  (...kinds: ReadonlyArray<Kind>): Kind =>
  (place, language) => {
    if (!/\d/u.test(wordAt(place)?.core ?? "")) return undefined
    for (const kind of kinds) {
      const spoken = kind(place, language)
      if (spoken !== undefined) return spoken
    }
    return undefined
  }

/** `names`: "PIN", "Code". Five digits before a town are a post code: "Weg 5, 10115 Berlin". */
export const rowOfDigits =
  (names: RegExp): Kind =>
  (place, language) => {
    const digits = wordAt(place)?.core ?? ""
    if (!/^(?:-\d{2,4}|\d{3,12}|\d[\d.-]{4,18}\d)$/u.test(digits) || /^\d/u.test(following(place)?.core ?? ""))
      return undefined
    const [previous, before] = [previousCore(place), wordAt(place, -2)?.core ?? ""]
    const isCode = names.test(previous) || (/^(?:ist|lautet|es|est|è|é|:)$/u.test(previous) && names.test(before))
    // Where every noun has a capital, only a house number tells a town from what is counted.
    const isPostCode =
      digits.length === 5 &&
      (language.startsSentence === undefined || /^\d{1,4}\p{L}?$/u.test(previous)) &&
      wordAt(place, -1)?.trail === "," &&
      /^\p{Lu}/u.test(wordAt(place, 1)?.core ?? "")
    return isCode || isPostCode ? said(sayGroups(digits, language)) : undefined
  }

const sayGroups = (written: string, language: Language) =>
  Array.from(written.matchAll(/\d+/gu), ([group]) => digitByDigit(group, language)).join(", ")
