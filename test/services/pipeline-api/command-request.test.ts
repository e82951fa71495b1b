import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { jsonCodec } from "#bus"
import { CommandRequest } from "#pipeline/contract"
import { commandRequestCodec } from "../../../services/pipeline-api/answer-commands.ts"

const bySchema = jsonCodec(CommandRequest)
const message = (text: string) => ({ data: new TextEncoder().encode(text), header: () => undefined })
const read = (text: string) => [commandRequestCodec.decode(message(text)), bySchema.decode(message(text))] as const

const texts = [
  "c",
  "",
  "x".repeat(128),
  "x".repeat(129),
  "x".repeat(256),
  "x".repeat(257),
  7,
  null,
  ["c"],
  {},
  undefined
]
const commands = [{ _tag: "Resume" }, {}, { a: { b: [1, null] }, "": 1 }, [], ["a"], null, "text", 1, undefined]

describe("the head of a command", () => {
  it("is read by a fast path as by its schema, with the same faults", () => {
    let [taken, refused] = [0, 0]
    for (const commandId of texts) {
      for (const id of texts) {
        for (const command of commands) {
          const [byHand, expected] = read(JSON.stringify({ commandId, id, command, more: 1 }))
          assert.deepStrictEqual(byHand, expected)
          if (Result.isSuccess(byHand)) taken += 1
          else refused += 1
        }
      }
    }
    assert.isAbove(taken, 10)
    assert.isAbove(refused, 10)
  })

  it.each(["", "no JSON", "[]", "null", "7", '"text"', '{"commandId":"c","id":"i","command":{"__proto__":{"a":1}}}'])(
    "is read as by its schema in odd cases: %s",
    (text) => {
      const [byHand, expected] = read(text)
      assert.deepStrictEqual(byHand, expected)
    }
  )
})
