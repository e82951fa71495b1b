/** The requests and answers of callers pinned to 2026-09-13, schema by schema, and the answers for older callers. */
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ErrorEnvelope } from "#base"
import type { WordMark } from "#speech/contract"
import { ModelList, SpeechChunkEvent, SpeechDoneEvent, SpeechResponse, Voice, VoiceList } from "#speech/api"
import { modelVoice } from "../../dev/fixtures/starling.ts"
import { codeOf, containerOf, eventsIn, speechFleet, type SpeechFleet } from "../support/speech-fleet.ts"

let fleet: SpeechFleet

beforeAll(async () => {
  fleet = await speechFleet(modelVoice)
})
afterAll(() => fleet.stop())

/** The headers that a generated client of that version adds to each of its requests. */
const pinned = {
  accept: "*/*",
  "speechify-version": "2026-09-13",
  "user-agent": "@speechify/api/4.0.1",
  "x-fern-language": "JavaScript",
  "x-fern-sdk-name": "@speechify/api",
  "x-fern-sdk-version": "4.0.1",
  "x-fern-runtime": "node",
  "x-fern-runtime-version": "24.0.0"
}
const input = 'Hello, world! "It\'s fine," said Dr. Smith (a Thursday); 3.5 naïve cafés — 🙂 done.'

/** All that a reader of marks relies on. */
const assertMarks = (text: string, marks: ReadonlyArray<WordMark>) => {
  let [end, endTime] = [0, 0]
  for (const mark of marks) {
    assert.strictEqual(text.slice(mark.start, mark.end), mark.value)
    assert.isAtLeast(mark.start, end)
    assert.isAtLeast(mark.start_time, endTime)
    assert.isAtLeast(mark.end_time, mark.start_time)
    assert.notMatch(text.slice(end, mark.start), /[\p{L}\p{N}]/u, "a word has no mark")
    ;[end, endTime] = [mark.end, mark.end_time]
  }
  assert.notMatch(text.slice(end), /[\p{L}\p{N}]/u, "the last word has no mark")
}

describe("POST /v1/audio/speech", () => {
  it("answers with all audio, its length and nested marks", async () => {
    const { body } = await fleet.call("/v1/audio/speech", {
      headers: pinned,
      body: { input, voice_id: "henry", audio_format: "pcm", model: "simba-3.2" }
    })
    const answer = Schema.decodeUnknownSync(SpeechResponse)(body)
    assert.strictEqual(answer.audio_format, "pcm")
    assert.notProperty(answer, "output_format")
    assert.strictEqual(answer.billable_characters_count, input.length)
    const samples = Buffer.from(answer.audio_data, "base64").length / 2
    assert.closeTo(answer.audio_duration_ms, samples / 24, 0.1)
    assertMarks(
      input,
      answer.speech_marks.chunks.flatMap(({ chunks }) => chunks)
    )
    assert.isAtMost(answer.speech_marks.end_time, answer.audio_duration_ms)
  })

  it("reports the format that the caller named, as delivered", async () => {
    const body = { input: "Hello.", voice_id: "henry", output_format: "mp3_24000_192", audio_format: "wav" }
    const answer = Schema.decodeUnknownSync(SpeechResponse)(
      (await fleet.call("/v1/audio/speech", { headers: pinned, body })).body
    )
    assert.strictEqual(answer.output_format, "mp3_24000_160")
    assert.strictEqual(answer.audio_format, "mp3")
  })

  it("has marks of every kind that was asked for, beside the words that it always has", async () => {
    const marks = ["word", "sentence", "character", "phoneme", "viseme"]
    const body = { input: "Hello there. All is well.", voice_id: "selma" }
    const plain = await fleet.call("/v1/audio/speech", { headers: pinned, body })
    const { body: told } = await fleet.call("/v1/audio/speech", {
      headers: pinned,
      body: { ...body, options: { marks } }
    })
    const answer = Schema.decodeUnknownSync(SpeechResponse)(told)
    const { marks: others = [], ...rest } = answer
    assert.deepStrictEqual(rest, plain.body)
    const valuesOf = (kind: string) => others.filter(({ type }) => type === kind).map(({ value }) => value)
    assert.deepStrictEqual(valuesOf("sentence"), ["Hello there.", "All is well."])
    assert.strictEqual(valuesOf("character").join(""), "Hellothere.Alliswell.")
    assert.match(valuesOf("phoneme").join(""), /^həloʊð.*wɛl$/u)
    assert.isAtLeast(valuesOf("viseme").length, valuesOf("phoneme").length)
    const captions = await fleet.call("/v1/audio/captions", { headers: pinned, body: { ...body, format: "srt" } })
    assert.match(captions.bytes.toString(), /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nHello there\. All is well\.\n$/u)
  })

  it("indexes SSML as it was sent", async () => {
    const ssml = '<speak>Tom &amp; <prosody rate="fast">Jerry</prosody> ran.</speak>'
    const { body } = await fleet.call("/v1/audio/speech", { headers: pinned, body: { input: ssml, voice_id: "henry" } })
    const answer = Schema.decodeUnknownSync(SpeechResponse)(body)
    assert.strictEqual(answer.billable_characters_count, ssml.length)
    const words = answer.speech_marks.chunks.flatMap(({ chunks }) => chunks)
    for (const { start, end, value } of words) assert.strictEqual(ssml.slice(start, end), value)
    const values = words.map(({ value }) => value)
    for (const word of ["Tom", "Jerry", "ran."]) assert.include(values, word)
  })
})

