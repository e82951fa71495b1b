/**
 * Voices, as callers list, clone and delete them, and their routes: the catalogue, the workspace's own, and the consent
 * by which one is cloned.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { guarded, NullIsAbsent } from "#base/http"
import { describe, documentedAs, Timestamp } from "#base"
import { speechEndpoints } from "./error-codes.ts"
import { Name } from "./fields.ts"
import { VoiceQuality } from "../voice-quality.ts"

export const voicesPageMax = 200
export const voicesPageDefault = 50

/** Digits, because parameters are text on the wire. */
const Limit = Schema.String.check(Schema.isPattern(/^\d{1,6}$/u)).pipe(
  documentedAs({ type: "integer", minimum: 1, maximum: voicesPageMax })
)

export const VoicesQuery = Schema.Struct({
  cursor: Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 512))).pipe(
    describe("`next_cursor` of the page before. The filters must be the same.")
  ),
  limit: Schema.optionalKey(Limit).pipe(
    describe(`Voices per page, 1 to ${voicesPageMax}. Without limit and cursor all voices are one page.`)
  ),
  type: Schema.optionalKey(Schema.Literals(["personal", "shared"])).pipe(
    describe("`shared` is the catalogue, `personal` what the workspace has cloned.")
  ),
  locale: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9-]{1,35}$/u))).pipe(
    describe("A range of locales: `en` takes en-US and en-GB, `en-US` only itself. Case does not matter.")
  ),
  gender: Schema.optionalKey(Schema.Literals(["male", "female", "not_specified", "notSpecified"])).pipe(
    describe("`notSpecified` is the old spelling of `not_specified`.")
  ),
  model: Schema.optionalKey(Name).pipe(describe("Voices that speak with this model."))
})
export interface VoicesQuery extends Schema.Schema.Type<typeof VoicesQuery> {}

const preview = Schema.optionalKey(Schema.NullOr(Schema.String)).pipe(
  describe("Where a voice of the catalogue is heard, from the API's own address and with the same token.")
)

const VoiceLanguage = Schema.Struct({
  locale: Schema.String,
  preview_audio: preview
}).annotate({ identifier: "VoiceLanguage" })

export const Voice = Schema.Struct({
  id: Schema.String,
  display_name: Schema.String,
  gender: Schema.Literals(["male", "female", "not_specified", "notSpecified"]).pipe(
    describe("Callers of old get `notSpecified` for `not_specified`.")
  ),
  locale: Schema.String,
  type: Schema.Literals(["shared", "personal"]).pipe(describe("`personal` voices are the workspace's own, cloned.")),
  models: Schema.Array(Schema.Struct({ name: Schema.String, languages: Schema.Array(VoiceLanguage) })).pipe(
    describe("The models the voice speaks with, and its languages with each; its own first.")
  ),
  avatar_image: Schema.optionalKey(Schema.NullOr(Schema.String)).pipe(
    describe("Where the picture of a cloned voice is, from the API's own address and with the same token.")
  ),
  preview_audio: preview,
  quality: Schema.optionalKey(VoiceQuality).pipe(
    describe(
      "How the voice is heard, by what recognisers mistake of it: `natural` as a person, `clear` is understood, of " +
        "`basic` words are lost. Absent for voices that nobody judged: cloned ones, and most of the operator's own."
    )
  ),
  real_time: Schema.optionalKey(Schema.Boolean).pipe(
    describe(
      "`false` for a voice that takes longer to speak than to be heard: whole answers alone are spoken with it, and " +
        "what is played as it comes is refused with `voice_not_real_time`. Absent for all others."
    )
  ),
  tags: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "Voice" })
export interface Voice extends Schema.Schema.Type<typeof Voice> {}

export const VoiceList = Schema.Struct({
  voices: Schema.Array(Voice),
  next_cursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page.")),
  has_more: Schema.Boolean
}).annotate({ identifier: "VoiceList" })
export interface VoiceList extends Schema.Schema.Type<typeof VoiceList> {}

/** Before version 2026-07-07 the voices were the entire answer. */
const VoiceListOfAnyVersion = Schema.Union(
  [VoiceList, Schema.Array(Voice).annotate({ description: "For callers of old." })],
  { mode: "oneOf" }
)

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

const ConsentChallenge = Schema.Struct({
  id: Schema.String.pipe(describe("For `consent_challenge_id`, once.")),
  phrase: Schema.String.pipe(describe("To be shown to the speaker exactly like this.")),
  expires_at: Timestamp
}).annotate({ identifier: "ConsentChallenge" })

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

