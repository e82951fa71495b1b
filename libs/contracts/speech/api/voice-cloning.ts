/** The bodies of voice cloning, as callers send and get them: the challenge, the form, and their limits. */
import { Schema } from "effect"
import { describe, Timestamp } from "../../primitives.ts"

/** Bytes of UTF-8. */
export const fullNameBytesMax = 120
/** Characters, without surrounding blanks. */
export const voiceNameCharactersMax = 100
export const sampleBytesMax = 25_000_000
export const consentRecordingBytesMax = 25_000_000
export const avatarBytesMax = 2_000_000
const idempotencyKeyCharactersMax = 255

const IdempotencyKey = Schema.String.check(Schema.isBetweenLength(1, idempotencyKeyCharactersMax)).pipe(
  describe(
    "A key of yours, so that a repeated request is answered with the first one's answer for 24 hours. Also as header."
  )
)

/** The route checks the name's length, because its fault says how long the name was. */
export const ConsentChallengeRequest = Schema.Struct({
  full_name: Schema.String.pipe(describe(`Who will speak; at most ${fullNameBytesMax} bytes of UTF-8.`)),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "ConsentChallengeRequest" })
export interface ConsentChallengeRequest extends Schema.Schema.Type<typeof ConsentChallengeRequest> {}

export const ConsentChallenge = Schema.Struct({
  id: Schema.String.pipe(describe("For `consent_challenge_id`, once.")),
  phrase: Schema.String.pipe(describe("To be shown to the speaker exactly like this.")),
  expires_at: Timestamp
}).annotate({ identifier: "ConsentChallenge" })
export interface ConsentChallenge extends Schema.Schema.Type<typeof ConsentChallenge> {}

export const voiceGenders = ["male", "female", "not_specified", "notSpecified"] as const

const File = Schema.String.annotate({ contentEncoding: "binary" })

/** The parts of the form, for the description of the API; the form itself is read from a stream. */
export const VoiceForm = Schema.Struct({
  name: Schema.String.check(Schema.isBetweenLength(1, voiceNameCharactersMax)).pipe(
    describe("What the voice is called.")
  ),
  gender: Schema.Literals(voiceGenders).pipe(describe("`notSpecified` is the old spelling of `not_specified`.")),
  sample: File.pipe(
    describe(
      "10 to 30 seconds of clean speech in any common audio container, at most 25 MB. The voice is made from it."
    )
  ),
  consent_challenge_id: Schema.optionalKey(Schema.String).pipe(
    describe("Of a challenge that has not been named before. Needed, except by callers of old.")
  ),
  consent_recording: Schema.optionalKey(File).pipe(
    describe(
      "The same person reading the phrase: 5 to 30 seconds in any common audio container, at most 25 MB. " +
        "Kept as the record of consent. Needed with a challenge."
    )
  ),
  consent: Schema.optionalKey(Schema.String).pipe(
    describe(
      'Deprecated: from callers pinned before 2026-09-13 `{"fullName", "email"}` as JSON instead of a challenge.'
    )
  ),
  locale: Schema.optionalKey(Schema.String).pipe(describe("The voice's own language and region; en-US without it.")),
  avatar: Schema.optionalKey(File).pipe(describe("A picture: PNG, JPEG or WebP, at most 2 MB.")),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "VoiceForm" })
export interface VoiceForm extends Schema.Schema.Type<typeof VoiceForm> {}

/** The `consent` of the flow without a challenge, which is JSON in a field. */
export const DeclaredConsent = Schema.Struct({
  fullName: Schema.String,
  email: Schema.String.check(Schema.isMaxLength(254), Schema.isPattern(/^[^\s@]+@[^\s@]+$/u))
})
export interface DeclaredConsent extends Schema.Schema.Type<typeof DeclaredConsent> {}
