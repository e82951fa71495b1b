/** What the speech API answers with, as callers see it. The description of the API is made from these. */
import { Schema } from "effect"
import { Count } from "../primitives.ts"
import { MarkTime, SpeechMarks, WordMark } from "./marks.ts"
import { says } from "./says.ts"

const billed = Count.pipe(says("UTF-16 units of the input, tags included."))
const durationMs = MarkTime.pipe(says("Length of the audio once it is decoded."))
const Base64 = Schema.String.annotate({ contentEncoding: "base64" })

export const deliveredAudioFormats = ["wav", "mp3", "ogg", "aac", "pcm", "ulaw"] as const

export const SpeechResponse = Schema.Struct({
  audio_data: Base64.pipe(says("The whole audio, in base64.")),
  audio_format: Schema.Literals(deliveredAudioFormats),
  output_format: Schema.optionalKey(Schema.String).pipe(
    says("Only when the request named one: what was delivered, so `_160` for `_192`.")
  ),
  billable_characters_count: billed,
  audio_duration_ms: durationMs,
  speech_marks: SpeechMarks
}).annotate({ identifier: "SpeechResponse" })
export interface SpeechResponse extends Schema.Schema.Type<typeof SpeechResponse> {}

export const Model = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  default: Schema.Boolean.pipe(says("Used when a request names no model.")),
  recommended: Schema.Boolean,
  deprecated: Schema.Boolean,
  description: Schema.String,
  languages: Schema.Array(Schema.String).pipe(says("`en` stands for every English.")),
  endpoints: Schema.Array(Schema.String).pipe(says("The routes the model may be passed to.")),
  curated_voices: Schema.Boolean,
  english_voices_only: Schema.Boolean
}).annotate({ identifier: "Model" })
export interface Model extends Schema.Schema.Type<typeof Model> {}

export const ModelList = Schema.Struct({
  models: Schema.Array(Model),
  dialogue_models: Schema.Array(Model).pipe(says("Only for the dialogue route."))
}).annotate({ identifier: "ModelList" })
export interface ModelList extends Schema.Schema.Type<typeof ModelList> {}

const VoiceLanguage = Schema.Struct({
  locale: Schema.String,
  preview_audio: Schema.optionalKey(Schema.NullOr(Schema.String))
}).annotate({ identifier: "VoiceLanguage" })

export const Voice = Schema.Struct({
  id: Schema.String,
  display_name: Schema.String,
  gender: Schema.Literals(["male", "female", "not_specified", "notSpecified"]).pipe(
    says("Callers of old get `notSpecified` for `not_specified`.")
  ),
  locale: Schema.String,
  type: Schema.Literals(["shared", "personal"]).pipe(says("`personal` voices are the workspace's own, cloned.")),
  models: Schema.Array(Schema.Struct({ name: Schema.String, languages: Schema.Array(VoiceLanguage) })).pipe(
    says("The models the voice speaks with, and its languages with each; its own first.")
  ),
  avatar_image: Schema.optionalKey(Schema.NullOr(Schema.String)).pipe(
    says("Where the picture of a cloned voice is, from the API's own address and with the same token.")
  ),
  preview_audio: Schema.optionalKey(Schema.NullOr(Schema.String)),
  tags: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "Voice" })
export interface Voice extends Schema.Schema.Type<typeof Voice> {}

export const VoiceList = Schema.Struct({
  voices: Schema.Array(Voice),
  next_cursor: Schema.NullOr(Schema.String).pipe(says("For `cursor`; null on the last page.")),
  has_more: Schema.Boolean
}).annotate({ identifier: "VoiceList" })
export interface VoiceList extends Schema.Schema.Type<typeof VoiceList> {}

export const SpeechChunkEvent = Schema.Struct({
  type: Schema.Literal("speech.chunk"),
  audio: Schema.optionalKey(Base64).pipe(says("The next bytes of the one audio stream, in base64.")),
  speech_marks: Schema.optionalKey(Schema.Array(WordMark)).pipe(
    says("Words that became final. Their times are absolute; the event they come with means nothing.")
  )
}).annotate({ identifier: "SpeechChunkEvent" })
export interface SpeechChunkEvent extends Schema.Schema.Type<typeof SpeechChunkEvent> {}

export const SpeechDoneEvent = Schema.Struct({
  type: Schema.Literal("speech.done"),
  billable_characters_count: billed,
  audio_duration_ms: durationMs
}).annotate({ identifier: "SpeechDoneEvent" })
export interface SpeechDoneEvent extends Schema.Schema.Type<typeof SpeechDoneEvent> {}

const Refusal = { code: Schema.String, message: Schema.String }

export const SpeechErrorEvent = Schema.Struct({
  type: Schema.Literal("speech.error"),
  error: Schema.Struct(Refusal),
  request_id: Schema.String
}).annotate({ identifier: "SpeechErrorEvent" })
export interface SpeechErrorEvent extends Schema.Schema.Type<typeof SpeechErrorEvent> {}

export const ErrorEnvelope = Schema.Struct({
  error: Schema.Struct({
    ...Refusal,
    fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)).pipe(
      says("Every fault by the path of its field, as `turns[0].input`.")
    ),
    details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    docs_url: Schema.optionalKey(Schema.String)
  }),
  request_id: Schema.String.pipe(says("Also in the header X-Request-Id."))
}).annotate({ identifier: "ErrorEnvelope" })
export interface ErrorEnvelope extends Schema.Schema.Type<typeof ErrorEnvelope> {}
