/**
 * Cartesia's HTTP routes, as far as its clients, LiveKit's and pipecat's plugins call them: speech in bytes and in
 * events, and voices; and refusals in its shape. Further fields are accepted and ignored.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { codesByStatus, endpoint, guarded, NullIsAbsent, refusalShape, refusalsFrom } from "#base/http"
import { describe, documentedAs } from "#base"
import { speechErrorCodes } from "./error-codes.ts"
import { Base64, Input, Name } from "./fields.ts"

const optional = Schema.optionalKey

/** The fields of a request by HTTP and of a live one. */
export const cartesiaFields = {
  model_id: Name.pipe(describe("`sonic*` is our default model; any other name is one of ours.")),
  voice: Schema.Union([Name, Schema.Struct({ id: Name })]).pipe(
    describe('The id of one of our voices, or one that `SpeechApi.VendorVoices` maps; also as `{"id"}`.')
  ),
  language: optional(Name),
  locale: optional(Name).pipe(describe("Where there is no `language`.")),
  normalization: optional(Name).pipe(
    describe("`off`, or `auto` for the fleet's default; a locale turns it on, by the rules of the language spoken.")
  ),
  generation_config: optional(Schema.Struct({ speed: optional(Schema.Finite) })).pipe(
    describe("`speed` is followed, 0.25 to 4.")
  )
}

const samples = {
  encoding: Schema.Literals(["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"]).pipe(
    describe("G.711 has 8000 samples a second.")
  ),
  sample_rate: Schema.Int.pipe(describe("Of PCM 8000, 16000, 22050, 24000, 44100 or 48000."))
}

export const CartesiaRawFormat = Schema.Struct({ container: Schema.Literal("raw"), ...samples })

const CartesiaFormat = Schema.Union([
  CartesiaRawFormat,
  Schema.Struct({ container: Schema.Literal("wav"), ...samples }),
  Schema.Struct({
    container: Schema.Literal("mp3"),
    sample_rate: Schema.Int.pipe(describe("22050, 24000 or 44100.")),
    bit_rate: Schema.Int.pipe(describe("In bits a second: 32000, 64000, 96000, 128000 or 192000."))
  })
]).annotate({ identifier: "CartesiaFormat" })
export type CartesiaFormat = Schema.Schema.Type<typeof CartesiaFormat>

const Transcript = Input.pipe(
  describe("Plain text. `<break>`, `<spell>`, `<speed>` and `<volume>` are followed, `<emotion>` is passed over.")
)

export const CartesiaSpeechRequest = Schema.Struct({
  ...cartesiaFields,
  transcript: Transcript,
  output_format: CartesiaFormat
}).annotate({ identifier: "CartesiaSpeechRequest" })
export interface CartesiaSpeechRequest extends Schema.Schema.Type<typeof CartesiaSpeechRequest> {}

export const CartesiaEventsRequest = Schema.Struct({
  ...cartesiaFields,
  transcript: Transcript,
  output_format: CartesiaRawFormat,
  add_timestamps: optional(Schema.Boolean),
  context_id: optional(Name)
}).annotate({ identifier: "CartesiaEventsRequest" })
export interface CartesiaEventsRequest extends Schema.Schema.Type<typeof CartesiaEventsRequest> {}

const event = { done: Schema.Boolean, status_code: Schema.Int, context_id: optional(Name) }

export const CartesiaEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("chunk"), data: Base64, step_time: Schema.Finite, ...event }).annotate({
    identifier: "CartesiaChunkEvent"
  }),
  Schema.Struct({
    type: Schema.Literal("timestamps"),
    word_timestamps: Schema.Struct({
      words: Schema.Array(Schema.String),
      start: Schema.Array(Schema.Finite),
      end: Schema.Array(Schema.Finite)
    }),
    ...event
  }).annotate({ identifier: "CartesiaTimestampsEvent" }),
  Schema.Struct({ type: Schema.Literal("done"), ...event }).annotate({ identifier: "CartesiaDoneEvent" }),
  Schema.Struct({
    type: Schema.Literal("error"),
    title: Schema.String,
    message: Schema.String,
    error_code: Schema.String,
    request_id: Schema.String,
    ...event
  }).annotate({ identifier: "CartesiaErrorEvent" })
])
export type CartesiaEvent = Schema.Schema.Type<typeof CartesiaEvent>

