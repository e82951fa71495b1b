import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { ElevenLabsModels, ElevenLabsTimedAudio, ElevenLabsVoices } from "#speech/api"
import { HttpListener, validationFailed, WireError } from "#http"
import { sharedVoices } from "#speech"
import {
  alignTo,
  elevenLabsModels,
  elevenLabsOrder,
  elevenLabsRefusal,
  elevenLabsVoices,
  unaligned
} from "../../../../services/speech-api/vendors/elevenlabs.ts"
import { call } from "../../../libs/http/api.ts"
import { listenersToken, spokenApi, token } from "./spoken-api.ts"

describe("an order of ElevenLabs'", () => {
  const orderOf = (more: object = {}, format?: string) =>
    elevenLabsOrder({ text: "Hi.", ...more }, { voiceId: "theirs", format }, { theirs: "henry" })

  it.each([
    [undefined, "mp3_44100_128", false],
    ["mp3_22050_32", "mp3_22050_32", false],
    ["mp3_24000_48", "mp3_24000_64", false],
    ["pcm_16000", "pcm_16000", false],
    ["ulaw_8000", "ulaw_8000", false],
    ["opus_48000_64", "ogg_24000_64", false],
    ["opus_48000_192", "ogg_24000_128", false],
    ["wav_44100", "pcm_44100", true]
  ])("in the format %s is spoken in %s", (format, own, isWav) => {
    const { order, ...rest } = orderOf({}, format)
    assert.strictEqual(order.output_format, own)
    assert.strictEqual(rest.isWav, isWav)
  })

  it("has our voice, our default model, its speed and its language", () => {
    const { order, voiceId } = orderOf({
      model_id: "eleven_v3",
      language_code: "en",
      voice_settings: { speed: 1.2 }
    })
    assert.strictEqual(voiceId, "henry")
    assert.deepStrictEqual(order, { output_format: "mp3_44100_128", language: "en", speed: 1.2 })
    assert.strictEqual(orderOf({ model_id: "tts-3.2" }).order.model, "tts-3.2")
  })

  it.each([
    ["auto", undefined],
    ["on", { text_normalization: true }],
    ["off", { text_normalization: false }]
  ])("with normalization %s has the options %j", (apply_text_normalization, options) => {
    assert.deepStrictEqual(orderOf({ apply_text_normalization }).order.options, options)
  })
})

describe("the times of characters", () => {
  const word = (value: string, start: number, start_time: number, end_time: number) =>
    ({ type: "word", value, start, end: start + value.length, start_time, end_time }) as const
  const text = " Oh, 🎉 no.\n"
  const marks = [word("Oh,", 1, 100, 400), word("no.", 8, 520, 820)] as const

  it("divide those of words, fill what is between them, and cover the text", () => {
    const { alignment } = alignTo(text, { before: unaligned, marks, isAll: true })
    assert.deepStrictEqual(alignment, {
      characters: [...text],
      character_start_times_seconds: [0, 0.1, 0.2, 0.3, 0.4, 0.44, 0.48, 0.52, 0.62, 0.72, 0.82],
      character_end_times_seconds: [0.1, 0.2, 0.3, 0.4, 0.44, 0.48, 0.52, 0.62, 0.72, 0.82, 0.82]
    })
  })

  it("are the same however the marks come", () => {
    const whole = alignTo(text, { before: unaligned, marks, isAll: true })
    const first = alignTo(text, { before: unaligned, marks: marks.slice(0, 1), isAll: false })
    const none = alignTo(text, { before: first, marks: [], isAll: false })
    assert.isNull(none.alignment)
    const last = alignTo(text, { before: none, marks: marks.slice(1), isAll: true })
    const joined = [first, last].flatMap(({ alignment }) => alignment?.character_start_times_seconds ?? [])
    assert.deepStrictEqual(joined, whole.alignment?.character_start_times_seconds)
  })
})

