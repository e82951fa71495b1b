import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { WordMark } from "#speech/contract"
import { cartesiaDialect } from "../../../../services/speech-api/live/cartesia.ts"
import type { LiveContext } from "../../../../services/speech-api/live/LiveContext.ts"
import type { LiveCommand, LiveDialect } from "../../../../services/speech-api/live/dialect.ts"
import { alignmentOf, elevenLabsDialect } from "../../../../services/speech-api/live/elevenlabs.ts"
import { ownDialect } from "../../../../services/speech-api/live/own.ts"
import { floatsOf } from "../../../../services/speech-api/vendors/cartesia.ts"

const call = {
  requestId: "req_1",
  params: { voice_id: "21m00" },
  query: { model_id: "eleven_v3", language_code: "en" }
}
const voices = { "21m00": "selma", a0e99841: "roger" }

const own = Result.getOrThrow(ownDialect(call))
const single = Result.getOrThrow(elevenLabsDialect(false)(call, voices))
const multi = Result.getOrThrow(elevenLabsDialect(true)(call, voices))
const cartesia = Result.getOrThrow(cartesiaDialect(call, voices))

/** A command in short: its name, its context, and its text. */
const shown = (command: LiveCommand) =>
  [command._tag, "contextId" in command ? command.contextId : "", "text" in command ? command.text : ""]
    .join(" ")
    .trim()

const read = (dialect: LiveDialect, message: unknown, open: ReadonlyArray<string> = []) =>
  Result.getOrThrow(dialect.read(message, (id) => open.includes(id))).map(shown)

const orderIn = (dialect: LiveDialect, message: unknown) => {
  const [command] = Result.getOrThrow(dialect.read(message, () => false))
  return command?._tag === "Start" ? command.order : undefined
}

const request = {
  context_id: "a",
  transcript: "Hi. ",
  model_id: "sonic-3",
  voice: { mode: "id", id: "a0e99841" },
  output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: 16_000 }
}

const table: ReadonlyArray<
  readonly [name: string, LiveDialect, message: unknown, open: ReadonlyArray<string>, commands: ReadonlyArray<string>]
> = [
  ["own: a start", own, { type: "context.start", context_id: "a", voice_id: "v" }, [], ["Start a"]],
  ["own: text", own, { type: "text", context_id: "a", text: "Hi" }, ["a"], ["Text a Hi"]],
  ["own: a cancel", own, { type: "cancel", context_id: "a", played_ms: 5 }, ["a"], ["Cancel a"]],
  ["own: a close", own, { type: "close" }, [], ["Close"]],
  [
    "ElevenLabs: the first text begins",
    single,
    { text: " ", voice_settings: null },
    [],
    ["Start default", "Text default"]
  ],
  ["ElevenLabs: more text", single, { text: "Hi. ", flush: true }, ["default"], ["Text default Hi.", "Flush default"]],
  ["ElevenLabs: an empty text ends", single, { text: "" }, ["default"], ["Close"]],
  ["ElevenLabs: an empty text of several keeps alive", multi, { text: "", context_id: "a" }, [], ["KeepAlive"]],
  ["ElevenLabs: a context begins", multi, { text: "Hi. ", context_id: "a" }, ["b"], ["Start a", "Text a Hi."]],
  ["ElevenLabs: a context is closed", multi, { context_id: "a", close_context: true }, ["a"], ["End a"]],
  ["ElevenLabs: one that is not open", multi, { context_id: "a", close_context: true }, [], ["KeepAlive"]],
  ["ElevenLabs: the socket is closed", multi, { close_socket: true }, ["a"], ["Close"]],
  ["Cartesia: a whole transcript", cartesia, request, [], ["Start a", "Text a Hi.", "End a"]],
  ["Cartesia: a part of one", cartesia, { ...request, continue: true }, ["a"], ["Text a Hi."]],
  ["Cartesia: a flush", cartesia, { ...request, continue: true, flush: true }, ["a"], ["Text a Hi.", "Flush a"]],
  [
    "Cartesia: no buffer",
    cartesia,
    { ...request, continue: true, max_buffer_delay_ms: 0 },
    ["a"],
    ["Text a Hi.", "Flush a"]
  ],
  ["Cartesia: the end", cartesia, { ...request, transcript: "", continue: false }, ["a"], ["End a"]],
  ["Cartesia: an end of nothing", cartesia, { ...request, transcript: "" }, [], ["Reply"]],
  ["Cartesia: a cancel", cartesia, { context_id: "a", cancel: true }, ["a"], ["Cancel a"]],
  ["Cartesia: a cancel of nothing", cartesia, { context_id: "a", cancel: true }, [], []]
]

