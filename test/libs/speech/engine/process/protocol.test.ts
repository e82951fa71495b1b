import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  encoded,
  type FromProgram,
  messageReader,
  ProtocolFault,
  protocolLimits
} from "../../../../../libs/speech/engine/process/protocol.ts"

const bytesOf = (message: object, audio: Uint8Array = new Uint8Array(0)) =>
  Buffer.concat([Buffer.from(`${JSON.stringify(message)}\n`), audio])

const hello = { type: "hello", protocol: 1, sampleRateHz: 22_050, voices: ["one"], wordTimes: true, prosody: ["rate"] }

const read = (bytes: Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const messages: Array<FromProgram> = []
  const take = messageReader((message) => messages.push(message))
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((one, other) => one - other), bytes.length]
  let from = 0
  for (const to of ends) {
    take(bytes.subarray(from, to))
    from = to
  }
  return messages
}

const samples = Int16Array.from({ length: 300 }, (_, at) => (at % 2 === 0 ? 2_570 : -at))
const all = Buffer.concat([
  bytesOf(hello),
  bytesOf({ type: "word", id: 1, position: 2, sample: 30 }),
  // Samples that look like ends of lines.
  bytesOf({ type: "audio", id: 1, bytes: 600 }, new Uint8Array(samples.buffer)),
  bytesOf({ type: "audio", id: 1, bytes: 0 }),
  bytesOf({ type: "failed", id: 1, message: "größer" }),
  bytesOf({ type: "end", id: 2, more: "is left out" })
])
const expected: ReadonlyArray<FromProgram> = [
  { ...hello, type: "hello", prosody: ["rate"], phonemes: false },
  { type: "word", id: 1, position: 2, sample: 30 },
  { type: "audio", id: 1, pcm: samples },
  { type: "audio", id: 1, pcm: new Int16Array(0) },
  { type: "failed", id: 1, message: "größer" },
  { type: "end", id: 2 }
]

const Places = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000 }))).check(
  Schema.isMaxLength(40)
)
const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
  Schema.isMaxLength(300)
)

describe("what a program writes", () => {
  it("is read message by message", () => {
    assert.deepStrictEqual(read(all), expected)
  })
  it.prop("is read the same in whatever pieces it comes", [Places], ([cuts]) => {
    assert.deepStrictEqual(read(all, cuts), expected)
  })
  it.each([
    ["Loading the model\n", /a line that is no JSON: "Loading the model"/u],
    ["[1]\n", /a line that is no object/u],
    ['{"type":"hi"}\n', /type "hi", which is none of/u],
    ['{"type":"end"}\n', /"end" has nothing as id/u],
    ['{"type":"word","id":1,"position":-1,"sample":0}\n', /has -1 as position/u],
    ['{"type":"audio","id":1,"bytes":3}\n', /ends within a sample/u],
    ['{"type":"audio","id":1,"bytes":1048578}\n', /1048576 are the most/u],
    ['{"type":"audio","id":1,"bytes":"many"}\n', /has "many" as bytes/u],
    [`${JSON.stringify({ ...hello, protocol: 2 })}\n`, /version 2 of the protocol; this release speaks 1/u],
    [`${JSON.stringify({ ...hello, sampleRateHz: 96_000 })}\n`, /sampleRateHz of 96000/u],
    [`${JSON.stringify({ ...hello, voices: [] })}\n`, /voices is to be a list/u],
    [`${JSON.stringify({ ...hello, voices: [1] })}\n`, /voices is to be a list/u],
    [`${JSON.stringify({ ...hello, wordTimes: "yes" })}\n`, /wordTimes is "yes"/u],
    [`${JSON.stringify({ ...hello, phonemes: ["ipa"] })}\n`, /phonemes is \["ipa"\], neither true nor false/u],
    [`${JSON.stringify({ ...hello, prosody: "rate" })}\n`, /prosody is to be a list/u],
    ["x".repeat(protocolLimits.lineBytesMax + 1), /a line of more than 65536 bytes/u],
    [`"${"x".repeat(protocolLimits.lineBytesMax)}"\n`, /a line of/u]
  ])("is a fault with its reason: %.60s", (text, reason) => {
    assert.throws(() => read(Buffer.from(text)), reason)
  })
  it.prop("is never read as something else than it says, whatever it is", [Bytes], ([bytes]) => {
    try {
      assert.isEmpty(read(Uint8Array.from(bytes)))
    } catch (error) {
      assert.instanceOf(error, ProtocolFault)
    }
  })
  it("is answered in lines", () => {
    assert.strictEqual(encoded({ type: "cancel", id: 3 }), '{"type":"cancel","id":3}\n')
    assert.notInclude(encoded({ type: "cancel", id: 3 }).trimEnd(), "\n")
  })
})
