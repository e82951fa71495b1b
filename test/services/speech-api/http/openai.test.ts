import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { decodeConfiguration } from "#configuration"
import { speechModels } from "#speech/contract"
import {
  openAiFields,
  openAiMediaTypes,
  OpenAiSpeechEvent,
  OpenAiSpeechRequest,
  ownFields,
  SpeechRequest,
  StreamRequest
} from "#speech/api"
import { notFound, validationFailed } from "#http"
import { voiceById } from "#speech"
import {
  dialectOf,
  inOpenAiTerms,
  openAiErrorEvent,
  openAiEvents,
  orderOf
} from "../../../../services/speech-api/http/openai.ts"
import { renderSpeechError } from "../../../../services/speech-api/refusals.ts"

const { SpeechApi } = Result.getOrThrow(decodeConfiguration({}))

describe("the dialect of a body", () => {
  it.each([
    [{ input: "Hi.", model: "tts-1", voice: "alloy" }, "openai"],
    [{ input: "Hi.", response_format: "mp3" }, "openai"],
    [{ input: "Hi.", stream_format: "sse" }, "openai"],
    [{ input: "Hi.", instructions: "Speak." }, "openai"],
    [{ input: "Hi.", voice: "alloy", voice_id: null }, "openai"],
    [{ input: "Hi.", voice_id: "henry" }, "own"],
    [{ input: "Hi.", voice_id: "henry", voice: null, instructions: null }, "own"],
    [{ input: "Hi.", model: "tts-1", speed: 2 }, "own"],
    [{}, "own"],
    [[], "own"],
    [null, "own"],
    ["voice", "own"]
  ] as const)("of %j is %s", (body, dialect) => assert.deepStrictEqual(dialectOf(body), Result.succeed(dialect)))

  it("is refused with every field when the body has fields of both", () => {
    for (const openAi of openAiFields) {
      for (const own of ownFields) {
        const refused = Result.flip(dialectOf({ input: "Hi.", model: "tts-1", speed: 1, [openAi]: "x", [own]: "y" }))
        assert.sameMembers(Object.keys(Result.getOrThrow(refused).fields ?? {}), [openAi, own])
      }
    }
    const all = Object.fromEntries([...openAiFields, ...ownFields].map((name) => [name, "x"]))
    const { fields, code, message } = Result.getOrThrow(Result.flip(dialectOf(all)))
    assert.strictEqual(code, "validation_failed")
    for (const name of [...openAiFields, ...ownFields]) assert.include(message, `${name}: `)
    assert.sameMembers(Object.keys(fields ?? {}), [...openAiFields, ...ownFields])
  })

  it("is told by every field that only one of them has", () => {
    const [ours, theirs] = [
      { ...SpeechRequest.fields, ...StreamRequest.fields },
      OpenAiSpeechRequest.fields
    ] as ReadonlyArray<object>
    const own = Object.keys(ours ?? {}).filter((name) => !(name in (theirs ?? {})))
    const openAi = Object.keys(theirs ?? {}).filter((name) => !(name in (ours ?? {})))
    assert.sameMembers([...ownFields], own)
    assert.sameMembers([...openAiFields], openAi)
  })
})

const orderFor = (changes: Partial<OpenAiSpeechRequest> = {}) =>
  orderOf({ input: "Hi.", model: "tts-1", voice: "alloy", ...changes }, SpeechApi)

describe("an order in OpenAI's dialect", () => {
  it.each([
    "alloy",
    "ash",
    "ballad",
    "coral",
    "echo",
    "fable",
    "nova",
    "onyx",
    "sage",
    "shimmer",
    "verse",
    "marin",
    "cedar"
  ])("has a voice of the catalogue for %s", (voice) => {
    const [turn] = orderFor({ voice }).turns
    assert.isDefined(voiceById(turn?.voice_id ?? ""))
    assert.notStrictEqual(turn?.voice_id, voice)
  })

  it.each(["tts-1", "tts-1-hd", "gpt-4o-mini-tts"])("has a model of ours for %s", (model) => {
    assert.include(
      speechModels.map(({ id }) => id as string),
      orderFor({ model }).model
    )
  })

  it("takes ids of our own, also in an object", () => {
    assert.strictEqual(orderFor({ voice: "lena" }).turns[0]?.voice_id, "lena")
    assert.strictEqual(orderFor({ voice: { id: "lena" } }).turns[0]?.voice_id, "lena")
    assert.strictEqual(orderFor({ voice: "constructor" }).turns[0]?.voice_id, "constructor")
    assert.strictEqual(orderFor({ model: "tts-3.2" }).model, "tts-3.2")
  })

  it("is for mp3 when it names no format", () => {
    assert.strictEqual(orderFor().output_format, "mp3_24000_64")
    const formats = Object.keys(openAiMediaTypes) as ReadonlyArray<keyof typeof openAiMediaTypes>
    const found = formats.map((format) => orderFor({ response_format: format }).output_format)
    assert.strictEqual(new Set(found).size, formats.length)
  })
})

describe("a refusal in OpenAI's dialect", () => {
  it("names the fields of its request, and says all faults in its message", () => {
    const { fields, message } = inOpenAiTerms(validationFailed({ voice_id: "no", output_format: "never", speed: "x" }))
    assert.deepStrictEqual(fields, { voice: "no", response_format: "never", speed: "x" })
    assert.strictEqual(message, "voice: no; response_format: never; speed: x")
    assert.strictEqual(inOpenAiTerms(notFound("gone")).message, "gone")
  })

  it.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [403, "permission_error"],
    [404, "invalid_request_error"],
    [413, "invalid_request_error"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [503, "api_error"]
  ])("with status %s is an %s", (status, type) => {
    const error = { ...validationFailed({ voice: "no", speed: "x" }), status }
    const rendered = renderSpeechError(error as ReturnType<typeof validationFailed>, "req_1") as {
      readonly error: Readonly<Record<string, unknown>>
      readonly request_id: string
    }
    assert.strictEqual(rendered.error["type"], type)
    assert.strictEqual(rendered.error["param"], "voice")
    assert.strictEqual(rendered.error["code"], "validation_failed")
    assert.strictEqual(rendered.request_id, "req_1")
  })
})

describe("the events in OpenAI's dialect", () => {
  const decode = Schema.decodeUnknownSync(OpenAiSpeechEvent)

  it.effect("carry every byte in lines below 64 KiB, then the usage", () =>
    Effect.gen(function* () {
      const pieces = [90_000, 1, 40_000].map((length, at) => new Uint8Array(length).fill(at + 1))
      const events = yield* Stream.runCollect(
        openAiEvents({ bytes: Stream.fromIterable(pieces), billableCharacters: () => 17 })
      )
      for (const { data, event } of events) {
        assert.isUndefined(event)
        assert.isBelow(data.length, 65_536)
      }
      const read = events.map(({ data }) => decode(JSON.parse(data)))
      const audio = read.flatMap((event) =>
        event.type === "speech.audio.delta" ? [Buffer.from(event.audio, "base64")] : []
      )
      assert.isTrue(Buffer.concat(audio).equals(Buffer.concat(pieces)))
      assert.deepStrictEqual(read.at(-1), {
        type: "speech.audio.done",
        usage: { input_tokens: 17, output_tokens: 0, total_tokens: 17 }
      })
    })
  )

  it("end with an error that its clients throw when the speech broke off", () => {
    const event = decode(JSON.parse(openAiErrorEvent("upstream_failure", "the speech broke off").data))
    assert.deepStrictEqual(event, {
      type: "error",
      error: { message: "the speech broke off", type: "api_error", param: null, code: "upstream_failure" }
    })
  })
})
