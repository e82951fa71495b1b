/**
 * Libraries that call the speech API, against a running fleet: the published one of the API that ours is compatible with,
 * unmodified, and the typed client of our contract.
 */
import { SpeechifyClient, SpeechifyError } from "@speechify/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { IdempotencyKey } from "#base/http"
import { speechClient } from "#speech/api"
import { modelVoice } from "../../dev/fixtures/starling.ts"
import { containerOf, speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"
import { formOf } from "../support/voices.ts"

let fleet: SpeechFleet
let client: SpeechifyClient

beforeAll(async () => {
  fleet = await speechFleet(modelVoice)
  client = new SpeechifyClient({ baseUrl: fleet.url, token: fleet.token })
})
afterAll(() => fleet.stop())

const input = "Hello there. Dr. Smith paid $12.50 (a Thursday)."

const failureOf = async (promise: Promise<unknown>): Promise<SpeechifyError> => {
  try {
    await promise
  } catch (error) {
    if (error instanceof SpeechifyError) return error
    throw error
  }
  throw new Error("it succeeded")
}

describe("@speechify/api 1.0.1", () => {
  it("lists the voices", async () => {
    const voices = await client.tts.voices.list()
    assert.isAtLeast(voices.length, 20)
    for (const voice of voices) {
      assert.isNotEmpty(voice.id)
      assert.isNotEmpty(voice.displayName)
      assert.include(["male", "female", "notSpecified"], voice.gender)
      assert.match(voice.locale, /^[a-z]{2}-[A-Z]{2}$/u)
      assert.strictEqual(voice.type, "shared")
      assert.isNotEmpty(voice.models)
      for (const { languages } of voice.models) for (const { locale } of languages) assert.isNotEmpty(locale)
    }
  })

  it.each(["simba-base", "simba-english", "simba-multilingual", "simba-turbo"] as const)(
    "speaks with %s",
    async (model) => {
      const answer = await client.tts.audio.speech({ input, voiceId: "henry", audioFormat: "wav", model })
      assert.strictEqual(answer.audioFormat, "wav")
      assert.strictEqual(answer.billableCharactersCount, input.length)
      assert.strictEqual(containerOf(Buffer.from(answer.audioData, "base64")), "wav")
      const { speechMarks } = answer
      assert.strictEqual(speechMarks.value, input)
      assert.deepStrictEqual([speechMarks.start, speechMarks.end], [0, input.length])
      assert.isAbove(speechMarks.endTime, speechMarks.startTime)
      for (const { start, end, value, type, endTime } of speechMarks.chunks) {
        assert.strictEqual(type, "sentence")
        assert.strictEqual(input.slice(start, end), value)
        assert.isAbove(endTime ?? 0, 0)
      }
    }
  )

  it.each(["wav", "mp3", "ogg", "aac"] as const)("gets %s when it asks for it", async (audioFormat) => {
    const answer = await client.tts.audio.speech({ input, voiceId: "oliver", audioFormat, language: "en-GB" })
    assert.strictEqual(answer.audioFormat, audioFormat)
    assert.strictEqual(containerOf(Buffer.from(answer.audioData, "base64")), audioFormat)
  })

  it("speaks without any of the optional fields, and with options", async () => {
    const plain = await client.tts.audio.speech({ input, voiceId: "jonas" })
    assert.strictEqual(plain.audioFormat, "wav")
    const options = { loudnessNormalization: true }
    const loud = await client.tts.audio.speech({ input, voiceId: "jonas", options })
    assert.notStrictEqual(loud.audioData, plain.audioData)
  })

  it("speaks and streams with undefined optional fields, which it sends as null", async () => {
    // Its types take no undefined; callers without our strictness pass it all the same.
    const nothing: object = { model: undefined, audioFormat: undefined, language: undefined, options: undefined }
    const answer = await client.tts.audio.speech({ input, voiceId: "selma", ...nothing })
    assert.strictEqual(answer.audioFormat, "wav")
    const options: object = { loudnessNormalization: undefined, textNormalization: undefined }
    const quiet = await client.tts.audio.speech({ input, voiceId: "selma", options })
    assert.strictEqual(quiet.audioFormat, "wav")
    const stream = await client.tts.audio.stream({ accept: "audio/mpeg", input, voiceId: "selma", ...nothing })
    const parts: Array<Buffer> = []
    for await (const part of stream) parts.push(Buffer.from(part as Uint8Array))
    assert.strictEqual(containerOf(Buffer.concat(parts)), "mp3")
  })

  it.each([
    ["audio/mpeg", "mp3"],
    ["audio/ogg", "ogg"],
    ["audio/aac", "aac"],
    ["audio/pcm", "raw"]
  ] as const)("streams %s", async (accept, container) => {
    const stream = await client.tts.audio.stream({ accept, input, voiceId: "henry", model: "simba-multilingual" })
    const parts: Array<Buffer> = []
    for await (const part of stream) parts.push(Buffer.from(part as Uint8Array))
    const bytes = Buffer.concat(parts)
    assert.isAbove(bytes.length, 5_000)
    assert.strictEqual(containerOf(bytes), container)
  })

  it("understands our refusals", async () => {
    const unknown = await failureOf(client.tts.audio.speech({ input, voiceId: "v/1" }))
    assert.strictEqual(unknown.statusCode, 404)
    assert.strictEqual((unknown.body as { error: { code: string } }).error.code, "voice_not_found")

    const wrong = await failureOf(client.tts.audio.speech({ input, voiceId: "jonas", model: "simba-english" }))
    assert.strictEqual(wrong.constructor.name, "BadRequestError")

    const long = "x".repeat(2_001)
    assert.strictEqual((await failureOf(client.tts.audio.speech({ input: long, voiceId: "henry" }))).statusCode, 413)

    const stranger = new SpeechifyClient({ baseUrl: fleet.url, token: "stl_nobody" })
    assert.strictEqual((await failureOf(stranger.tts.voices.list())).constructor.name, "UnauthorizedError")

    const reader = new SpeechifyClient({ baseUrl: fleet.url, token: await fleet.tokenFor("voices:read") })
    assert.isNotEmpty(await reader.tts.voices.list())
    const forbidden = await failureOf(reader.tts.audio.speech({ input, voiceId: "henry" }))
    assert.strictEqual(forbidden.constructor.name, "ForbiddenError")
  })

  it("rejects the newer models itself, before it calls us", async () => {
    const model = "simba-3.0" as "simba-base"
    let message = ""
    await client.tts.audio.speech({ input, voiceId: "henry", model }).catch((error: Error) => (message = error.message))
    assert.include(message, "Expected enum")
  })
})

const greeting = { voice_id: "selma", input: "Hello there. How are you?" }

const typed = Effect.suspend(() => speechClient({ url: fleet.url, token: fleet.token })).pipe(
  Effect.provide(FetchHttpClient.layer)
)

const refusalOf = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(call), (error) => (error as { readonly error?: { readonly code: string } }).error?.code)