describe("POST /v1/audio/stream", () => {
  it("is mp3 for a caller that accepts anything", async () => {
    const body = { input, voice_id: "henry" }
    const heard = await fleet.call("/v1/audio/stream", { headers: pinned, body })
    assert.strictEqual(heard.contentType, "audio/mpeg")
    assert.strictEqual(containerOf(heard.bytes), "mp3")
    assert.strictEqual(heard.headers.get("transfer-encoding"), "chunked")
  })
})

const hello = { input: "Hello.", voice_id: "henry", output_format: "pcm_8000" }
const routes = ["/v1/audio/speech", "/v1/audio/stream", "/v1/audio/stream/with-timestamps", "/v1/audio/dialogue"]
const streams = routes.slice(1, 3)

/** Of both kinds of orders: each route passes over what is not its own. */
const ask = (path: string, more: object, headers = {}) =>
  fleet.call(path, { body: { ...hello, turns: [hello], ...more }, headers })

describe("what all routes read alike", () => {
  it.each([
    ["audio/ogg", {}, "audio/ogg"],
    ["audio/ogg;q=0.3, audio/pcm;q=0.9", {}, "audio/L16; rate=24000; channels=1"],
    ["audio/mpeg", { output_format: "ulaw_8000" }, "audio/basic"],
    ["audio/wav", {}, "bad_request"],
    ["*/*", { output_format: "wav_24000" }, "validation_failed"]
  ])("is the format of a stream, of Accept %s and %j: %s", async (accept, more, wanted) => {
    for (const path of streams) {
      const heard = await ask(path, { output_format: undefined, ...more }, { accept })
      const type = heard.headers.get("service-audio-content-type") ?? heard.contentType
      assert.strictEqual(heard.status === 200 ? type : codeOf(heard), wanted, path)
    }
  })

  it("is a null, which stands for an absent field", async () => {
    const options = { loudness_normalization: null, text_normalization: null }
    const nulls = { language: null, model: null, options, audio_format: null }
    for (const path of routes) {
      for (const more of [nulls, { ...nulls, options: null }]) {
        assert.strictEqual((await ask(path, more)).status, 200, path)
      }
    }
    for (const path of routes.slice(0, 3)) {
      assert.strictEqual(codeOf(await ask(path, { input: null })), "validation_failed", path)
    }
    assert.strictEqual(codeOf(await ask("/v1/audio/dialogue", { turns: [null] })), "validation_failed")
  })

  it.each(["service-version", "speechify-version"])("is the version, by %s", async (name) => {
    for (const [version, status] of [
      ["2024-01-01", 200],
      ["2026-10-01", 400]
    ] as const) {
      const headers = { [name]: version }
      const spoken = await Promise.all(routes.map((path) => ask(path, {}, headers)))
      const listed = ["/v1/audio/models", "/v1/voices?limit=1", "/v1/voices/henry"]
      const read = await Promise.all(listed.map((path) => fleet.call(path, { headers })))
      for (const heard of [...spoken, ...read]) {
        assert.strictEqual(heard.status, status)
        if (status === 400) assert.strictEqual(codeOf(heard), "invalid_api_version")
      }
    }
  })
})

describe("POST /v1/audio/stream/with-timestamps", () => {
  it("carries audio and marks that add up to the whole, and ends with speech.done", async () => {
    const body = { input, voice_id: "henry", output_format: "pcm_24000" }
    const heard = await fleet.call("/v1/audio/stream/with-timestamps", { headers: pinned, body })
    assert.strictEqual(heard.contentType, "text/event-stream")
    for (const prefix of ["speechify", "service"]) {
      assert.strictEqual(heard.headers.get(`${prefix}-audio-content-type`), "audio/L16; rate=24000; channels=1")
    }
    const text = heard.bytes.toString()
    for (const line of text.split("\n")) assert.isBelow(Buffer.byteLength(line), 65_536)
    const events = eventsIn(text)
    for (const { event, data } of events) assert.strictEqual(data["type"], event)
    const chunks = events.slice(0, -1).map(({ data }) => Schema.decodeUnknownSync(SpeechChunkEvent)(data))
    const done = Schema.decodeUnknownSync(SpeechDoneEvent)(events.at(-1)?.data)
    const samples = Buffer.concat(chunks.map(({ audio = "" }) => Buffer.from(audio, "base64"))).length / 2
    assert.closeTo(done.audio_duration_ms, samples / 24, 0.1)
    assert.strictEqual(done.billable_characters_count, input.length)
    const marks = chunks.flatMap(({ speech_marks: own = [] }) => own)
    assertMarks(input, marks)
    assert.isAtMost(marks.at(-1)?.end_time ?? 0, done.audio_duration_ms)
  })

  it("is read by a client that skips heartbeats and unknown events", () => {
    const text =
      ': keep-alive\n\nevent: speech.chunk\ndata: {"type":"speech.chunk"}\n\nevent: other\ndata: {"a":1}\n\n: x\n\n'
    const known = eventsIn(text).filter(({ event }) => event.startsWith("speech."))
    assert.deepStrictEqual(known, [{ event: "speech.chunk", data: { type: "speech.chunk" } }])
  })
})

