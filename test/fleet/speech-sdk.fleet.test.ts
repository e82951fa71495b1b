/** The published client library of the API that ours is compatible with, unmodified, against a running fleet. */
import { SpeechifyClient, SpeechifyError } from "@speechify/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { containerOf, speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"

let fleet: SpeechFleet
let client: SpeechifyClient

beforeAll(async () => {
  fleet = await speechFleet()
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
