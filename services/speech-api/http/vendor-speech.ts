/** What the HTTP routes of vendors share: an order begun, with their tags translated, and its audio in bytes. */
import { Effect, Stream } from "effect"
import { speechInputMax } from "#speech/api"
import { type SampleEncoding, wavHeader } from "#speech/audio"
import { bytesAnswer, streamAnswer } from "#http"
import type { Spoken } from "../speaking/Speech.ts"
import type { Delivery, Order, SpeechPlan, SpeechRoute } from "../speaking/plan.ts"
import { refusalOf } from "../refusals.ts"
import { type Marked, markedInput, type VendorTags } from "../vendors/markup.ts"
import { headersOfContent, prepareAnswer, speak, started, timed } from "./speaking.ts"

interface VendorOrder {
  readonly order: Omit<Order, "turns">
  readonly voiceId: string
  readonly text: string
  readonly tags: VendorTags
  readonly route: SpeechRoute
  readonly delivery: Delivery
}

export interface VendorSpeech {
  readonly plan: SpeechPlan
  readonly spoken: Spoken
  readonly sent: Marked["sent"]
}

export const beginSpeech = Effect.fnUntraced(function* (asked: VendorOrder) {
  const startedAtMs = yield* started
  const { delivery, route, tags, text, voiceId } = asked
  const { input, sent } = markedInput(text, tags)
  const order = { ...asked.order, turns: [{ voice_id: voiceId, input }] }
  const prepared = yield* prepareAnswer(order, { route, charactersMax: speechInputMax.stream, delivery })
  const plan = { ...prepared, billableCharacters: text.length }
  const begun: VendorSpeech = { plan, spoken: yield* speak(plan, startedAtMs), sent }
  return begun
})

interface AudioBytes {
  readonly bytes: Spoken["bytes"]
  /** Of the samples of a WAV file; other audio is sent as it is made. */
  readonly wav: SampleEncoding | undefined
}

/** All of the audio, as a file. */
export const wholeFile = Effect.fnUntraced(function* ({ plan }: VendorSpeech, { bytes, wav }: AudioBytes) {
  const data = Buffer.concat(yield* Effect.mapError(Stream.runCollect(bytes), (error) => refusalOf(error, false)))
  return wav === undefined ? data : Buffer.concat([wavHeader(plan.format.sampleRateHz, data.length, wav), data])
})

export const audioAnswer = Effect.fnUntraced(function* (speech: VendorSpeech, audio: AudioBytes) {
  const { plan, spoken } = speech
  const headers = timed(spoken, { ...(yield* headersOfContent(plan, spoken)), "cache-control": "no-store" })
  if (audio.wav !== undefined) return bytesAnswer(yield* wholeFile(speech, audio), "audio/wav", { headers })
  const { audioFormat, mediaType } = plan.format
  const contentType = audioFormat === "pcm" ? "audio/pcm" : mediaType
  return yield* Effect.mapError(streamAnswer(audio.bytes, { contentType, headers }), (error) => refusalOf(error, false))
})
