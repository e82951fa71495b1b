/**
 * The result of a verification: the evidence of a consent, or why it does not count. The sender of the recording learns
 * of the mismatches; `VerificationUnavailable` is our fault and worth another try; `SpeakerModelUnusable` stops the
 * start.
 */
import { Schema } from "effect"

/** The evidence of a verified consent, kept with the voice. */
export const ConsentEvidence = Schema.Struct({
  /** The words of the list that were heard, in order. */
  heardWords: Schema.Array(Schema.String),
  wordsMatched: Schema.Int,
  wordsAsked: Schema.Int,
  phraseEngine: Schema.String,
  /** Smaller is more alike; the unit depends on the method. */
  speakerDistance: Schema.Finite,
  speakerThreshold: Schema.Finite,
  speakerMethod: Schema.String,
  /** `weak` distinguishes vocal tracts, but not an imitator. */
  speakerStrength: Schema.Literals(["weak", "strong"])
})
export interface ConsentEvidence extends Schema.Schema.Type<typeof ConsentEvidence> {}

/** The recorded words are not the phrase. */
export class PhraseMismatch extends Schema.TaggedError<PhraseMismatch>()("PhraseMismatch", {
  heardWords: Schema.Array(Schema.String),
  wordsMatched: Schema.Int,
  wordsAsked: Schema.Int,
  wordsMin: Schema.Int
}) {
  override get message() {
    return `${this.wordsMatched} of the phrase's ${this.wordsAsked} words were heard in order; ${this.wordsMin} are needed`
  }
}

/** The phrase was read by a speaker other than that of the sample. */
export class SpeakerMismatch extends Schema.TaggedError<SpeakerMismatch>()("SpeakerMismatch", {
  distance: Schema.Finite,
  distanceMax: Schema.Finite,
  method: Schema.String
}) {
  override get message() {
    return "the voice of the consent recording is not the voice of the sample"
  }
}

/** `missing` is permanent; `busy` and `failed` can pass. */
export class VerificationUnavailable extends Schema.TaggedError<VerificationUnavailable>()("VerificationUnavailable", {
  stage: Schema.Literals(["phrase", "speaker", "verification"]),
  reason: Schema.Literals(["missing", "busy", "timeout", "failed"]),
  detail: Schema.String,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `the ${this.stage} check is not available (${this.reason}): ${this.detail}`
  }
}

export class SpeakerModelUnusable extends Schema.TaggedError<SpeakerModelUnusable>()("SpeakerModelUnusable", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `VoiceCloning.SpeakerModelFolder ${this.folder} cannot be used: ${this.detail}`
  }
}
