import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { speechClient } from "#contracts/speech-api"
import { IdempotencyKey } from "#contracts/http"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"
import { formOf } from "../support/voices.ts"

let fleet: SpeechFleet

beforeAll(async () => {
  fleet = await startSpeechFleet()
})
afterAll(() => fleet.remove())

const order = { voice_id: "selma", input: "Hello there. How are you?" }

const client = Effect.suspend(() => speechClient({ url: fleet.url, token: fleet.token })).pipe(
  Effect.provide(FetchHttpClient.layer)
)

const refusalOf = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(call), (error) => (error as { readonly error?: { readonly code: string } }).error?.code)

describe("the typed client of the speech API", () => {
  it.live("speaks a text whole, and as a stream of bytes", () =>
    Effect.gen(function* () {
      const { createSpeech, streamSpeech } = yield* client
      const whole = yield* createSpeech({ payload: { ...order, output_format: "pcm_24000" } })
      assert.strictEqual(whole.speech_marks.value, order.input)
      const parts = yield* Stream.runCollect(yield* streamSpeech({ payload: { ...order, output_format: "pcm_24000" } }))
      assert.isTrue(Buffer.concat(parts).equals(Buffer.from(whole.audio_data, "base64")))
    })
  )

  it.live("hears the events of a stream with marks, to the last", () =>
    Effect.gen(function* () {
      const { streamSpeechWithTimestamps } = yield* client
      const events = yield* Stream.runCollect(yield* streamSpeechWithTimestamps({ payload: order }))
      const words = events.flatMap((event) => (event.type === "speech.chunk" ? (event.speech_marks ?? []) : []))
      assert.deepStrictEqual(
        words.map(({ value }) => value),
        ["Hello", "there.", "How", "are", "you?"]
      )
      assert.strictEqual(events.at(-1)?.type, "speech.done")
    })
  )

  it.live("lists models and voices, a page at a time", () =>
    Effect.gen(function* () {
      const { listModels, listVoices, getVoice } = yield* client
      assert.include(
        (yield* listModels()).models.map(({ id }) => id),
        "tts-3.0"
      )
      const page = yield* listVoices({ query: { limit: "2", locale: "en" } })
      assert.isTrue("voices" in page && page.has_more && page.voices.length === 2)
      assert.strictEqual((yield* getVoice({ params: { voice_id: "selma" } })).display_name, "Selma")
    })
  )

  it.live("starts a consent once for a key, and sends a form", () =>
    Effect.gen(function* () {
      const { createConsentChallenge, createVoice } = yield* client
      const start = Effect.provideService(
        createConsentChallenge({ payload: { full_name: "Ada Lovelace" } }),
        IdempotencyKey,
        "once"
      )
      const { id } = yield* start
      assert.strictEqual((yield* start).id, id)
      const form = formOf({ name: "Ada", gender: "female", consent_challenge_id: id })
      assert.strictEqual(yield* refusalOf(createVoice({ payload: form })), "validation_failed")
    })
  )

  it.live("fails with the code of a refusal", () =>
    Effect.gen(function* () {
      const { streamSpeechWithTimestamps, getVoice, deleteVoice } = yield* client
      const payload = { ...order, model: "tts-english" }
      assert.strictEqual(yield* refusalOf(streamSpeechWithTimestamps({ payload })), "speech_marks_unsupported")
      assert.strictEqual(yield* refusalOf(getVoice({ params: { voice_id: "nobody" } })), "voice_not_found")
      assert.strictEqual(yield* refusalOf(deleteVoice({ params: { voice_id: "selma" } })), "forbidden")
    })
  )
})
