/**
 * Speech, as callers request and receive it, and its routes: a complete answer, a stream of bytes, a stream with speech
 * marks, a dialogue; and their models. Field names are those of the wire.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { guarded, NullIsAbsent } from "#base/http"
import { Count, describe, documentedAs } from "#base"
import { outputFormats, streamedFormats, streamedMediaTypes } from "../formats.ts"
import { markKinds, MarkTime, OtherMark, SpeechMarks, WordMark } from "../marks.ts"
import { speechModels } from "../models.ts"
import { speechEndpoints } from "./error-codes.ts"
import { Base64, Input, Language, Name, Speed, VoiceId } from "./fields.ts"
import { LexiconNames } from "./lexicons.ts"
import { openAiMediaTypes } from "./openai.ts"

/** UTF-16 units, tags counted. Longer inputs are 413, so the schemas leave the length to the route. */
export const speechInputMax = { answer: 2_000, stream: 20_000 } as const

export const SpeechOptions = Schema.Struct({
  loudness_normalization: Schema.optionalKey(Schema.Boolean).pipe(
    describe(
      "Levels the audio to -14 LUFS (ITU-R BS.1770) while it streams: within 1 LU from three seconds of speech on, " +
        "within 2 for a word or two. Peaks are bent below about -2 dBFS."
    )
  ),
  text_normalization: Schema.optionalKey(Schema.Boolean).pipe(
    describe(
      "Says numbers, money, dates, times, units, signs and abbreviations as words, in the language of the text. They " +
        "are marked as they were sent. Without it, as `SpeechApi.TextNormalization` of the fleet says: true, unless changed."
    )
  ),
  marks: Schema.optionalKey(
    Schema.Array(Schema.Literals(markKinds)).check(Schema.isBetweenLength(1, markKinds.length))
  ).pipe(
    describe(
      "The kinds of marks; words alone without it. Those of other kinds come in `marks`. See [Kinds of marks](#kinds-of-marks)."
    )
  )
}).annotate({ identifier: "SpeechOptions" })

const audioFormatNames = ["wav", "mp3", "ogg", "aac", "pcm", "flac"] as const

/** Any name, so that a refusal can say what is wrong with it. Documents list the valid ones. */
const nameOutOf = (names: ReadonlyArray<string>) => Name.pipe(documentedAs({ type: "string", enum: names }))

const modelNames = (isDialogue: boolean) =>
  speechModels.filter((model) => model.isDialogue === isDialogue).flatMap(({ id, aliases }) => [id, ...aliases])

/** A model that speaks texts, and no dialogues. */
export const ModelOfText = nameOutOf(modelNames(false))

const optionsFrom = (models: ReadonlyArray<string>, formats: ReadonlyArray<string>) => ({
  language: Schema.optionalKey(Language).pipe(
    describe("What is spoken, as `de-DE`; a bare language is any region of it. The voice's own locale without it.")
  ),
  model: Schema.optionalKey(nameOutOf(models)).pipe(
    describe("The id of a model; the default model of the route without it.")
  ),
  options: Schema.optionalKey(SpeechOptions),
  lexicons: LexiconNames,
  speed: Speed,
  output_format: Schema.optionalKey(nameOutOf(formats)).pipe(
    describe("Codec, sample rate and bit rate, as `mp3_24000_64`. Goes before `audio_format` and `Accept`.")
  )
})
const audioFormat = Schema.optionalKey(Schema.Literals(audioFormatNames)).pipe(
  describe("The container. Today's default is wav; it may change, so name the one you expect.")
)
const oneVoice = { input: Input, voice_id: VoiceId }

export const StreamRequest = Schema.Struct({
  ...oneVoice,
  ...optionsFrom(modelNames(false), streamedFormats)
}).annotate({ identifier: "StreamRequest" })
export interface StreamRequest extends Schema.Schema.Type<typeof StreamRequest> {}

