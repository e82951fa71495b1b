/** What a verified consent rests on, kept with the voice. */
import { Schema } from "effect"

export const ConsentEvidence = Schema.Struct({
  /** The words of the list that were heard, in order. */
  heardWords: Schema.Array(Schema.String),
  wordsMatched: Schema.Int,
  wordsAsked: Schema.Int,
  phraseEngine: Schema.String,
  /** Smaller is more alike; the unit is the method's own. */
  speakerDistance: Schema.Finite,
  speakerThreshold: Schema.Finite,
  speakerMethod: Schema.String,
  /** `weak` tells different throats apart, not an imitator. */
  speakerStrength: Schema.Literals(["weak", "strong"])
})
export interface ConsentEvidence extends Schema.Schema.Type<typeof ConsentEvidence> {}