describe("SSML in a live context", () => {
  it("is an option of our own messages", () => {
    const start = { type: "context.start", context_id: "a", voice_id: "v" }
    assert.isTrue(orderIn(own, { ...start, ssml: true })?.ssml)
    assert.isUndefined(orderIn(own, start)?.ssml)
  })
  it.each([
    ["true", true],
    ["True", true],
    ["false", undefined],
    [undefined, undefined]
  ])("is what ElevenLabs' enable_ssml_parsing says: %s", (said, wanted) => {
    const query = said === undefined ? {} : { enable_ssml_parsing: said }
    for (const isMulti of [false, true]) {
      const dialect = Result.getOrThrow(elevenLabsDialect(isMulti)({ ...call, query }, voices))
      assert.strictEqual(orderIn(dialect, { text: "Hi. " })?.ssml, wanted)
    }
  })
  it("is made of Cartesia's tags, however they are cut, and a comparison is none", () => {
    const said = (...transcripts: ReadonlyArray<string>) => {
      const dialect = Result.getOrThrow(cartesiaDialect(call, voices))
      let isOpen = false
      return transcripts
        .flatMap((transcript, at) => {
          const isLast = at === transcripts.length - 1
          const commands = Result.getOrThrow(dialect.read({ ...request, transcript, continue: !isLast }, () => isOpen))
          isOpen = true
          return commands
        })
        .flatMap((command) => (command._tag === "Text" ? [command.text] : []))
        .join("")
    }
    const text = 'I <emotion value="sad"/>said: <break time="1s"/><speed ratio="1.5"/>5 < 6 & 7, <spell>AB</spell>!'
    const ssml = 'I said: <break time="1s"/>5 &lt; 6 &amp; 7, <say-as interpret-as="characters">AB</say-as>!'
    assert.strictEqual(said(text), ssml)
    assert.strictEqual(said(...text), ssml)
    for (let at = 1; at < text.length; at += 1) assert.strictEqual(said(text.slice(0, at), text.slice(at)), ssml)
    assert.strictEqual(said("Well <bre"), "Well &lt;bre")
    assert.strictEqual(said("<spell>AB"), '<say-as interpret-as="characters">AB</say-as>')
  })

  it("is not seen in Cartesia's timestamps", () => {
    const dialect = Result.getOrThrow(cartesiaDialect(call, voices))
    dialect.read({ ...request, add_timestamps: true }, () => false)
    const audio = {
      _tag: "Audio",
      bytes: new Uint8Array(2),
      marks: [mark("R&amp;D", 0, 5)],
      others: [],
      atMs: 0
    } as const
    assert.containsSubset(dialect.write({ id: "a" } as LiveContext, audio), [{ word_timestamps: { words: ["R&D"] } }])
  })

  it("ends at once in Cartesia's dialect where there was nothing before", () => {
    const [reply] = Result.getOrThrow(cartesia.read({ ...request, transcript: "" }, () => false))
    assert.deepStrictEqual(reply, {
      _tag: "Reply",
      message: { type: "done", context_id: "a", done: true, status_code: 200 }
    })
    assert.deepStrictEqual(read(cartesia, { ...request, transcript: "", continue: true }), [])
  })
})