export const SpeechRequest = Schema.Struct({
  ...oneVoice,
  ...optionsFrom(modelNames(false), outputFormats),
  audio_format: audioFormat
}).annotate({ identifier: "SpeechRequest" })
export interface SpeechRequest extends Schema.Schema.Type<typeof SpeechRequest> {}

/** No scene needs more turns; a longer dialogue is several scenes. */
export const dialogueTurnsMax = 100

const Turn = Schema.Struct({ voice_id: VoiceId, input: Input }).annotate({ identifier: "DialogueTurn" })

const Turns = Schema.Array(Turn)
  .check(Schema.isBetweenLength(1, dialogueTurnsMax))
  .pipe(describe("Spoken one after the other. The length of the input is that of all turns together."))

export const DialogueRequest = Schema.Struct({
  turns: Turns,
  ...optionsFrom(modelNames(true), outputFormats),
  audio_format: audioFormat
}).annotate({ identifier: "DialogueRequest" })
export interface DialogueRequest extends Schema.Schema.Type<typeof DialogueRequest> {}

export const CaptionsRequest = Schema.Struct({
  format: Schema.optionalKey(Schema.Literals(["vtt", "srt"])).pipe(describe("WebVTT or SubRip; vtt without it.")),
  input: Schema.optionalKey(Input),
  voice_id: Schema.optionalKey(VoiceId),
  turns: Schema.optionalKey(Turns).pipe(describe("A dialogue, in place of `input` and `voice_id`.")),
  ...optionsFrom([...modelNames(false), ...modelNames(true)], outputFormats),
  audio_format: audioFormat
}).annotate({ identifier: "CaptionsRequest" })
export interface CaptionsRequest extends Schema.Schema.Type<typeof CaptionsRequest> {}

const billed = Count.pipe(describe("UTF-16 units of the input, tags included."))
const durationMs = MarkTime.pipe(describe("Length of the audio once it is decoded."))

const deliveredAudioFormats = ["wav", "mp3", "ogg", "aac", "pcm", "ulaw", "alaw", "flac"] as const

export const SpeechResponse = Schema.Struct({
  audio_data: Base64.pipe(describe("The whole audio, in base64.")),
  audio_format: Schema.Literals(deliveredAudioFormats),
  output_format: Schema.optionalKey(Schema.String).pipe(
    describe("Only when the request named one: what was delivered, so `_160` for `_192`.")
  ),
  billable_characters_count: billed,
  audio_duration_ms: durationMs,
  speech_marks: SpeechMarks,
  marks: Schema.optionalKey(Schema.Array(OtherMark)).pipe(
    describe("Those of other kinds than words that `options.marks` asked for, in order of time.")
  )
}).annotate({ identifier: "SpeechResponse" })
export interface SpeechResponse extends Schema.Schema.Type<typeof SpeechResponse> {}