export const CartesiaVoice = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  tagline: Schema.String,
  description: Schema.String,
  access: Schema.Literals(["public", "private"]),
  visibility: Schema.Literals(["all", "owner"]),
  is_owner: Schema.Boolean,
  is_public: Schema.Boolean,
  language: Schema.String,
  country: Schema.NullOr(Schema.String),
  locales: Schema.Array(Schema.Struct({ locale: Schema.String, is_native: Schema.Boolean })),
  gender: Schema.NullOr(Schema.Literals(["masculine", "feminine"])),
  created_at: Schema.String.pipe(describe("Not known: the beginning of 1970."))
}).annotate({ identifier: "CartesiaVoice" })
export interface CartesiaVoice extends Schema.Schema.Type<typeof CartesiaVoice> {}

export const CartesiaVoices = Schema.Struct({
  data: Schema.Array(CartesiaVoice),
  has_more: Schema.Boolean,
  next_page: Schema.NullOr(Schema.String)
}).annotate({ identifier: "CartesiaVoices" })
export interface CartesiaVoices extends Schema.Schema.Type<typeof CartesiaVoices> {}

export const cartesiaPage = { default: 10, max: 100 } as const

export const CartesiaVoicesQuery = Schema.Struct({
  limit: optional(Schema.String.check(Schema.isPattern(/^\d{1,3}$/u))).pipe(
    documentedAs({ type: "integer", minimum: 1, maximum: cartesiaPage.max, default: cartesiaPage.default })
  ),
  starting_after: optional(Schema.String).pipe(describe("The id before the page's first one.")),
  ending_before: optional(Schema.String).pipe(describe("The id after the page's last one.")),
  q: optional(Schema.String).pipe(describe("What the name or the id holds, in letters of either case.")),
  gender: optional(Schema.String),
  language: optional(Schema.String),
  is_owner: optional(Schema.String).pipe(describe("`true` for those that the workspace has cloned."))
})
export interface CartesiaVoicesQuery extends Schema.Schema.Type<typeof CartesiaVoicesQuery> {}

const CartesiaError = Schema.Struct({
  error_code: Schema.String,
  title: Schema.String,
  message: Schema.String,
  status_code: Schema.Int,
  request_id: Schema.String
})

/** The shapes of refusals, which the documents list. */
export const cartesiaErrors = [CartesiaError.annotate({ identifier: "CartesiaError" })]

type OwnCode = keyof typeof speechErrorCodes

const refused = (...codes: ReadonlyArray<OwnCode>) => [
  ...codesByStatus(speechErrorCodes, codes).map((refusal) =>
    refusalShape(CartesiaError, { ...refusal, envelope: "CartesiaError", codeAt: ["error_code"] })
  ),
  ...refusalsFrom(speechErrorCodes)("internal_error")
]

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

const example = {
  model_id: "sonic-3",
  transcript: "Hello there. How are you?",
  voice: { mode: "id", id: "selma" },
  output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: 24_000 }
}
const speech = { error: refused(...speaking), scope: ["audio:speech", "audio:stream"] } as const

const [get, post] = [endpoint("GET"), endpoint("POST")]

export const CartesiaGroup = guarded(
  "cartesia",
  post("cartesiaBytes", "/tts/bytes", {
    ...speech,
    payload: CartesiaSpeechRequest,
    success: HttpApiSchema.StreamUint8Array({
      contentType: ["audio/pcm", "audio/basic", "audio/PCMA", "audio/mpeg", "audio/wav"]
    }),
    summary: "Cartesia: speak a text",
    description:
      "Bytes of audio as they are made; a `wav` comes once it is whole. Any `Cartesia-Version` is taken, and none is needed.",
    example
  }),
  post("cartesiaEvents", "/tts/sse", {
    ...speech,
    payload: CartesiaEventsRequest,
    success: HttpApiSchema.StreamSse({ data: CartesiaEvent }),
    summary: "Cartesia: speak a text, as events",
    description:
      "Chunks of raw audio, with `add_timestamps` the times of its words, and `done`. Events are named by their type.",
    example: { ...example, add_timestamps: true }
  }),
  get("cartesiaVoices", "/voices", {
    query: CartesiaVoicesQuery.fields,
    success: CartesiaVoices,
    error: refused(...always),
    scope: "voices:read",
    summary: "Cartesia: list the voices",
    description: "Those of the catalogue, and those that the workspace has cloned, by id."
  }),
  get("cartesiaVoice", "/voices/:voice_id", {
    success: CartesiaVoice,
    error: refused(...always, "voice_not_found"),
    scope: "voices:read",
    summary: "Cartesia: fetch a voice",
    description: "By its id."
  })
).annotateEndpoints(NullIsAbsent, true)
