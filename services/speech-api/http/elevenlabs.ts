/** ElevenLabs' HTTP routes: speech in bytes and with the times of its characters, voices, models. */
import { Effect, Stream } from "effect"
import { ElevenLabsGroup, type ElevenLabsSpeechRequest, type ElevenLabsTimedAudio, speechInputMax } from "#speech/api"
import { wavHeader } from "#speech/audio"
import { bytesAnswer, HttpCall, jsonAnswer, routesOf, streamAnswer, validationFailed } from "#http"
import { Configuration } from "#configuration"
import { headersOfContent, prepareAnswer, speak, started, streamed, timed } from "./speaking.ts"
import { everyVoice } from "./voices.ts"
import type { Spoken } from "../speaking/Speech.ts"
import type { SpeechPlan, SpeechRoute } from "../speaking/plan.ts"
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
import { refusingAs } from "../vendors/refusals.ts"

// 20,000 characters of four bytes each, at worst escaped to twice that, with room for the other fields.
const options = { bodyBytesMax: Effect.succeed(512 * 1_024) }

interface Begun {
  readonly plan: SpeechPlan
  readonly spoken: Spoken
  readonly text: string
  readonly isWav: boolean
}

const begin = Effect.fnUntraced(function* (
  request: ElevenLabsSpeechRequest,
  format: string | undefined,
  route: SpeechRoute
) {
  const startedAtMs = yield* started
  const { SpeechApi } = yield* Configuration
  const voiceId = (yield* HttpCall).params["voice_id"] ?? ""
  const { isWav, order } = elevenLabsOrder(request, { voiceId, format }, SpeechApi.VendorVoices)
  const plan = yield* prepareAnswer(order, { route, charactersMax: speechInputMax.stream, isStreamed: !isWav })
  const begun: Begun = { plan, spoken: yield* speak(plan, startedAtMs), text: request.text, isWav }
  return begun
})

const mediaTypeOf = ({ audioFormat, mediaType }: SpeechPlan["format"]) =>
  audioFormat === "pcm" ? "audio/pcm" : mediaType

/** All of the audio, as a file. */
const wholeFile = Effect.fnUntraced(function* ({ isWav, plan, spoken }: Begun) {
  const parts = yield* Effect.mapError(Stream.runCollect(spoken.bytes), (error) => refusalOf(error, false))
  const bytes = Buffer.concat(parts)
  return isWav ? Buffer.concat([wavHeader(plan.format.sampleRateHz, bytes.length), bytes]) : bytes
})

const bytesOf = Effect.fnUntraced(function* (begun: Begun) {
  const { isWav, plan, spoken } = begun
  if (!isWav) return yield* streamed(spoken, plan, mediaTypeOf(plan.format))
  const file = yield* wholeFile(begun)
  return bytesAnswer(file, "audio/wav", { headers: timed(spoken, yield* headersOfContent(plan, spoken)) })
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

const timedLines = ({ spoken, text }: Begun) => {
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
        const aligned = alignTo(text, { before, marks: spoken.takeMarks(), isAll: false })
        return [aligned, [line(bytes, aligned)]]
      },
      {
        onHalt: (before) => {
          const rest = alignTo(text, { before, marks: spoken.takeMarks(), isAll: true })
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
          return yield* bytesOf(yield* begin(yield* body, format, "/v1/audio/stream"))
        }),

      elevenLabsStream: ({ body, query }) =>
        Effect.gen(function* () {
          const { output_format: format } = yield* query
          return yield* bytesOf(yield* begin(yield* body, format, "/v1/audio/stream"))
        }),

      elevenLabsTimed: ({ body, query }) =>
        Effect.gen(function* () {
          const { output_format: format } = yield* query
          const begun = yield* begin(yield* body, format, "/v1/audio/stream/with-timestamps")
          const { plan, spoken, text } = begun
          const file = yield* wholeFile(begun)
          const aligned = alignTo(text, { before: unaligned, marks: spoken.takeMarks(), isAll: true })
          return jsonAnswer(timedAudio(file, aligned), {
            headers: timed(spoken, yield* headersOfContent(plan, spoken))
          })
        }),

      elevenLabsTimedStream: ({ body, query }) =>
        Effect.gen(function* () {
          const { output_format: format } = yield* query
          if (format?.startsWith("wav_") === true) return yield* streamedWav
          const begun = yield* begin(yield* body, format, "/v1/audio/stream/with-timestamps")
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
    options
  )
)
