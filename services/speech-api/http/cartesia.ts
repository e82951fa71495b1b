/** Cartesia's HTTP routes: speech in bytes and in events, and voices. */
import { Effect, Stream } from "effect"
import { type CartesiaEventsRequest, CartesiaGroup, CartesiaSpeechRequest } from "#speech/api"
import { eventsAnswer, HttpCall, jsonAnswer, jsonDecoder, jsonEvent, readJsonValue, routesOf, WireError } from "#http"
import { Configuration } from "#configuration"
import type { Spoken } from "../speaking/Speech.ts"
import type { Delivery, SpeechRoute } from "../speaking/plan.ts"
import { refusalOf } from "../refusals.ts"
import {
  cartesiaChunks,
  cartesiaDone,
  cartesiaFault,
  cartesiaOrder,
  cartesiaRefusal,
  cartesiaVoice,
  cartesiaVoices,
  floatsOf
} from "../vendors/cartesia.ts"
import { cartesiaTags } from "../vendors/markup.ts"
import { refusingAs } from "../vendors/refusals.ts"
import { bodyBytesMax, headersOfContent, headersWithin, heartbeat, speechBodies, timed } from "./speaking.ts"
import { audioAnswer, beginSpeech, type VendorSpeech } from "./vendor-speech.ts"
import { everyVoice, findVoice, voiceId } from "./voices.ts"

type Request = CartesiaSpeechRequest | CartesiaEventsRequest

const begin = Effect.fnUntraced(function* (request: Request, route: SpeechRoute, delivery: Delivery) {
  const { SpeechApi } = yield* Configuration
  const { voiceId: voice, ...order } = yield* Effect.fromResult(cartesiaOrder(request, SpeechApi.VendorVoices))
  return yield* beginSpeech({ order, voiceId: voice, text: request.transcript, tags: cartesiaTags, route, delivery })
})

const decodeSpeech = jsonDecoder(CartesiaSpeechRequest, { nullIsAbsent: true })

const encodings = { pcm_s16le: "pcm", pcm_f32le: "float", pcm_mulaw: "ulaw", pcm_alaw: "alaw" } as const

const bytesOf = ({ spoken }: VendorSpeech, { output_format: format }: CartesiaSpeechRequest): Spoken["bytes"] =>
  format.container !== "mp3" && format.encoding === "pcm_f32le" ? Stream.map(spoken.bytes, floatsOf) : spoken.bytes

// A line of an event stream stays below 64 KiB, the longest that common clients read: 32 kB are 43 kB in base64.
const eventAudioMax = 32_000

const eventsOf = (speech: VendorSpeech, request: CartesiaEventsRequest) => {
  const { sent, spoken } = speech
  const { add_timestamps: isTimed = false, context_id: contextId } = request
  const chunksOf = (bytes: Uint8Array) => {
    const marks = isTimed ? sent(spoken.takeMarks()) : []
    const pieces = Array.from({ length: Math.max(1, Math.ceil(bytes.length / eventAudioMax)) }, (_, nth) =>
      bytes.subarray(nth * eventAudioMax, (nth + 1) * eventAudioMax)
    )
    return pieces.flatMap((piece, nth) => cartesiaChunks({ contextId, bytes: piece, marks: nth === 0 ? marks : [] }))
  }
  const last = Stream.suspend(() => Stream.fromIterable([...chunksOf(new Uint8Array(0)), cartesiaDone(contextId)]))
  return bytesOf(speech, request).pipe(
    Stream.flatMap((bytes) => Stream.fromIterable(chunksOf(bytes))),
    Stream.concat(last),
    Stream.map((event) => jsonEvent(event, event.type))
  )
}

const broken = new WireError({ status: 502, code: "upstream_failure", message: "the speech broke off" })

const speakEvents = Effect.fnUntraced(function* (request: CartesiaEventsRequest) {
  const { requestId } = yield* HttpCall
  const speech = yield* begin(request, "/v1/audio/stream/with-timestamps", "streamed")
  const { plan, spoken } = speech
  const answer = eventsAnswer(eventsOf(speech, request), {
    headers: timed(spoken, yield* headersOfContent(plan, spoken)),
    heartbeat,
    headersWithin,
    onFailure: () => jsonEvent({ type: "error", done: true, ...cartesiaFault(broken, requestId) }, "error")
  })
  return yield* Effect.mapError(answer, (error) => refusalOf(error, false))
})

export const cartesiaRoutes = refusingAs(cartesiaRefusal)(
  routesOf(
    CartesiaGroup,
    {
      cartesiaBytes: () =>
        Effect.gen(function* () {
          // LiveKit's plugin in JavaScript sends no type.
          const value = yield* readJsonValue({ bytesMax: bodyBytesMax, isTypeOptional: true })
          const request = yield* decodeSpeech(value)
          const { output_format: format } = request
          const delivery = format.container === "wav" ? "whole" : "either"
          const speech = yield* begin(request, "/v1/audio/stream", delivery)
          const wav = format.container === "wav" ? encodings[format.encoding] : undefined
          return yield* audioAnswer(speech, { bytes: bytesOf(speech, request), wav })
        }),

      cartesiaEvents: ({ body }) => Effect.flatMap(body, speakEvents),

      cartesiaVoices: ({ query }) =>
        Effect.gen(function* () {
          return jsonAnswer(yield* Effect.fromResult(cartesiaVoices(yield* everyVoice, yield* query)))
        }),

      cartesiaVoice: () =>
        Effect.gen(function* () {
          return jsonAnswer(cartesiaVoice(yield* findVoice(yield* voiceId)))
        })
    },
    speechBodies
  )
)
