/**
 * ElevenLabs' HTTP routes, as far as its clients, LiveKit's and pipecat's plugins call them: speech in bytes and with
 * the times of its characters, voices, models; and refusals in its shape. Further fields are accepted and ignored.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { endpoint, guarded, NullIsAbsent, refusalShape, refusalsFrom } from "#base/http"
import { describe, documentedAs } from "#base"
import { speechErrorCodes } from "./error-codes.ts"
import { Base64, Input, Name } from "./fields.ts"

export const elevenLabsFormatDefault = "mp3_44100_128"

const optional = Schema.optionalKey
const Code = optional(Schema.String)

/** Whether numbers, dates and signs are said as words. */
export const ElevenLabsNormalization = optional(Schema.Literals(["auto", "on", "off"])).pipe(
  describe("Whether numbers, dates and signs are said as words: `auto` is the fleet's default.")
)

export const ElevenLabsSpeechRequest = Schema.Struct({
  text: Input.pipe(
    describe('Plain text, in which `<break time="1s"/>` and `<phoneme alphabet="ipa" ph="…">` are followed; or SSML.')
  ),
  model_id: optional(Name).pipe(describe("`eleven_*` is our default model; any other name is one of ours.")),
  language_code: optional(Name),
  voice_settings: optional(Schema.Struct({ speed: optional(Schema.Finite) })).pipe(
    describe("`speed` is followed, 0.25 to 4.")
  ),
  apply_text_normalization: ElevenLabsNormalization
}).annotate({ identifier: "ElevenLabsSpeechRequest" })
export interface ElevenLabsSpeechRequest extends Schema.Schema.Type<typeof ElevenLabsSpeechRequest> {}

const formatQuery = {
  output_format: optional(Name).pipe(
    describe(
      `As ElevenLabs names them, \`mp3_44100_64\`, \`pcm_16000\`, \`opus_48000_32\`, \`wav_44100\`, \`ulaw_8000\`; \`${elevenLabsFormatDefault}\` without it.`
    )
  )
}

const Seconds = Schema.Array(Schema.Finite)

export const ElevenLabsAlignment = Schema.Struct({
  characters: Schema.Array(Schema.String),
  character_start_times_seconds: Seconds,
  character_end_times_seconds: Seconds
}).annotate({
  identifier: "ElevenLabsAlignment",
  description: "The characters of the text as it was sent, and when each is heard, from the start of the audio."
})
export interface ElevenLabsAlignment extends Schema.Schema.Type<typeof ElevenLabsAlignment> {}

export const ElevenLabsTimedAudio = Schema.Struct({
  audio_base64: Base64,
  alignment: Schema.NullOr(ElevenLabsAlignment),
  normalized_alignment: Schema.NullOr(ElevenLabsAlignment).pipe(describe("The same."))
}).annotate({ identifier: "ElevenLabsTimedAudio" })
export interface ElevenLabsTimedAudio extends Schema.Schema.Type<typeof ElevenLabsTimedAudio> {}

export const ElevenLabsVoice = Schema.Struct({
  voice_id: Schema.String,
  name: Schema.String,
  category: Schema.Literals(["premade", "cloned"]),
  labels: Schema.Record(Schema.String, Schema.String),
  description: Schema.NullOr(Schema.String),
  preview_url: Schema.NullOr(Schema.String),
  available_for_tiers: Schema.Array(Schema.String),
  high_quality_base_model_ids: Schema.Array(Schema.String).pipe(describe("The models that the voice speaks with.")),
  verified_languages: Schema.Array(
    Schema.Struct({ language: Schema.String, model_id: Schema.String, locale: Schema.String })
  ),
  is_owner: Schema.Boolean
}).annotate({ identifier: "ElevenLabsVoice" })
export interface ElevenLabsVoice extends Schema.Schema.Type<typeof ElevenLabsVoice> {}

