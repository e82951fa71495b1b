/**
 * OpenAI's dialect of `POST /v1/audio/speech`: its request, its events, and the fields that distinguish its body from
 * one of our own. Its clients work unmodified.
 */
import { Schema } from "effect"
import { Count, describe } from "#base"
import { Base64, Input, Name, Speed } from "./fields.ts"

/** UTF-16 units, as many as OpenAI accepts: its clients cut their texts for that. */
export const openAiInputMax = 4_096
/** UTF-16 units, OpenAI's limit. */
const instructionsMax = 4_096

const responseFormats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const
export type OpenAiResponseFormat = (typeof responseFormats)[number]

const VoiceName = Schema.Union([Name, Schema.Struct({ id: Name })]).annotate({
  description: 'A voice of OpenAI\'s (`SpeechApi.OpenAiVoices` maps them), or the id of one of ours; also as `{"id"}`.'
})

export const OpenAiSpeechRequest = Schema.Struct({
  model: Name.pipe(
    describe("A model of OpenAI's (`SpeechApi.OpenAiModels` maps them), or the id of one of ours that takes texts.")
  ),
  input: Input,
  voice: VoiceName,
  response_format: Schema.optionalKey(Schema.Literals(responseFormats)).pipe(
    describe("mp3 without it. opus comes in Ogg, pcm is 24 kHz, mono, 16 bit, little-endian.")
  ),
  speed: Speed,
  stream_format: Schema.optionalKey(Schema.Literals(["audio", "sse"])).pipe(
    describe("`audio` (without it): the bytes as they are made. `sse`: events of OpenAiSpeechEvent.")
  ),
  instructions: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(instructionsMax))).pipe(
    describe("Taken and not followed, as OpenAI's own tts-1 does: emotion, pitch and pauses are set through SSML.")
  )
}).annotate({ identifier: "OpenAiSpeechRequest" })
export interface OpenAiSpeechRequest extends Schema.Schema.Type<typeof OpenAiSpeechRequest> {}

/** Fields that only OpenAI's requests have. */
export const openAiFields = ["voice", "response_format", "stream_format", "instructions"] as const
/** Fields that only our own requests have. */
export const ownFields = ["voice_id", "output_format", "audio_format", "language", "options", "lexicons"] as const

/** The media type of each format, in OpenAI's words. */
export const openAiMediaTypes: Readonly<Record<OpenAiResponseFormat, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/opus",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm"
}

const Delta = Schema.Struct({
  type: Schema.Literal("speech.audio.delta"),
  audio: Base64.pipe(describe("The next bytes of the one audio stream, in base64."))
})

const Done = Schema.Struct({
  type: Schema.Literal("speech.audio.done"),
  usage: Schema.Struct({
    input_tokens: Count.pipe(describe("Speech is billed by characters, so these are the billable ones.")),
    output_tokens: Count.pipe(describe("0: the audio is not billed.")),
    total_tokens: Count
  })
})

const Failed = Schema.Struct({
  type: Schema.Literal("error"),
  error: Schema.Struct({
    message: Schema.String,
    type: Schema.String,
    param: Schema.NullOr(Schema.String),
    code: Schema.String
  })
}).annotate({ description: "Ends the stream when the speech broke off." })

/** The data of each event, by its type; the events have no names. */
export const OpenAiSpeechEvent = Schema.Union([Delta, Done, Failed], { mode: "oneOf" }).annotate({
  identifier: "OpenAiSpeechEvent",
  description: "The data of each event, by its type. Events have no names."
})
export type OpenAiSpeechEvent = Schema.Schema.Type<typeof OpenAiSpeechEvent>
