import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { CartesiaEvent, CartesiaVoices } from "#speech/api"
import { HttpListener } from "#http"
import { sharedVoices } from "#speech"
import { cartesiaOrder, cartesiaVoices } from "../../../../services/speech-api/vendors/cartesia.ts"
import { call } from "../../../libs/http/api.ts"
import { listenersToken, spokenApi, token } from "./spoken-api.ts"

const raw = (encoding: string, sample_rate: number, container = "raw") => ({ container, encoding, sample_rate })
const asked = { model_id: "sonic-3", voice: "theirs", output_format: raw("pcm_s16le", 16_000) }

describe("an order of Cartesia's", () => {
  const orderOf = (more: object = {}) => cartesiaOrder({ ...asked, ...more } as never, { theirs: "henry" })

  it.each([
    [raw("pcm_f32le", 44_100, "wav"), "pcm_44100"],
    [raw("pcm_mulaw", 8_000), "ulaw_8000"],
    [raw("pcm_alaw", 8_000, "wav"), "alaw_8000"],
    [{ container: "mp3", sample_rate: 44_100, bit_rate: 128_000 }, "mp3_44100_128"]
  ])("for %j is spoken in %s", (output_format, own) => {
    assert.strictEqual(Result.getOrThrow(orderOf({ output_format })).output_format, own)
  })

  it("has our voice, our default model, its speed, language and normalization", () => {
    const own = { voiceId: "henry", output_format: "pcm_16000" }
    assert.deepStrictEqual(Result.getOrThrow(orderOf()), own)
    const more = { generation_config: { speed: 1.2 }, locale: "en-GB", normalization: "off" }
    const spoken = { speed: 1.2, language: "en-GB", options: { text_normalization: false } }
    assert.deepStrictEqual(Result.getOrThrow(orderOf(more)), { ...own, ...spoken })
    assert.isTrue(Result.isFailure(orderOf({ output_format: raw("pcm_mulaw", 16_000) })))
  })
})

describe("the voices for Cartesia's clients", () => {
  it("come in pages that join to all of them, and are found", () => {
    const found = (query: object) => Result.getOrThrow(cartesiaVoices(sharedVoices, query))
    const ids: Array<string> = []
    for (
      let page = found({ limit: "7" });
      page.data.length > 0;
      page = found({ limit: "7", starting_after: ids.at(-1) })
    ) {
      ids.push(...page.data.map(({ id }) => id))
    }
    assert.sameMembers(
      ids,
      sharedVoices.map(({ id }) => id)
    )
    const before = found({ limit: "3", ending_before: ids[5] })
    assert.deepStrictEqual(
      before.data.map(({ id }) => id),
      ids.slice(2, 5)
    )
    assert.isTrue(found({ q: "HENRY" }).data.some(({ id }) => id === "henry"))
    assert.isTrue(found({ gender: "feminine", limit: "100" }).data.every(({ gender }) => gender === "feminine"))
    assert.isEmpty(found({ is_owner: "true" }).data)
    assert.isTrue(Result.isFailure(cartesiaVoices(sharedVoices, { limit: "0" })))
    Schema.decodeUnknownSync(CartesiaVoices)(found({ limit: "100" }))
  })
})

const key = (own = token) => ({ "x-api-key": own, "cartesia-version": "2025-04-16" })

const post = (path: string, body: object, headers: Record<string, string> = key()) => ({
  path,
  init: { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) }
})

const answered = ({ init, path }: ReturnType<typeof post>) => call(path, init)

const sound = ({ init, path }: ReturnType<typeof post>) =>
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    const response = yield* Effect.promise(() => fetch(`${url}${path}`, init))
    const bytes = Buffer.from(yield* Effect.promise(() => response.arrayBuffer()))
    return { status: response.status, type: response.headers.get("content-type"), bytes }
  })

const transcript = "Hello <break time='0s'/>there, you & I."