describe("the voices for ElevenLabs' clients", () => {
  it("are found, of a kind and by name, and come in pages that join to all of them", () => {
    const found = (query: object) => Result.getOrThrow(elevenLabsVoices(sharedVoices, query))
    assert.strictEqual(found({ voice_type: "personal" }).total_count, 0)
    assert.deepStrictEqual(
      found({ voice_ids: ["henry", "selma"] }).voices.map(({ voice_id }) => voice_id),
      ["henry", "selma"]
    )
    assert.include(
      found({ search: "HENRY" }).voices.map(({ voice_id }) => voice_id),
      "henry"
    )
    const ids: Array<string> = []
    for (let token: string | null = ""; token !== null;) {
      const page: ElevenLabsVoices = found({ page_size: "7", next_page_token: token })
      assert.strictEqual(page.total_count, sharedVoices.length)
      ids.push(...page.voices.map(({ voice_id }) => voice_id))
      token = page.next_page_token
    }
    assert.sameMembers(
      ids,
      sharedVoices.map(({ id }) => id)
    )
    assert.isTrue(Result.isFailure(elevenLabsVoices(sharedVoices, { page_size: "101" })))
    Schema.decodeUnknownSync(ElevenLabsVoices)(found({ page_size: "100" }))
    Schema.decodeUnknownSync(ElevenLabsModels)(elevenLabsModels)
  })
})

describe("a refusal for ElevenLabs' clients", () => {
  it("lists faults by their places in its request, with 422", () => {
    const fields = { input: "no", speed: "never", voice_id: "nobody's", output_format: "none", "voice_settings.x": "y" }
    assert.deepStrictEqual(elevenLabsRefusal(validationFailed(fields), "req_1"), {
      status: 422,
      body: {
        detail: [
          { loc: ["body", "text"], msg: "no", type: "value_error" },
          { loc: ["body", "voice_settings", "speed"], msg: "never", type: "value_error" },
          { loc: ["path", "voice_id"], msg: "nobody's", type: "value_error" },
          { loc: ["query", "output_format"], msg: "none", type: "value_error" },
          { loc: ["body", "voice_settings", "x"], msg: "y", type: "value_error" }
        ]
      }
    })
  })

  it.each([
    ["unauthorized", 401, 401, "invalid_api_key"],
    ["insufficient_scope", 403, 401, "missing_permissions"],
    ["payload_too_large", 413, 400, "max_character_limit_exceeded"],
    ["voice_not_found", 404, 404, "voice_not_found"],
    ["concurrency_limit_reached", 429, 429, "too_many_concurrent_requests"],
    ["service_unavailable", 503, 503, "service_unavailable"]
  ])("of %s, %i with us, is %i %s", (code, own, status, word) => {
    const refused = elevenLabsRefusal(new WireError({ status: own, code, message: "no" }), "req_1")
    assert.deepStrictEqual(refused, { status, body: { detail: { status: word, message: "no", request_id: "req_1" } } })
  })
})

const key = (own = token) => ({ "xi-api-key": own })