describe("the typed client of the speech API", () => {
  it.live("speaks a text whole, and as a stream of bytes", () =>
    Effect.gen(function* () {
      const { createSpeech, streamSpeech } = yield* typed
      const whole = yield* createSpeech({ payload: { ...greeting, output_format: "pcm_24000" } })
      assert.strictEqual(whole.speech_marks.value, greeting.input)
      const parts = yield* Stream.runCollect(
        yield* streamSpeech({ payload: { ...greeting, output_format: "pcm_24000" } })
      )
      assert.isTrue(Buffer.concat(parts).equals(Buffer.from(whole.audio_data, "base64")))
    })
  )

  it.live("hears the events of a stream with marks, to the last", () =>
    Effect.gen(function* () {
      const { streamSpeechWithTimestamps } = yield* typed
      const events = yield* Stream.runCollect(yield* streamSpeechWithTimestamps({ payload: greeting }))
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
      const { listModels, listVoices, getVoice } = yield* typed
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
      const { createConsentChallenge, createVoice } = yield* typed
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
      const { streamSpeechWithTimestamps, getVoice, deleteVoice } = yield* typed
      const payload = { ...greeting, model: "tts-english" }
      assert.strictEqual(yield* refusalOf(streamSpeechWithTimestamps({ payload })), "speech_marks_unsupported")
      assert.strictEqual(yield* refusalOf(getVoice({ params: { voice_id: "nobody" } })), "voice_not_found")
      assert.strictEqual(yield* refusalOf(deleteVoice({ params: { voice_id: "selma" } })), "forbidden")
    })
  )
})