layer(spokenApi(), { excludeTestServices: true })("Cartesia's routes", (it) => {
  it.effect.each([
    [raw("pcm_s16le", 16_000), "audio/pcm", 3_200],
    [raw("pcm_f32le", 16_000), "audio/pcm", 6_400],
    [raw("pcm_mulaw", 8_000), "audio/basic", 800]
  ] as const)("speak in bytes of %j", ([output_format, type, wordBytes]) =>
    Effect.gen(function* () {
      const heard = yield* sound(post("/tts/bytes", { ...asked, transcript, output_format }))
      assert.strictEqual(heard.status, 200)
      assert.strictEqual(heard.type, type)
      assert.strictEqual(heard.bytes.length % wordBytes, 0)
      assert.isNotEmpty(heard.bytes)
    })
  )

  it.effect("take a body without a type, but none of another", () =>
    Effect.gen(function* () {
      const { path } = post("/tts/bytes", {})
      const asking = (headers: Record<string, string>) =>
        call(path, {
          method: "POST",
          headers: { ...key(), ...headers },
          body: Buffer.from(JSON.stringify({ ...asked, transcript }))
        })
      assert.strictEqual((yield* asking({})).status, 200)
      assert.strictEqual((yield* asking({ "content-type": "text/plain" })).status, 415)
    })
  )

  it.effect("deliver wav as a file with its length, also of floats", () =>
    Effect.gen(function* () {
      for (const [encoding, tag, bits] of [
        ["pcm_s16le", 1, 16],
        ["pcm_f32le", 3, 32]
      ] as const) {
        const { bytes, type } = yield* sound(
          post("/tts/bytes", { ...asked, transcript, output_format: raw(encoding, 44_100, "wav") })
        )
        assert.strictEqual(type, "audio/wav")
        assert.deepStrictEqual([bytes.readUInt16LE(20), bytes.readUInt16LE(34)], [tag, bits])
        assert.strictEqual(bytes.readUInt32LE(40), bytes.length - 44)
      }
    })
  )

  it.effect("speak in events, with the times of words", () =>
    Effect.gen(function* () {
      const body = { ...asked, transcript: "Hello there.", add_timestamps: true, context_id: "a" }
      const { text } = yield* answered(post("/tts/sse", body, { authorization: `Bearer ${token}` }))
      const events = Array.from(text.matchAll(/^event: (.+)\ndata: (.+)$/gmu), ([, name = "", data = ""]) => {
        const event = Schema.decodeUnknownSync(CartesiaEvent)(JSON.parse(data))
        assert.strictEqual(event.type, name)
        assert.strictEqual(event.context_id, "a")
        return event
      })
      assert.deepStrictEqual(events.at(-1), { type: "done", context_id: "a", done: true, status_code: 200 })
      const words = events.flatMap((event) => (event.type === "timestamps" ? event.word_timestamps.words : []))
      assert.deepStrictEqual(words, ["Hello", "there."])
      const bytes = events.reduce(
        (sum, event) => sum + (event.type === "chunk" ? Buffer.from(event.data, "base64").length : 0),
        0
      )
      assert.strictEqual(bytes, 2 * 3_200)
    })
  )

  it.effect("refuse in its shape", () =>
    Effect.gen(function* () {
      const of = (status: number, error_code: string) => ({ status, body: { error_code, status_code: status } })
      const bytes = (more: object, headers?: Record<string, string>) =>
        answered(post("/tts/bytes", { ...asked, transcript, ...more }, headers))
      assert.containsSubset(yield* bytes({ voice: { id: "nobody" } }), of(404, "voice_not_found"))
      assert.containsSubset(yield* bytes({}, {}), of(401, "unauthorized"))
      assert.containsSubset(yield* bytes({}, key("wrong")), of(401, "unauthorized"))
      assert.containsSubset(yield* bytes({}, key(listenersToken)), of(403, "insufficient_scope"))
      assert.containsSubset(yield* bytes({ transcript: "" }), of(400, "validation_failed"))
      assert.containsSubset(yield* bytes({ transcript: " " }), of(400, "validation_failed"))
      assert.containsSubset(yield* bytes({ transcript: "a".repeat(20_001) }), of(413, "payload_too_large"))
      const rate = yield* bytes({ output_format: raw("pcm_mulaw", 16_000) })
      assert.containsSubset(rate, of(400, "validation_failed"))
      assert.include(rate.text, "output_format.sample_rate: pcm_mulaw has 8000 samples a second")
    })
  )

  it.effect("list voices, and fetch one", () =>
    Effect.gen(function* () {
      const get = (path: string) => call(path, { headers: key() })
      assert.containsSubset(yield* get("/voices?limit=2"), { status: 200, body: { has_more: true } })
      assert.containsSubset(yield* get("/voices/henry"), { body: { id: "henry", is_owner: false } })
      assert.containsSubset(yield* get("/voices/nobody"), { status: 404, body: { error_code: "voice_not_found" } })
    })
  )
})