describe("POST /v1/audio/dialogue", () => {
  it("marks every turn by its own input", async () => {
    const turns = [
      { voice_id: "henry", input: "How are you?" },
      { voice_id: "lena", input: "Sehr gut, danke." }
    ]
    const { body } = await fleet.call("/v1/audio/dialogue", { headers: pinned, body: { turns, audio_format: "ogg" } })
    const { chunks } = Schema.decodeUnknownSync(SpeechResponse)(body).speech_marks
    for (const [turn, { input: own }] of turns.entries()) {
      assertMarksOfTurn(
        own,
        chunks.flatMap((sentence) => sentence.chunks).filter((word) => word.turn === turn)
      )
    }
  })

  const assertMarksOfTurn = (text: string, words: ReadonlyArray<WordMark>) => {
    assert.strictEqual(words.map(({ value }) => value).join(" "), text)
    for (const { start, end, value } of words) assert.strictEqual(text.slice(start, end), value)
  }
})

describe("the list routes", () => {
  it("return the models", async () => {
    const { body } = await fleet.call("/v1/audio/models", { headers: pinned })
    const { models, dialogue_models: dialogue } = Schema.decodeUnknownSync(ModelList)(body)
    assert.deepStrictEqual([models.filter((model) => model.default).length, dialogue.length], [1, 1])
    for (const { endpoints } of [...models, ...dialogue]) {
      for (const path of endpoints) assert.strictEqual((await fleet.call(path, { body: {} })).status, 400)
    }
  })

  it("page through the voices by next_cursor", async () => {
    const whole = Schema.decodeUnknownSync(VoiceList)((await fleet.call("/v1/voices", { headers: pinned })).body)
    assert.deepStrictEqual([whole.has_more, whole.next_cursor], [false, null])
    const ids: Array<string> = []
    let query: string | null = "?limit=7"
    while (query !== null) {
      const page: VoiceList = Schema.decodeUnknownSync(VoiceList)(
        (await fleet.call(`/v1/voices${query}`, { headers: pinned })).body
      )
      ids.push(...page.voices.map(({ id }) => id))
      query = page.next_cursor === null ? null : `?limit=7&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    assert.deepStrictEqual(
      ids,
      whole.voices.map(({ id }) => id)
    )
  })

  it.each([
    [{ "speechify-version": "2026-07-06" }, true],
    [{ "service-version": "2025-01-01" }, true],
    [{ "x-fern-sdk-version": "1.0.1" }, true],
    [{ "speechify-version": "2026-07-07" }, false],
    [{ "service-version": "2026-09-13", "x-fern-sdk-version": "1.0.1" }, false],
    [{}, false]
  ])("of voices to a caller with %j is bare: %s", async (headers, isBare) => {
    const { body } = await fleet.call("/v1/voices?locale=en-GB", { headers })
    assert.strictEqual(Array.isArray(body), isBare)
    const voices = isBare
      ? Schema.decodeUnknownSync(Schema.Array(Voice))(body)
      : Schema.decodeUnknownSync(VoiceList)(body).voices
    assert.deepStrictEqual(
      voices.map(({ id }) => id),
      ["arthur", "emma", "oliver"]
    )
  })

  it.each([
    ["henry", 200],
    ["%68enry", 200],
    ["v%2F1", 404],
    ["%C3%A9", 404],
    ["Henry", 404]
  ])("find the voice %s, percent-encoded: %s", async (id, status) => {
    const heard = await fleet.call(`/v1/voices/${id}`, { headers: pinned })
    assert.strictEqual(heard.status, status)
    if (status === 200) assert.strictEqual(Schema.decodeUnknownSync(Voice)(heard.body).id, "henry")
    else assert.strictEqual(codeOf(heard), "voice_not_found")
  })

  it("refuse an id with invalid percent-encoding in the envelope too", async () => {
    const heard = await fleet.call("/v1/voices/%E0%A4%A", { headers: pinned })
    assert.include([400, 404], heard.status)
    Schema.decodeUnknownSync(ErrorEnvelope)(heard.body)
  })
})

describe("a refusal", () => {
  it("is the envelope, with the request's id in all three headers", async () => {
    const heard = await fleet.call("/v1/audio/speech", {
      headers: { ...pinned, "x-request-id": "mine-1" },
      body: { input: "" }
    })
    const { error, request_id: id } = Schema.decodeUnknownSync(ErrorEnvelope)(heard.body)
    assert.strictEqual(error.code, "validation_failed")
    assert.hasAllKeys(error.fields, ["input", "voice_id"])
    assert.strictEqual(id, "mine-1")
    assert.strictEqual(heard.headers.get("x-request-id"), "mine-1")
  })
})
