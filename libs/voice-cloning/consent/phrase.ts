/**
 * The phrase that a speaker reads to consent: an agreement, then five words of a fixed list. The list has common words
 * of two and more syllables that sound unlike each other and stand in the recogniser's dictionary. 50 words give 254
 * million phrases, so a recording made for one challenge does not answer another.
 */
import { randomInt } from "node:crypto"
import { Effect } from "effect"

interface ConsentPhrase {
  /** Shown to the speaker exactly like this. */
  readonly phrase: string
  /** The words to listen for, lower-case. */
  readonly words: ReadonlyArray<string>
}

export const phraseWordsAsked = 5

/** The spoken text before the words. */
export const carrierSentences = ["i agree to have my voice cloned", "my words are"] as const

export const phraseWordList: ReadonlyArray<string> = [
  "alphabet",
  "banana",
  "basket",
  "blanket",
  "butterfly",
  "camera",
  "candle",
  "carpet",
  "chicken",
  "cinnamon",
  "diamond",
  "dolphin",
  "elephant",
  "envelope",
  "fisherman",
  "forest",
  "garden",
  "guitar",
  "hammer",
  "harvest",
  "helicopter",
  "hospital",
  "island",
  "jacket",
  "kangaroo",
  "kitchen",
  "lemon",
  "library",
  "magnet",
  "marble",
  "mountain",
  "mushroom",
  "november",
  "ocean",
  "orange",
  "paper",
  "pencil",
  "piano",
  "potato",
  "pumpkin",
  "rainbow",
  "rocket",
  "saturday",
  "silver",
  "telephone",
  "thunder",
  "tomato",
  "umbrella",
  "violin",
  "window"
]

/** Five different random words; `below` returns a whole number from 0 up to, not including, its argument. */
export const makePhrase = (below: (bound: number) => number): ConsentPhrase => {
  const left = [...phraseWordList]
  const words = Array.from({ length: phraseWordsAsked }, () => left.splice(below(left.length), 1).join(""))
  return { phrase: `I agree to have my voice cloned. My words are: ${words.join(", ")}.`, words }
}

/** Unpredictable: the words come from the system's generator for secrets. */
export const newPhrase: Effect.Effect<ConsentPhrase> = Effect.sync(() => makePhrase((bound) => randomInt(bound)))