const sampleTypes = ["wav", "mpeg", "ogg", "flac", "mp4", "webm", "aac"].map((type) => `audio/${type}`)

const { read, act, remove } = speechEndpoints("voice_not_found", "not_found")

export const VoicesGroup = guarded(
  "voices",
  read("listVoices", "/v1/voices", {
    query: VoicesQuery.fields,
    success: VoiceListOfAnyVersion,
    summary: "List the voices",
    description:
      "Those of the catalogue, and those that the workspace has cloned. Filters apply before pages are cut; voices are " +
      "ordered by id. Callers pinned to a version before 2026-07-07, and client libraries 0.x and 1.x that send none, " +
      "get a bare list instead of the object."
  }),
  read("getVoice", "/v1/voices/:voice_id", {
    success: Voice,
    summary: "Fetch a voice",
    description: "By its id, percent-encoded. Another workspace's voice is answered as one that never was."
  }),
  act("createConsentChallenge", "/v1/voices/consent-challenges", {
    payload: ConsentChallengeRequest,
    success: ConsentChallenge,
    refused: ["idempotency_conflict"],
    scope: "voices:create",
    summary: "Start a consent",
    description:
      "Gives a phrase for one speaker to read. It is good for one create of the same workspace, until `expires_at`. " +
      "A workspace has so many in any hour; `RateLimit-*` say how many are left of how many, and in how many seconds " +
      "the next place becomes free.",
    example: { full_name: "Ada Lovelace" }
  }),
  act("createVoice", "/v1/voices", {
    payload: VoiceForm.pipe(HttpApiSchema.asMultipartStream()),
    success: Voice.pipe(HttpApiSchema.status(201)),
    refused: [
      "idempotency_conflict",
      "forbidden",
      "too_many_voices",
      "request_timeout",
      "consent_challenge_not_found",
      "consent_challenge_expired",
      "consent_challenge_already_used",
      "consent_phrase_mismatch",
      "consent_speaker_mismatch",
      "consent_recording_unusable",
      "consent_verification_unavailable"
    ],
    scope: "voices:create",
    summary: "Clone a voice",
    description:
      "From a sample, once its speaker has been heard to consent. Any create that names a challenge uses it up, also one " +
      "that is refused; a replay, a 409 for the idempotency key and a form that cannot be read do not. Callers pinned to " +
      "a version before 2026-09-13, and client libraries 0.x and 1.x that send none, may send `consent` instead of a " +
      "challenge; their answers carry `Deprecation`, `Sunset` and `Link`, and from the day of `Sunset` on they are refused.",
    example: {
      name: "Ada",
      gender: "female",
      locale: "en-GB",
      sample: "@sample.wav",
      consent_challenge_id: "5f0c6c1e-7f43-4e43-9a3c-0a8f7be1c9d2",
      consent_recording: "@consent.wav"
    }
  }),
  remove("deleteVoice", "/v1/voices/:voice_id", {
    refused: ["forbidden"],
    scope: "voices:delete",
    permission: "content.manage",
    summary: "Delete a cloned voice",
    description:
      "With its sample and its picture. The record of consent is kept. What is being spoken with it is spoken to its " +
      "end. Members need the permission `content.manage`, which owners, admins and members have."
  }),
  read("getVoicePreview", "/v1/voices/:voice_id/preview", {
    query: {
      locale: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9-]{1,35}$/u))).pipe(
        describe("One of the voice's languages; a bare language is any region of it. Its own without it.")
      )
    },
    success: HttpApiSchema.StreamUint8Array({ contentType: ["audio/mpeg"] }),
    refused: ["concurrency_limit_reached", "upstream_failure"],
    summary: "Hear a voice of the catalogue",
    description:
      "A sentence in the voice, as mp3; where `preview_audio` of the voice points. With `If-None-Match` of the `ETag` it " +
      "is answered with 304 and nothing, as long as the sentence is the same. It takes a place among the answers that run."
  }),
  read("getVoiceSample", "/v1/voices/:voice_id/sample", {
    success: HttpApiSchema.StreamUint8Array({ contentType: [...sampleTypes, "application/octet-stream"] }),
    summary: "Download the sample of a cloned voice",
    description: "The bytes that it was made from. A voice of the catalogue has none."
  }),
  read("getVoiceAvatar", "/v1/voices/:voice_id/avatar", {
    success: HttpApiSchema.StreamUint8Array({ contentType: ["image/png", "image/jpeg", "image/webp"] }),
    summary: "Download the picture of a cloned voice",
    description: "Where `avatar_image` of the voice points."
  })
).annotateEndpoints(NullIsAbsent, true)
