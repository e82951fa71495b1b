/** The documented rules of formats, models, languages, versions and scopes, each as a row, over HTTP. */
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ErrorEnvelope } from "#base"
import { speechModels } from "#speech/contract"
import { speechErrorCodes } from "#speech/api"
import { codeOf, containerOf, type Heard, speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"

let fleet: SpeechFleet

beforeAll(async () => {
  fleet = await speechFleet({ SPEECH_API_CONCURRENCY_PER_WORKSPACE: "2" })
})
afterAll(() => fleet.stop())

const speech = "/v1/audio/speech"
const stream = "/v1/audio/stream"
const timestamps = "/v1/audio/stream/with-timestamps"
const hello = { input: "Hello.", voice_id: "henry" }

type Fields = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>

const ask = (path: string, body: Fields = {}, headers: Headers = {}) =>
  fleet.call(path, { body: { ...hello, ...body }, headers })

const assertRefused = (heard: Heard, code: keyof typeof speechErrorCodes, field?: string) => {
  const { error } = Schema.decodeUnknownSync(ErrorEnvelope)(heard.body)
  assert.strictEqual(error.code, code)
  assert.strictEqual(heard.status, speechErrorCodes[code].status)
  if (field !== undefined) assert.property(error.fields, field)
}

describe("the format of a stream", () => {
  it.each([
    ["*/*", {}, "audio/mpeg", "mp3"],
    ["audio/mpeg", {}, "audio/mpeg", "mp3"],
    ["audio/ogg", {}, "audio/ogg", "ogg"],
    ["audio/aac", {}, "audio/aac", "aac"],
    ["audio/pcm", {}, "audio/L16; rate=24000; channels=1", "raw"],
    ["audio/ogg;q=0.3, audio/pcm;q=0.9", {}, "audio/L16; rate=24000; channels=1", "raw"],
    ["audio/ogg", { output_format: "mp3_22050_32" }, "audio/mpeg", "mp3"],
    ["audio/mpeg", { output_format: "pcm_16000" }, "audio/L16; rate=16000; channels=1", "raw"],
    ["application/json", { output_format: "ulaw_8000" }, "audio/basic", "raw"],
    ["audio/mpeg", { output_format: "ogg_24000" }, "audio/ogg", "ogg"],
    ["audio/mpeg", { output_format: "aac_24000", audio_format: "wav" }, "audio/aac", "aac"]
  ] as const)("by Accept %s and %j is %s", async (accept, body, type, container) => {
    const bytes = await ask(stream, body, { accept })
    assert.strictEqual(bytes.contentType, type)
    if (container !== "raw") assert.strictEqual(containerOf(bytes.bytes), container)
    const events = await ask(timestamps, body, { accept })
    assert.strictEqual(events.contentType, "text/event-stream")
    assert.strictEqual(events.headers.get("service-audio-content-type"), type)
  })

  it.each([
    ["audio/wav", {}, "bad_request", undefined],
    ["application/json", {}, "bad_request", undefined],
    ["*/*", { output_format: "wav_24000" }, "validation_failed", "output_format"],
    ["*/*", { output_format: "mp3" }, "validation_failed", "output_format"],
    ["*/*", { output_format: 7 }, "validation_failed", "output_format"]
  ] as const)("by Accept %s and %j is refused with %s", async (accept, body, code, field) => {
    for (const path of [stream, timestamps]) assertRefused(await ask(path, body, { accept }), code, field)
  })
})

describe("the format of the audio in an event stream", () => {
  it.each([
    ["text/event-stream", "audio/mpeg"],
    ["application/json, text/event-stream", "audio/mpeg"],
    ["text/event-stream, audio/ogg;q=0.5", "audio/ogg"]
  ])("by Accept %s is %s, and a plain stream ignores such a header unless it names audio", async (accept, type) => {
    const events = await ask(timestamps, {}, { accept })
    assert.strictEqual(events.contentType, "text/event-stream")
    assert.strictEqual(events.headers.get("service-audio-content-type"), type)
    const bytes = await ask(stream, {}, { accept })
    if (accept.includes("audio/")) assert.strictEqual(bytes.contentType, type)
    else assertRefused(bytes, "bad_request")
  })
})

describe("the format of a whole answer", () => {
  it.each([
    [{}, "wav", undefined],
    [{ audio_format: "mp3" }, "mp3", undefined],
    [{ audio_format: "ogg" }, "ogg", undefined],
    [{ audio_format: "aac" }, "aac", undefined],
    [{ audio_format: "pcm" }, "pcm", undefined],
    [{ output_format: "wav_48000", audio_format: "mp3" }, "wav", "wav_48000"],
    [{ output_format: "ulaw_8000" }, "ulaw", "ulaw_8000"],
    [{ output_format: "mp3_24000_192" }, "mp3", "mp3_24000_160"]
  ])("with %j is %s, reported as %s", async (body, audioFormat, outputFormat) => {
    const { body: answer } = await ask(speech, body, { accept: "audio/ogg" })
    const { audio_format, output_format } = answer as Readonly<Record<string, unknown>>
    assert.deepStrictEqual([audio_format, output_format], [audioFormat, outputFormat])
  })

  it.each([
    [{ audio_format: "midi" }, "audio_format"],
    [{ output_format: "mp3_24000_320" }, "output_format"],
    [{ output_format: "mp3_24000_160", model: "tts-english" }, "output_format"],
    [{ output_format: "mp3_22050_192", model: "tts-multilingual" }, "output_format"]
  ])("with %j is refused for its %s", async (body, field) => {
    assertRefused(await ask(speech, body), "validation_failed", field)
  })
})

describe("a model", () => {
  it("may be named, by each of its names, on the routes of its list, and on no others", async () => {
    for (const { id, aliases, routes, isDialogue } of speechModels) {
      for (const model of [id, ...aliases]) {
        for (const path of [speech, stream, timestamps, "/v1/audio/dialogue"]) {
          const body = { ...hello, turns: [hello], model, output_format: "pcm_8000" }
          const heard = await fleet.call(path, { body })
          if (routes.includes(path)) assert.strictEqual(heard.status, 200, `${model} on ${path}`)
          else if (path === timestamps && !isDialogue) assertRefused(heard, "speech_marks_unsupported")
          else assertRefused(heard, "validation_failed", "model")
        }
      }
    }
  })
})

describe("a null field", () => {
  const options = { loudness_normalization: null, text_normalization: null }
  const nulls = { language: null, model: null, options, output_format: null, audio_format: null }

  it.each([speech, stream, timestamps, "/v1/audio/dialogue"])("is absent on %s", async (path) => {
    const body = { ...hello, turns: [hello] }
    const [without, given] = [await fleet.call(path, { body }), await fleet.call(path, { body: { ...body, ...nulls } })]
    assert.deepStrictEqual([given.status, given.contentType], [200, without.contentType])
    const all = await fleet.call(path, { body: { ...body, ...nulls, options: null } })
    assert.strictEqual(all.status, 200)
  })

  it("is missing when it is required", async () => {
    for (const path of [speech, stream, timestamps]) {
      assertRefused(await ask(path, { input: null }), "validation_failed", "input")
    }
    assertRefused(await fleet.call("/v1/audio/dialogue", { body: { turns: null } }), "validation_failed", "turns")
    assertRefused(await fleet.call("/v1/audio/dialogue", { body: { turns: [null] } }), "validation_failed")
  })
})

describe("input that begins as a document", () => {
  it.each([
    ["<!DOCTYPE speak><speak>Hi</speak>", 0],
    ['\ufeff<?xml version="1.0"?>\n<!DOCTYPE speak>\n<speak>Hi</speak>', 23],
    ["<!-- a --> <SPEAK>Hi</SPEAK>", 11]
  ])("%j is refused at its offset on every route, and not read aloud", async (input, offset) => {
    for (const path of [speech, stream, timestamps]) {
      const heard = await ask(path, { input })
      assertRefused(heard, "validation_failed", "input")
      assert.include(heard.bytes.toString(), `at offset ${offset}`)
    }
  })

  it("may name a voice: the element is ignored, and its words are spoken", async () => {
    const input = '<speak>One <voice name="claire">two</voice> three</speak>'
    const heard = await ask(speech, { input })
    assert.strictEqual(heard.status, 200)
    const { speech_marks: marks } = heard.body as {
      speech_marks: { chunks: ReadonlyArray<{ chunks: ReadonlyArray<{ value: string }> }> }
    }
    const words = marks.chunks.flatMap(({ chunks }) => chunks.map(({ value }) => value))
    assert.deepStrictEqual(words, ["One", "two", "three"])
  })
})

describe("a voice and a language", () => {
  it.each([
    ["jonas", {}, 200, undefined],
    ["jonas", { language: "en-GB" }, 200, undefined],
    ["henry", { language: "pt-BR" }, 200, undefined],
    ["henry", { language: "en", model: "tts-3.2" }, 200, undefined],
    ["daan", { language: "nl-NL", model: "tts-multilingual" }, 200, undefined],
    ["jonas", { model: "tts-3.2" }, 400, "voice_id"],
    ["jonas", { model: "tts-english" }, 400, "voice_id"],
    ["henry", { language: "de-DE", model: "tts-3.2" }, 400, "language"],
    ["henry", { language: "ja-JP" }, 400, "language"],
    ["henry", { language: "english" }, 400, "language"],
    ["daan", {}, 400, "voice_id"]
  ] as const)("%s with %j is %s", async (voice, body, status, field) => {
    for (const path of [speech, stream, timestamps]) {
      const isMarkless = path === timestamps && "model" in body && body.model !== "tts-3.2"
      if (isMarkless) continue
      const heard = await ask(path, { ...body, voice_id: voice })
      assert.strictEqual(heard.status, status, path)
      if (field !== undefined) assertRefused(heard, "validation_failed", field)
    }
  })

  it("that do not exist get 404, on every route", async () => {
    for (const path of [speech, stream, timestamps])
      assertRefused(await ask(path, { voice_id: "v/1" }), "voice_not_found")
  })
})

describe("a version", () => {
  it.each([
    ["2026-09-13", 200],
    ["2026-07-07", 200],
    ["2024-01-01", 200],
    ["2026-09-14", 400],
    ["2026-02-30", 400],
    ["latest", 400]
  ])("%s is %s on every route, under both names", async (version, status) => {
    for (const name of ["service-version", "speechify-version"]) {
      const headers = { [name]: version }
      const body = { output_format: "pcm_8000" }
      const heard = [
        await ask(speech, body, headers),
        await ask(stream, body, headers),
        await ask(timestamps, body, headers),
        await fleet.call("/v1/audio/dialogue", { body: { turns: [hello] }, headers }),
        await fleet.call("/v1/audio/models", { headers }),
        await fleet.call("/v1/voices?limit=1", { headers }),
        await fleet.call("/v1/voices/henry", { headers })
      ]
      for (const one of heard) {
        assert.strictEqual(one.status, status)
        if (status === 400) assertRefused(one, "invalid_api_version")
      }
    }
  })
})

describe("the length of an input", () => {
  it.each([
    [speech, 2_000],
    [stream, 20_000],
    [timestamps, 20_000]
  ] as const)("on %s is %s UTF-16 units, tags counted", async (path, most) => {
    const wrapped = (units: number) => `<speak>${" ".repeat(units - 17)}Hi${"</speak>"}`
    const output = { output_format: "pcm_8000" }
    assert.strictEqual(wrapped(most).length, most)
    assert.strictEqual((await ask(path, { ...output, input: wrapped(most) })).status, 200)
    assertRefused(await ask(path, { ...output, input: wrapped(most + 1) }), "payload_too_large")
  })
})

describe("a caller", () => {
  it("needs a token, the route's scope, and a place", async () => {
    const reader = await fleet.tokenFor("voices:read")
    const streamer = await fleet.tokenFor("audio:stream")
    const rows = [
      ["GET", "/v1/voices", null, 401],
      ["GET", "/v1/voices", "stl_wrong", 401],
      ["GET", "/v1/voices", streamer, 403],
      ["GET", "/v1/voices/henry", streamer, 403],
      ["GET", "/v1/voices", reader, 200],
      ["GET", "/v1/audio/models", reader, 200],
      ["GET", "/v1/audio/models", streamer, 200],
      ["GET", "/openapi.json", null, 200],
      ["POST", speech, null, 401],
      ["POST", speech, streamer, 403],
      ["POST", stream, streamer, 200],
      ["POST", timestamps, streamer, 200],
      ["POST", stream, reader, 403]
    ] as const
    for (const [method, path, token, status] of rows) {
      const body = method === "POST" ? { body: hello } : {}
      assert.strictEqual((await fleet.call(path, { method, token, ...body })).status, status, `${method} ${path}`)
    }
  })

  it("gets the error of the request itself", async () => {
    assertRefused(await fleet.call(speech, { body: "{" }), "bad_request")
    assertRefused(await ask(speech, {}, { "content-type": "text/plain" }), "unsupported_media_type")
    assertRefused(await ask(speech, { more: "x".repeat(600_000) }), "payload_too_large")
    assertRefused(await fleet.call("/v1/nothing"), "not_found")
    const wrong = await fleet.call(speech, { method: "GET" })
    assertRefused(wrong, "method_not_allowed")
    assert.strictEqual(wrong.headers.get("allow"), "POST")
  })

  it("over its workspace's concurrency gets Retry-After", async () => {
    const gone = new AbortController()
    const long = JSON.stringify({ ...hello, input: "All is well. ".repeat(1_500), output_format: "pcm_48000" })
    const headers = { authorization: `Bearer ${fleet.token}`, "content-type": "application/json" }
    const open = () => fetch(`${fleet.url}${stream}`, { method: "POST", headers, body: long, signal: gone.signal })
    const held = [await open(), await open()]
    assert.deepStrictEqual(
      held.map(({ status }) => status),
      [200, 200]
    )
    const heard = await ask(stream)
    gone.abort()
    assertRefused(heard, "concurrency_limit_reached")
    assert.strictEqual(heard.headers.get("ratelimit-remaining-calls"), "0")
    assert.strictEqual(codeOf(heard), "concurrency_limit_reached")
  })
})
