/** ElevenLabs' HTTP routes: speech in bytes and with the times of its characters, voices, models. */
import { Effect, Stream } from "effect"
import { ElevenLabsGroup, type ElevenLabsSpeechRequest, type ElevenLabsTimedAudio } from "#speech/api"
import { jsonAnswer, routesOf, streamAnswer, validationFailed } from "#http"
import { Configuration } from "#configuration"
import type { Delivery, SpeechRoute } from "../speaking/plan.ts"
import { refusalOf } from "../refusals.ts"
import {
  type Aligned,
  alignTo,
  elevenLabsModels,
  elevenLabsOrder,
  elevenLabsRefusal,
  elevenLabsVoices,
  unaligned
} from "../vendors/elevenlabs.ts"
import { elevenLabsTags } from "../vendors/markup.ts"
import { refusingAs } from "../vendors/refusals.ts"
import { headersOfContent, speechBodies, timed } from "./speaking.ts"
import { audioAnswer, beginSpeech, type VendorSpeech, wholeFile } from "./vendor-speech.ts"
import { everyVoice, voiceId } from "./voices.ts"

const timedRoute: SpeechRoute = "/v1/audio/stream/with-timestamps"

interface Asked {
  readonly format: string | undefined
  readonly route: SpeechRoute
  /** Of audio that is no WAV file. */
  readonly delivery: Delivery
}

interface Timed extends VendorSpeech {
  readonly text: string
  readonly isWav: boolean
}

const begin = Effect.fnUntraced(function* (request: ElevenLabsSpeechRequest, { delivery, format, route }: Asked) {
  const { SpeechApi } = yield* Configuration
  const { text } = request
  const asked = elevenLabsOrder(request, { voiceId: yield* voiceId, format }, SpeechApi.VendorVoices)
  const { isWav, ...order } = asked
  const taken = isWav ? "whole" : delivery
  const speech = yield* beginSpeech({ ...order, text, tags: elevenLabsTags, route, delivery: taken })
  const begun: Timed = { ...speech, text, isWav }
  return begun
})

const deliveryOf = ({ isWav, spoken }: Timed) => ({ bytes: spoken.bytes, wav: isWav ? ("pcm" as const) : undefined })

const speakBytes = Effect.fnUntraced(function* (request: ElevenLabsSpeechRequest, asked: Omit<Asked, "route">) {
  const speech = yield* begin(request, { ...asked, route: "/v1/audio/stream" })
  return yield* audioAnswer(speech, deliveryOf(speech))
})

const timedAudio = (bytes: Uint8Array, { alignment }: Aligned): ElevenLabsTimedAudio => ({
  audio_base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64"),
  alignment,
  normalized_alignment: alignment
})

// A line stays below 64 KiB, the longest that common clients read: 32 kB are 43 kB in base64, beside some seconds'
// characters.
const lineAudioMax = 32_000
const none = new Uint8Array(0)
const utf8 = new TextEncoder()

const timedLines = ({ sent, spoken, text }: Timed) => {
  const line = (bytes: Uint8Array, aligned: Aligned) => utf8.encode(`${JSON.stringify(timedAudio(bytes, aligned))}\n`)
  return spoken.bytes.pipe(
    Stream.flatMap((bytes) =>
      Stream.fromIterable(
        Array.from({ length: Math.ceil(bytes.length / lineAudioMax) }, (_, nth) =>
          bytes.subarray(nth * lineAudioMax, (nth + 1) * lineAudioMax)
        )
      )
    ),
    Stream.mapAccum(
      () => unaligned,
      (before: Aligned, bytes) => {
        const aligned = alignTo(text, { before, marks: sent(spoken.takeMarks()), isAll: false })
        return [aligned, [line(bytes, aligned)]]
      },
      {
        onHalt: (before) => {
          const rest = alignTo(text, { before, marks: sent(spoken.takeMarks()), isAll: true })
          return rest.alignment === null ? [] : [line(none, rest)]
        }
      }
    )
  )
}

const streamedWav = validationFailed({ output_format: "wav cannot be streamed with times; pcm and mp3 can" })

export const elevenLabsRoutes = refusingAs(elevenLabsRefusal)(
  routesOf(
    ElevenLabsGroup,
    {
      elevenLabsSpeech: ({ body, query }) =>
        Effect.gen(function* () {
          const { output_format: format } = yield* query
          return yield* speakBytes(yield* body, { format, delivery: "either" })
        }),

      elevenLabsStream: ({ body, query }) =>
        Effect.gen(function* () {
          const { output_format: format } = yield* query
          return yield* speakBytes(yield* body, { format, delivery: "streamed" })
        }),

      elevenLabsTimed: ({ body, query }) =>
        Effect.gen(function* () {
          const { output_format: format } = yield* query
          const begun = yield* begin(yield* body, { format, route: timedRoute, delivery: "whole" })
          const { plan, sent, spoken, text } = begun
          const file = yield* wholeFile(begun, deliveryOf(begun))
          const aligned = alignTo(text, { before: unaligned, marks: sent(spoken.takeMarks()), isAll: true })
          return jsonAnswer(timedAudio(file, aligned), {
            headers: timed(spoken, yield* headersOfContent(plan, spoken))
          })
        }),

      elevenLabsTimedStream: ({ body, query }) =>
        Effect.gen(function* () {
          const { output_format: format } = yield* query
          if (format?.startsWith("wav_") === true) return yield* streamedWav
          const begun = yield* begin(yield* body, { format, route: timedRoute, delivery: "streamed" })
          const { plan, spoken } = begun
          const headers = timed(spoken, { ...(yield* headersOfContent(plan, spoken)), "cache-control": "no-store" })
          const answer = streamAnswer(timedLines(begun), { contentType: "application/x-ndjson", headers })
          return yield* Effect.mapError(answer, (error) => refusalOf(error, false))
        }),

      elevenLabsVoices: ({ query }) =>
        Effect.gen(function* () {
          return jsonAnswer(yield* Effect.fromResult(elevenLabsVoices(yield* everyVoice, yield* query)))
        }),

      elevenLabsModels: () => Effect.succeed(jsonAnswer(elevenLabsModels))
    },
    speechBodies
  )
)