describe("a live message is read", () => {
  for (const [name, dialect, message, open, commands] of table) {
    it(name, () => {
      assert.deepStrictEqual(
        read(dialect, message, open),
        commands.map((command) => command.trim())
      )
    })
  }

  it("with a vendor's voices, models and formats in our own names", () => {
    const eleven = { voiceId: "selma", output_format: "mp3_44100_128", maxWaitMs: 3_000, language: "en" }
    assert.deepStrictEqual(orderIn(single, { text: "Hi. " }), eleven)
    assert.deepStrictEqual(orderIn(multi, { text: "Hi. ", voice_settings: { speed: 1.1 } }), { ...eleven, speed: 1.1 })
    const sonic = { voiceId: "roger", output_format: "pcm_16000", maxWaitMs: 3_000, ssml: true }
    assert.deepStrictEqual(orderIn(cartesia, request), sonic)
    const law = { container: "raw", encoding: "pcm_mulaw", sample_rate: 8_000 }
    assert.deepStrictEqual(orderIn(cartesia, { ...request, output_format: law, max_buffer_delay_ms: 100 }), {
      ...sonic,
      output_format: "ulaw_8000",
      maxWaitMs: 100
    })
  })

  it("unless its connection says neither yes nor no to SSML", () => {
    for (const isMulti of [false, true]) {
      const asked = (enable_ssml_parsing: string) =>
        elevenLabsDialect(isMulti)({ ...call, query: { ...call.query, enable_ssml_parsing } }, voices)
      const refused = asked("perhaps")
      if (Result.isSuccess(refused)) throw new Error("it was taken")
      assert.deepInclude(refused.failure, { status: 400, code: "validation_failed" })
      assert.deepStrictEqual(Object.keys(refused.failure.fields ?? {}), ["enable_ssml_parsing"])
      for (const no of ["false", "False"]) assert.isTrue(Result.isSuccess(asked(no)), no)
    }
  })

  it("or refused with every fault by its path", () => {
    const fieldsOf = (dialect: LiveDialect, message: unknown) => {
      const commands = dialect.read(message, () => true)
      return Result.isFailure(commands) ? Object.keys(commands.failure.fields ?? {}) : []
    }
    assert.sameMembers(fieldsOf(own, { type: "cancel", context_id: "", played_ms: -1 }), ["context_id", "played_ms"])
    assert.sameMembers(fieldsOf(multi, { text: 1, context_id: "", flush: "yes" }), ["text", "context_id", "flush"])
    const law = { container: "wav", encoding: "pcm_mulaw", sample_rate: 0.5 }
    assert.sameMembers(fieldsOf(cartesia, { ...request, transcript: null, output_format: law }), [
      "transcript",
      "output_format.container",
      "output_format.sample_rate"
    ])
  })
})

const mark = (value: string, start_time: number, end_time: number): WordMark => ({
  type: "word",
  start: 0,
  end: value.length,
  start_time,
  end_time,
  value
})

describe("what a context says", () => {
  it("is aligned by characters, whose times begin again with each message", () => {
    const first = alignmentOf([mark("Hi", 10, 30), mark("you.", 40, 80)], 0)
    assert.deepStrictEqual(first.aligned, {
      chars: [..."Hi you. "],
      charStartTimesMs: [10, 20, 30, 40, 50, 60, 70, 80],
      charDurationsMs: [10, 10, 0, 10, 10, 10, 10, 0]
    })
    const second = alignmentOf([mark("Go", 100, 120)], first.untilMs)
    assert.deepStrictEqual(second.aligned?.charStartTimesMs, [20, 30, 40])
    assert.deepStrictEqual(alignmentOf([], 5), { aligned: null, untilMs: 5 })
    assert.deepStrictEqual(alignmentOf([mark("你好", 0, 10)], 0).aligned?.chars, ["你", "好"])
  })

  it("is as loud in floats as in whole numbers", () => {
    const floats = floatsOf(new Uint8Array(Int16Array.of(0, 16_384, -32_768).buffer))
    assert.deepStrictEqual([...new Float32Array(floats.buffer)], [0, 0.5, -1])
  })
})