export const ElevenLabsVoices = Schema.Struct({
  voices: Schema.Array(ElevenLabsVoice),
  has_more: Schema.Boolean,
  total_count: Schema.Int,
  next_page_token: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ElevenLabsVoices" })
export interface ElevenLabsVoices extends Schema.Schema.Type<typeof ElevenLabsVoices> {}

export const elevenLabsPageMax = 100
const elevenLabsPageDefault = 10

export const ElevenLabsVoicesQuery = Schema.Struct({
  page_size: optional(Schema.String.check(Schema.isPattern(/^\d{1,3}$/u))).pipe(
    documentedAs({ type: "integer", minimum: 1, maximum: elevenLabsPageMax, default: elevenLabsPageDefault })
  ),
  next_page_token: Code.pipe(describe("Of the page before.")),
  search: Code.pipe(describe("What the name, the id or a label holds, in letters of either case.")),
  voice_type: Code.pipe(describe("`personal` for those that the workspace has cloned, `default` for the catalogue.")),
  voice_ids: optional(Schema.Union([Schema.String, Schema.Array(Schema.String)])).pipe(describe("Only these."))
})
export interface ElevenLabsVoicesQuery extends Schema.Schema.Type<typeof ElevenLabsVoicesQuery> {}

export const elevenLabsPageSize = ({ page_size }: ElevenLabsVoicesQuery): number =>
  page_size === undefined ? elevenLabsPageDefault : Number(page_size)

const ElevenLabsModel = Schema.Struct({
  model_id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  can_do_text_to_speech: Schema.Boolean,
  can_do_voice_conversion: Schema.Boolean,
  can_be_finetuned: Schema.Boolean,
  can_use_style: Schema.Boolean,
  can_use_speaker_boost: Schema.Boolean,
  maximum_text_length_per_request: Schema.Int,
  languages: Schema.Array(Schema.Struct({ language_id: Schema.String, name: Schema.String }))
}).annotate({ identifier: "ElevenLabsModel" })

export const ElevenLabsModels = Schema.Array(ElevenLabsModel)
export type ElevenLabsModels = Schema.Schema.Type<typeof ElevenLabsModels>

type OwnCode = keyof typeof speechErrorCodes

interface VendorCode {
  readonly status: number
  /** The word in `detail.status`; 422 lists faults in its place. */
  readonly word?: string
}

/** How our refusals are told here; what is not in the table keeps its status and its code. */
export const elevenLabsCodes: Partial<Readonly<Record<OwnCode, VendorCode>>> = {
  bad_request: { status: 422 },
  validation_failed: { status: 422 },
  unauthorized: { status: 401, word: "invalid_api_key" },
  insufficient_scope: { status: 401, word: "missing_permissions" },
  payload_too_large: { status: 400, word: "max_character_limit_exceeded" },
  concurrency_limit_reached: { status: 429, word: "too_many_concurrent_requests" }
}

const Refused = Schema.Struct({
  detail: Schema.Struct({ status: Schema.String, message: Schema.String, request_id: Schema.String })
})
const Faulty = Schema.Struct({
  detail: Schema.Array(
    Schema.Struct({
      loc: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
      msg: Schema.String,
      type: Schema.String
    })
  )
})

/** The shapes of refusals, which the documents list. */
export const elevenLabsErrors = [
  Refused.annotate({ identifier: "ElevenLabsError" }),
  Faulty.annotate({ identifier: "ElevenLabsFaults", description: "Every fault, with its place in the request." })
]

const refused = (...codes: ReadonlyArray<OwnCode>) => {
  const told = codes.map((code) => ({ code, status: speechErrorCodes[code].status, ...elevenLabsCodes[code] }))
  const shapes = Array.from(
    Map.groupBy(told, ({ status }) => status),
    ([status, own]) => {
      const description = own.map(({ code }) => speechErrorCodes[code].when).join(" ")
      if (status === 422) return refusalShape(Faulty, { status, description, envelope: "ElevenLabsFaults" })
      const words = own.map(({ code, word }) => word ?? code)
      const said = own.map(({ code, word }) => `\`${word ?? code}\`: ${speechErrorCodes[code].when}`).join(" ")
      const shape = {
        status,
        description: said,
        envelope: "ElevenLabsError",
        codeAt: ["detail", "status"],
        codes: words
      }
      return refusalShape(Refused, shape)
    }
  )
  return [...shapes, ...refusalsFrom(speechErrorCodes)("internal_error")] as const
}

const always = [
  "validation_failed",
  "unauthorized",
  "insufficient_scope",
  "rate_limited",
  "service_unavailable"
] as const
const speaking = [
  ...always,
  "bad_request",
  "forbidden",
  "voice_not_found",
  "voice_not_real_time",
  "payload_too_large",
  "unsupported_media_type",
  "concurrency_limit_reached",
  "upstream_failure"
] as const

const speech = {
  query: formatQuery,
  payload: ElevenLabsSpeechRequest,
  error: refused(...speaking),
  scope: ["audio:speech", "audio:stream"],
  example: { text: "Hello there. How are you?", model_id: "eleven_flash_v2_5" }
} as const

const bytes = HttpApiSchema.StreamUint8Array({
  contentType: ["audio/mpeg", "audio/pcm", "audio/basic", "audio/PCMA", "audio/ogg", "audio/wav"]
})

const [get, post] = [endpoint("GET"), endpoint("POST")]

export const ElevenLabsGroup = guarded(
  "elevenlabs",
  post("elevenLabsSpeech", "/v1/text-to-speech/:voice_id", {
    ...speech,
    success: bytes,
    summary: "ElevenLabs: speak a text",
    description:
      "Bytes of audio as they are made; `wav_*` comes once it is whole. A voice is the id of one of ours, or one that " +
      "`SpeechApi.VendorVoices` maps."
  }),
  post("elevenLabsStream", "/v1/text-to-speech/:voice_id/stream", {
    ...speech,
    success: bytes,
    summary: "ElevenLabs: speak a text, as a stream",
    description: "The same."
  }),
  post("elevenLabsTimed", "/v1/text-to-speech/:voice_id/with-timestamps", {
    ...speech,
    success: ElevenLabsTimedAudio,
    summary: "ElevenLabs: speak a text, with the times of its characters",
    description: "The whole audio in one JSON answer. A word's time is divided among its characters."
  }),
  post("elevenLabsTimedStream", "/v1/text-to-speech/:voice_id/stream/with-timestamps", {
    ...speech,
    success: HttpApiSchema.StreamUint8Array({ contentType: ["application/x-ndjson"] }),
    summary: "ElevenLabs: speak a text, as a stream with the times of its characters",
    description: "Lines of ElevenLabsTimedAudio, each of at most 64 KiB. Their times are those of the entire audio."
  }),
  get("elevenLabsVoices", "/v2/voices", {
    query: ElevenLabsVoicesQuery.fields,
    success: ElevenLabsVoices,
    error: refused(...always),
    scope: "voices:read",
    summary: "ElevenLabs: list the voices",
    description:
      "Those of the catalogue, and those that the workspace has cloned, by id. With the header `xi-api-key`, " +
      "`GET /v1/voices` answers with all of them in this shape, and `GET /v1/voices/:voice_id` with one."
  }),
  get("elevenLabsModels", "/v1/models", {
    success: ElevenLabsModels,
    error: refused(...always),
    scope: ["audio:speech", "audio:stream", "voices:read"],
    summary: "ElevenLabs: list the models",
    description: "Those that speak a text. Any `eleven_*` is taken too, for the default one."
  })
).annotateEndpoints(NullIsAbsent, true)
