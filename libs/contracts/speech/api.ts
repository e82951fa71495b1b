/** The bodies of the speech API, as callers send and get them. Field names are those of the wire. */
import { Schema } from "effect"
import { Count, describe } from "../primitives.ts"
import { MarkTime, SpeechMarks, WordMark } from "./marks.ts"

/** UTF-16 units, tags counted. Longer inputs are 413, so the schemas leave the length to the route. */
export const speechInputMax = { answer: 2_000, stream: 20_000 } as const

const Name = Schema.String.check(Schema.isBetweenLength(1, 128))
const Input = Schema.String.check(Schema.isMinLength(1)).pipe(
  describe("Plain text, or SSML when it begins with `<speak>`. Emotion, pitch, rate and pauses are set through SSML.")
)
const VoiceId = Name.pipe(describe("The id of a voice, from the list of voices."))
/** A language and a region, as in `en-US`; a bare language is taken as a range. */
const Language = Schema.String.check(Schema.isPattern(/^[A-Za-z]{2,3}(-[A-Za-z]{2})?$/u))

const SpeechOptions = Schema.Struct({
  loudness_normalization: Schema.optionalKey(Schema.Boolean).pipe(
    describe(
      "Levels the audio to -14 LUFS (ITU-R BS.1770) while it streams: within 1 LU from three seconds of speech on, " +
        "within 2 for a word or two. Peaks are bent below about -2 dBFS."
    )
  ),
  text_normalization: Schema.optionalKey(Schema.Boolean).pipe(
    describe("Says numbers, dates, units and abbreviations as words. They are marked as they were sent.")
  )
}).annotate({ identifier: "SpeechOptions" })

const audioFormatNames = ["wav", "mp3", "ogg", "aac", "pcm"] as const

const options = {
  language: Schema.optionalKey(Language).pipe(
    describe("What is spoken, as `de-DE`; a bare language is any region of it. The voice's own locale without it.")
  ),
  model: Schema.optionalKey(Name).pipe(describe("The id of a model; the default model of the route without it.")),
  options: Schema.optionalKey(SpeechOptions),
  output_format: Schema.optionalKey(Name).pipe(
    describe("Codec, sample rate and bit rate, as `mp3_24000_64`. Goes before `audio_format` and `Accept`.")
  )
}
const audioFormat = Schema.optionalKey(Schema.Literals(audioFormatNames)).pipe(
  describe("The container. Today's default is wav; it may change, so name the one you expect.")
)
const speechFields = { input: Input, voice_id: VoiceId, ...options }

export const StreamRequest = Schema.Struct(speechFields).annotate({ identifier: "StreamRequest" })
export interface StreamRequest extends Schema.Schema.Type<typeof StreamRequest> {}

export const SpeechRequest = Schema.Struct({ ...speechFields, audio_format: audioFormat }).annotate({
  identifier: "SpeechRequest"
})
export interface SpeechRequest extends Schema.Schema.Type<typeof SpeechRequest> {}

/** No scene needs more turns; a longer dialogue is several scenes. */
export const dialogueTurnsMax = 100

const Turn = Schema.Struct({ voice_id: VoiceId, input: Input }).annotate({ identifier: "DialogueTurn" })

export const DialogueRequest = Schema.Struct({
  turns: Schema.Array(Turn)
    .check(Schema.isBetweenLength(1, dialogueTurnsMax))
    .pipe(describe("Spoken one after the other. The length of the input is that of all turns together.")),
  ...options,
  audio_format: audioFormat
}).annotate({ identifier: "DialogueRequest" })
export interface DialogueRequest extends Schema.Schema.Type<typeof DialogueRequest> {}

export const voicesPageMax = 200
export const voicesPageDefault = 50

const WholeNumber = Schema.String.check(Schema.isPattern(/^\d{1,6}$/u))

export const VoicesQuery = Schema.Struct({
  cursor: Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 512))).pipe(
    describe("`next_cursor` of the page before. The filters must be the same.")
  ),
  limit: Schema.optionalKey(WholeNumber).pipe(
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

const billed = Count.pipe(describe("UTF-16 units of the input, tags included."))
const durationMs = MarkTime.pipe(describe("Length of the audio once it is decoded."))
const Base64 = Schema.String.annotate({ contentEncoding: "base64" })

const deliveredAudioFormats = ["wav", "mp3", "ogg", "aac", "pcm", "ulaw"] as const

export const SpeechResponse = Schema.Struct({
  audio_data: Base64.pipe(describe("The whole audio, in base64.")),
  audio_format: Schema.Literals(deliveredAudioFormats),
  output_format: Schema.optionalKey(Schema.String).pipe(
    describe("Only when the request named one: what was delivered, so `_160` for `_192`.")
  ),
  billable_characters_count: billed,
  audio_duration_ms: durationMs,
  speech_marks: SpeechMarks
}).annotate({ identifier: "SpeechResponse" })
export interface SpeechResponse extends Schema.Schema.Type<typeof SpeechResponse> {}

export const Model = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  default: Schema.Boolean.pipe(describe("Used when a request names no model.")),
  recommended: Schema.Boolean,
  deprecated: Schema.Boolean,
  description: Schema.String,
  languages: Schema.Array(Schema.String).pipe(describe("`en` stands for every English.")),
  endpoints: Schema.Array(Schema.String).pipe(describe("The routes the model may be passed to.")),
  curated_voices: Schema.Boolean,
  english_voices_only: Schema.Boolean
}).annotate({ identifier: "Model" })
export interface Model extends Schema.Schema.Type<typeof Model> {}

export const ModelList = Schema.Struct({
  models: Schema.Array(Model),
  dialogue_models: Schema.Array(Model).pipe(describe("Only for the dialogue route."))
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
  preview_audio: Schema.optionalKey(Schema.NullOr(Schema.String)),
  tags: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "Voice" })
export interface Voice extends Schema.Schema.Type<typeof Voice> {}

export const VoiceList = Schema.Struct({
  voices: Schema.Array(Voice),
  next_cursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page.")),
  has_more: Schema.Boolean
}).annotate({ identifier: "VoiceList" })
export interface VoiceList extends Schema.Schema.Type<typeof VoiceList> {}

export const SpeechChunkEvent = Schema.Struct({
  type: Schema.Literal("speech.chunk"),
  audio: Schema.optionalKey(Base64).pipe(describe("The next bytes of the one audio stream, in base64.")),
  speech_marks: Schema.optionalKey(Schema.Array(WordMark)).pipe(
    describe("Words that became final. Their times are absolute; the event they come with means nothing.")
  )
}).annotate({ identifier: "SpeechChunkEvent" })
export interface SpeechChunkEvent extends Schema.Schema.Type<typeof SpeechChunkEvent> {}

export const SpeechDoneEvent = Schema.Struct({
  type: Schema.Literal("speech.done"),
  billable_characters_count: billed,
  audio_duration_ms: durationMs
}).annotate({ identifier: "SpeechDoneEvent" })
export interface SpeechDoneEvent extends Schema.Schema.Type<typeof SpeechDoneEvent> {}

export const SpeechErrorEvent = Schema.Struct({
  type: Schema.Literal("speech.error"),
  error: Schema.Struct({ code: Schema.String, message: Schema.String }),
  request_id: Schema.String
}).annotate({ identifier: "SpeechErrorEvent" })
export interface SpeechErrorEvent extends Schema.Schema.Type<typeof SpeechErrorEvent> {}