export const SpeechChunkEvent = Schema.Struct({
  type: Schema.Literal("speech.chunk"),
  audio: Schema.optionalKey(Base64).pipe(describe("The next bytes of the one audio stream, in base64.")),
  speech_marks: Schema.optionalKey(Schema.Array(WordMark)).pipe(
    describe("Words that became final. Their times are absolute; the event they come with means nothing.")
  ),
  marks: Schema.optionalKey(Schema.Array(OtherMark)).pipe(
    describe("Likewise, those of other kinds that `options.marks` asked for; a sentence comes with its last word.")
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

/** Any event of a stream with marks. */
export const SpeechEvent = Schema.Union([SpeechChunkEvent, SpeechDoneEvent, SpeechErrorEvent], {
  mode: "oneOf"
}).annotate({ description: "The data of each event, by its type." })

const greeting = { voice_id: "selma", input: "Hello there. How are you?" }

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

const { read, act } = speechEndpoints()

/** The codes of routes that speak. */
const speakingCodes = [
  "forbidden",
  "voice_not_found",
  "concurrency_limit_reached",
  "precondition_failed",
  "upstream_failure"
] as const

export const AudioGroup = guarded(
  "audio",
  act("createSpeech", "/v1/audio/speech", {
    payload: SpeechRequest,
    success: SpeechResponse,
    refused: [...speakingCodes, "voice_not_real_time"],
    scope: "audio:speech",
    summary: "Speak a text",
    description:
      "The whole audio in one JSON answer, with marks for every word. The format is `output_format`, else that of " +
      "`audio_format`, else wav at 24 kHz. `Accept` does not matter. A body with `voice`, `response_format`, " +
      "`stream_format` or `instructions` is one of OpenAI's, and is answered as OpenAI does: with the bytes of the audio, " +
      "or with events. One that has fields of both is refused.",
    example: { ...greeting, audio_format: "mp3", language: "en-US" },
    dialect: {
      body: "OpenAiSpeechRequest",
      answers: [
        ...Object.values(openAiMediaTypes).map((mediaType) => ({ mediaType })),
        { mediaType: "text/event-stream", shape: "OpenAiSpeechEvent" }
      ]
    }
  }),
  act("streamSpeech", "/v1/audio/stream", {
    payload: StreamRequest,
    success: HttpApiSchema.StreamUint8Array({ contentType: streamedMediaTypes }),
    refused: [...speakingCodes, "voice_not_real_time"],
    scope: "audio:stream",
    summary: "Speak a text, as a stream of audio",
    description:
      "Audio bytes as they are made. The format is `output_format`, else what `Accept` prefers, else mp3. " +
      "PCM is announced as audio/L16 with its rate and channels, but is little-endian. WAV cannot be streamed. " +
      "A connection that breaks before its last chunk means that the speech broke off.",
    example: { ...greeting, model: "tts-3.2", output_format: "mp3_24000_64" }
  }),
  act("streamSpeechWithTimestamps", "/v1/audio/stream/with-timestamps", {
    payload: StreamRequest,
    success: HttpApiSchema.StreamSse({ data: SpeechEvent }),
    refused: [...speakingCodes, "speech_marks_unsupported", "voice_not_real_time"],
    scope: "audio:stream",
    summary: "Speak a text, as events with audio and word marks",
    description:
      "Server-sent events: join the `audio` of all `speech.chunk` events into one stream, and put all marks on its one " +
      "timeline. `speech.done` ends it; `speech.error` ends it when the speech broke off. Ignore events of other types, " +
      "and comments, which keep the connection alive. The format is chosen as for the plain stream; an `Accept` of " +
      "text/event-stream takes any.",
    example: { ...greeting, output_format: "pcm_16000" }
  }),
  act("createDialogue", "/v1/audio/dialogue", {
    payload: DialogueRequest,
    success: SpeechResponse,
    refused: speakingCodes,
    scope: "audio:speech",
    summary: "Speak a dialogue",
    description: "Several voices take turns in one audio. Marks carry the turn; their places are in that turn's input.",
    example: {
      turns: [greeting, { voice_id: "roger", input: "Very well, thank you." }],
      output_format: "ogg_24000"
    }
  }),
  act("createCaptions", "/v1/audio/captions", {
    payload: CaptionsRequest,
    success: HttpApiSchema.StreamUint8Array({ contentType: ["text/vtt", "application/x-subrip"] }),
    refused: speakingCodes,
    scope: "audio:speech",
    summary: "Speak a text or a dialogue, for its captions",
    description:
      "The captions of the audio that the same body gets on `/v1/audio/speech`, on a stream, or with `turns` on " +
      "`/v1/audio/dialogue`: the same request is spoken the same, to the sample, and captions are cut from its word marks. " +
      "It is billed as speech is. See [Captions](#captions).",
    example: { ...greeting, format: "vtt" }
  }),
  read("listModels", "/v1/audio/models", {
    success: ModelList,
    scope: ["audio:speech", "audio:stream", "voices:read"],
    summary: "List the models",
    description: "All of them at once."
  })
).annotateEndpoints(NullIsAbsent, true)