const speak = (path: string, body: object, headers: Record<string, string> = key()) =>
  call(`/v1/text-to-speech/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })

const sound = (path: string, body: object) =>
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    const headers = { "content-type": "application/json", ...key() }
    const asked = { method: "POST", headers, body: JSON.stringify(body) }
    const response = yield* Effect.promise(() => fetch(`${url}/v1/text-to-speech/${path}`, asked))
    const bytes = Buffer.from(yield* Effect.promise(() => response.arrayBuffer()))
    return { status: response.status, type: response.headers.get("content-type"), bytes }
  })

const text = "Hello there, you."

layer(spokenApi(), { excludeTestServices: true })("ElevenLabs' routes", (it) => {
  it.effect.each(["theirs", "theirs/stream", "henry"])("speak in bytes at %s", (path) =>
    Effect.gen(function* () {
      const { bytes, status, type } = yield* sound(`${path}?output_format=pcm_16000`, { text })
      assert.deepStrictEqual([status, type, bytes.length], [200, "audio/pcm", 3 * 3_200])
    })
  )

  it.effect("deliver wav as a file with its length", () =>
    Effect.gen(function* () {
      const { bytes, type } = yield* sound("henry?output_format=wav_44100", { text })
      assert.strictEqual(type, "audio/wav")
      assert.strictEqual(bytes.toString("latin1", 0, 4), "RIFF")
      assert.strictEqual(bytes.readUInt32LE(24), 44_100)
      assert.strictEqual(bytes.readUInt32LE(40), bytes.length - 44)
    })
  )

  it.effect("tell the times of characters, whole and in lines", () =>
    Effect.gen(function* () {
      const whole = yield* speak("henry/with-timestamps?output_format=pcm_16000", { text })
      const answer = Schema.decodeUnknownSync(ElevenLabsTimedAudio)(whole.body)
      assert.strictEqual(answer.alignment?.characters.join(""), text)
      const streamed = yield* speak("henry/stream/with-timestamps?output_format=pcm_16000", { text })
      const lines = streamed.text
        .trim()
        .split("\n")
        .map((line) => Schema.decodeUnknownSync(ElevenLabsTimedAudio)(JSON.parse(line)))
      const joined = Buffer.concat(lines.map(({ audio_base64 }) => Buffer.from(audio_base64, "base64")))
      assert.strictEqual(joined.toString("base64"), answer.audio_base64)
      const starts = lines.flatMap(({ alignment }) => alignment?.character_start_times_seconds ?? [])
      assert.deepStrictEqual(starts, answer.alignment?.character_start_times_seconds)
    })
  )

  it.effect("refuse in its shape, with its codes", () =>
    Effect.gen(function* () {
      const of = (status: number, word: string) => ({ status, body: { detail: { status: word } } })
      const nobody = yield* speak("nobody", { text })
      assert.containsSubset(nobody, of(404, "voice_not_found"))
      assert.containsSubset(yield* speak("henry", { text }, {}), of(401, "invalid_api_key"))
      assert.containsSubset(yield* speak("henry", { text }, key("wrong")), of(401, "invalid_api_key"))
      assert.containsSubset(yield* speak("henry", { text }, key(listenersToken)), of(401, "missing_permissions"))
      const long = yield* speak("henry", { text: "a".repeat(20_001) })
      assert.containsSubset(long, of(400, "max_character_limit_exceeded"))
      const loc = (...places: ReadonlyArray<string>) => ({ status: 422, body: { detail: [{ loc: places }] } })
      assert.containsSubset(yield* speak("henry", { text: 1 }), loc("body", "text"))
      assert.containsSubset(yield* speak("henry", { text: " " }), loc("body", "text"))
      assert.containsSubset(yield* speak("henry?output_format=mp5", { text }), loc("query", "output_format"))
      assert.containsSubset(yield* speak("henry", { text, model_id: "sonic" }), loc("body", "model_id"))
      const wav = yield* speak("henry/stream/with-timestamps?output_format=wav_44100", { text })
      assert.containsSubset(wav, loc("query", "output_format"))
    })
  )

  it.effect("list models and voices; ours only where its key is sent", () =>
    Effect.gen(function* () {
      const get = (path: string, headers: Record<string, string>) => call(path, { headers })
      assert.deepStrictEqual((yield* get("/v1/models", key())).body, elevenLabsModels)
      const own = { authorization: `Bearer ${token}` }
      for (const path of ["/v1/voices", "/v1/voices/henry", "/v1/voices/nobody"]) {
        const [ours, theirs] = [yield* get(path, own), yield* get(path, key())]
        assert.notProperty(ours.body, "voice_id")
        assert.strictEqual("detail" in (theirs.body as object), "error" in (ours.body as object))
      }
      const all = (yield* get("/v1/voices", key())).body as ElevenLabsVoices
      assert.sameMembers(
        all.voices.map(({ voice_id }) => voice_id),
        sharedVoices.map(({ id }) => id)
      )
      assert.containsSubset(yield* get("/v1/voices/henry", key()), { body: { voice_id: "henry", category: "premade" } })
      assert.containsSubset(yield* get("/v1/voices", key("wrong")), { body: { detail: { status: "invalid_api_key" } } })
      assert.containsSubset(yield* get("/v2/voices?page_size=2", key()), { body: { has_more: true } })
    })
  )
})
