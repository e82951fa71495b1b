/** OpenAI's published client, unmodified, against the speech route of a running fleet. */
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError
} from "openai"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { openAiMediaTypes } from "#speech/api"
import { decoded, lengthMs } from "../support/speech-audio.ts"
import { openStream } from "../support/speech-clients.ts"
import { modelVoice } from "../../dev/fixtures/starling.ts"
import { containerOf, eventsIn, speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"

let fleet: SpeechFleet
let client: OpenAI

const clientWith = (apiKey: string) => new OpenAI({ baseURL: `${fleet.url}/v1`, apiKey, maxRetries: 0 })

beforeAll(async () => {
  fleet = await speechFleet({
    ...modelVoice,
    SPEECH_API_CONCURRENCY_PER_WORKSPACE: "2",
    SPEECH_API_STREAMS_MAX: "3"
  })
  client = clientWith(fleet.token)
})
afterAll(() => fleet.stop())

type Order = OpenAI.Audio.SpeechCreateParams

const input = "Hello there. How are you on this fine day?"
const order = (changes: Partial<Order> = {}): Order => ({ model: "tts-1", voice: "alloy", input, ...changes })

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

const failureOf = async (promise: Promise<unknown>): Promise<APIError> => {
  try {
    await promise
  } catch (error) {
    if (error instanceof APIError) return error
    throw error
  }
  throw new Error("it succeeded")
}

const containers = { mp3: "mp3", opus: "ogg", aac: "aac", flac: "flac", wav: "wav", pcm: "raw" } as const
const decoders = {
  mp3: "mp3_24000",
  opus: "ogg_24000",
  aac: "aac_24000",
  flac: "flac_24000",
  wav: "wav_24000",
  pcm: "pcm_24000"
} as const
type Format = keyof typeof containers

describe("openai's client", () => {
  it.each(Object.keys(containers) as ReadonlyArray<Format>)("gets the bytes of %s in one piece", async (format) => {
    const response = await client.audio.speech.create(order({ response_format: format }))
    assert.strictEqual(response.headers.get("content-type"), openAiMediaTypes[format])
    assert.isNotEmpty(response.headers.get("x-request-id"))
    const bytes = await bytesOf(response)
    assert.strictEqual(containerOf(bytes), containers[format])
    const ms = lengthMs(await decoded(bytes, decoders[format]))
    assert.isAbove(ms, 1_500)
    assert.isBelow(ms, 6_000)
  })

  it("gets mp3 when it names no format, and the same bytes in pieces as they are made", async () => {
    const whole = await bytesOf(await client.audio.speech.create(order()))
    const streamed = await client.audio.speech.create(order({ stream_format: "audio" }))
    const parts: Array<Uint8Array> = []
    for await (const part of streamed.body ?? []) parts.push(part)
    assert.strictEqual(containerOf(whole), "mp3")
    assert.isTrue(Buffer.concat(parts).equals(whole))
  })

  it.each(["mp3", "pcm"] as const)("gets the same bytes of %s in events, and the usage", async (format) => {
    const whole = await bytesOf(await client.audio.speech.create(order({ response_format: format })))
    const sse = await client.audio.speech.create(order({ response_format: format, stream_format: "sse" }))
    assert.strictEqual(sse.headers.get("content-type"), "text/event-stream")
    const events = eventsIn(await sse.text())
    assert.isAtLeast(events.length, 2)
    for (const { event } of events) assert.strictEqual(event, "message")
    const audio = events.flatMap(({ data }) =>
      data["type"] === "speech.audio.delta" ? [Buffer.from(String(data["audio"]), "base64")] : []
    )
    assert.isTrue(Buffer.concat(audio).equals(whole))
    assert.deepStrictEqual(events.at(-1)?.data, {
      type: "speech.audio.done",
      usage: { input_tokens: input.length, output_tokens: 0, total_tokens: input.length }
    })
  })

  it.each([
    ["alloy", 0.5],
    ["alloy", 2],
    ["alloy", 4],
    ["nora", 2]
  ] as const)("hears %s at %s times its pace", async (voice, speed) => {
    const lengthAt = async (changes: Partial<Order>) =>
      lengthMs(
        await decoded(
          await bytesOf(await client.audio.speech.create(order({ voice, response_format: "pcm", ...changes }))),
          "pcm_24000"
        )
      )
    const ratio = (await lengthAt({})) / (await lengthAt({ speed }))
    // Pauses do not shrink as words do; espeak-ng's shrink more.
    assert.isAbove(ratio, speed * 0.7)
    assert.isBelow(ratio, speed * 1.4)
  })

  it("speaks with ids of our own voices and models", async () => {
    const own = await client.audio.speech.create(
      order({ model: "tts-3.0", voice: { id: "lena" }, input: "Guten Tag.", response_format: "wav" })
    )
    assert.strictEqual(containerOf(await bytesOf(own)), "wav")
  })
})

describe("an error of openai's client", () => {
  it("for faulty fields is a BadRequestError that says them all", async () => {
    const faults = { speed: 9, response_format: "midi", input: "" } as unknown as Partial<Order>
    const error = await failureOf(client.audio.speech.create(order(faults)))
    assert.instanceOf(error, BadRequestError)
    assert.strictEqual(error.type, "invalid_request_error")
    assert.strictEqual(error.code, "validation_failed")
    assert.include(["speed", "response_format", "input"], error.param)
    for (const name of Object.keys(faults)) assert.include(error.message, `${name}:`)
  })

  it("for a body of both dialects names the fields of both", async () => {
    const both = { voice_id: "henry", output_format: "mp3_24000_64" } as unknown as Partial<Order>
    const error = await failureOf(client.audio.speech.create(order(both)))
    assert.instanceOf(error, BadRequestError)
    const { fields } = error.error as { readonly fields: Readonly<Record<string, string>> }
    assert.sameMembers(Object.keys(fields), ["voice", "voice_id", "output_format"])
  })

  it("for a wrong token is an AuthenticationError", async () => {
    const error = await failureOf(clientWith("wrong").audio.speech.create(order()))
    assert.instanceOf(error, AuthenticationError)
    assert.strictEqual(error.type, "authentication_error")
    assert.strictEqual(error.code, "unauthorized")
  })

  it("for a token without the scope is a PermissionDeniedError", async () => {
    const reader = clientWith(await fleet.tokenFor("voices:read"))
    const error = await failureOf(reader.audio.speech.create(order()))
    assert.instanceOf(error, PermissionDeniedError)
    assert.strictEqual(error.code, "insufficient_scope")
  })

  it("for a voice that nobody has is a NotFoundError", async () => {
    const error = await failureOf(client.audio.speech.create(order({ voice: "nobody" })))
    assert.instanceOf(error, NotFoundError)
    assert.strictEqual(error.code, "voice_not_found")
  })

  it("for a text that is too long has status 413", async () => {
    const error = await failureOf(client.audio.speech.create(order({ input: "a".repeat(4_097) })))
    assert.strictEqual(error.status, 413)
    assert.strictEqual(error.code, "payload_too_large")
    assert.strictEqual(error.type, "invalid_request_error")
  })

  it("for more calls at once than its workspace may have is a RateLimitError, and than the process an InternalServerError", async () => {
    const long = order({ input: input.repeat(90).slice(0, 4_000), response_format: "pcm" })
    const other = { url: fleet.url, token: await fleet.tokenOf("--workspace", "other", "--role", "member") }
    const held = await Promise.all([1, 2].map(() => openStream(fleet, "/v1/audio/speech", long)))
    try {
      const limited = await failureOf(client.audio.speech.create(order()))
      assert.instanceOf(limited, RateLimitError)
      assert.strictEqual(limited.code, "concurrency_limit_reached")
      assert.strictEqual(limited.type, "rate_limit_error")
      assert.isNotEmpty(limited.headers?.get("retry-after"))

      held.push(await openStream(other, "/v1/audio/speech", long))
      const full = await failureOf(clientWith(other.token).audio.speech.create(order()))
      assert.instanceOf(full, InternalServerError)
      assert.strictEqual(full.status, 503)
      assert.strictEqual(full.code, "service_unavailable")
      assert.strictEqual(full.type, "api_error")
    } finally {
      for (const { leave } of held) leave()
    }
  })
})
