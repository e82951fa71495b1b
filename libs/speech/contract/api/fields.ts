/** The fields that requests and answers of speech share, in our own dialect and in OpenAI's. */
import { Schema } from "effect"
import { describe } from "#base"

export const Name = Schema.String.check(Schema.isBetweenLength(1, 128))

export const VoiceId = Name.pipe(describe("The id of a voice, from the list of voices."))

/** A language and a region, as in `en-US`; a bare language is treated as a range. */
export const Language = Schema.String.check(Schema.isPattern(/^[A-Za-z]{2,3}(-[A-Za-z]{2})?$/u))

export const Input = Schema.String.check(Schema.isMinLength(1)).pipe(
  describe("Plain text, or SSML when it begins with `<speak>`. Emotion, pitch, rate and pauses are set through SSML.")
)

/** OpenAI's range. */
export const speedRange = { minimum: 0.25, maximum: 4 } as const

export const Speed = Schema.optionalKey(Schema.Finite.check(Schema.isBetween(speedRange))).pipe(
  describe(
    "How many times as fast as the voice's own pace, 0.25 to 4. Rates of SSML are relative to it, and marks stay true. " +
      "Every voice does all of it: models speak at their own pace, espeak-ng at 0.46 and more, flite all of it, " +
      "and what is beyond is stretched in time."
  )
)

export const Base64 = Schema.String.annotate({ contentEncoding: "base64" })
