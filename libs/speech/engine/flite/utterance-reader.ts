/** Reads out of a planned utterance which token of the text is said by which words, and when each begins. */
import type { LibraryHandle } from "koffi"

export interface PlannedWord {
  /** The token of the text that it says, as it stands there; several words may say one. */
  readonly token: string
  readonly isFirstOfToken: boolean
  readonly sample: number
}

export interface Planned {
  readonly words: ReadonlyArray<PlannedWord>
  /** Where the last word ends; what follows is a pause. */
  readonly speechEnd: number
}

const tokensMax = 2000
const startPath = "R:SylStructure.daughter.daughter.R:Segment.p.end"
const endPath = "R:SylStructure.daughtern.daughtern.R:Segment.end"

export const makeUtteranceReader = (library: LibraryHandle, hz: number): ((utterance: bigint) => Planned) => {
  const relation = library.func("void *utt_relation(void *, const char *)")
  const head = library.func("void *relation_head(void *)")
  const next = library.func("void *item_next(void *)")
  const daughter = library.func("void *item_daughter(void *)")
  // Only ever asked for features of the type they have: the library ends the process over any other.
  const text = library.func("const char *flite_ffeature_string(void *, const char *)")
  const number = library.func("float flite_ffeature_float(void *, const char *)")

  const siblings = (first: bigint | null) => {
    const all: Array<bigint> = []
    for (let item = first; item !== null && all.length < tokensMax; item = next(item) as bigint | null) all.push(item)
    return all
  }
  return (utterance) => {
    const words: Array<PlannedWord> = []
    let speechEnd = 0
    for (const token of siblings(head(relation(utterance, "Token")) as bigint | null)) {
      const name = text(token, "name") as string
      let isFirstOfToken = true
      for (const word of siblings(daughter(token) as bigint | null)) {
        const seconds = number(word, startPath) as number
        // Before every first word lies a pause; 0 is said of a word without a sound.
        if (seconds <= 0) continue
        words.push({ token: name, isFirstOfToken, sample: Math.round(seconds * hz) })
        isFirstOfToken = false
        speechEnd = Math.max(speechEnd, Math.round((number(word, endPath) as number) * hz))
      }
    }
    return { words, speechEnd }
  }
}
