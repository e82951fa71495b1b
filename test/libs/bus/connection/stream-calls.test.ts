import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseAnswer, parseFound } from "../../../../libs/bus/connection/stream-calls.ts"

const parsed = (text: string) => parseAnswer("ask", { data: new TextEncoder().encode(text) })
const failure = (text: string) => {
  const answer = parsed(text)
  return Result.isFailure(answer) ? [answer.failure._tag, answer.failure.message] : "none"
}

describe("an answer of the broker", () => {
  it("is parsed to its content", () => {
    assert.deepStrictEqual(parsed('{"stream":"LOG","seq":7}'), Result.succeed({ stream: "LOG", seq: 7 }))
  })

  it.each([
    ['{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 4"}}', "RevisionConflict"],
    ['{"error":{"code":404,"err_code":10037,"description":"no message found"}}', "BusNotFound"],
    ['{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}', "StreamFull"],
    ['{"error":{"code":503,"description":"no leader"}}', "BusUnavailable"],
    ['{"error":{"code":400,"err_code":10003,"description":"bad request"}}', "BusRefused"]
  ])("with an error becomes that error: %s", (text, tag) => {
    assert.strictEqual(failure(text)[0], tag)
  })

  it.each(["", "{", "null", "7", '"LOG"', '{"error":"no"}'])(
    "without meaning leaves the outcome unknown: %j",
    (text) => {
      assert.strictEqual(failure(text)[0], "BusUnavailable")
    }
  )

  it("of a missing message is an empty look-up, and any other error is an error", () => {
    const found = (text: string) => parseFound("look", { data: new TextEncoder().encode(text) })
    assert.deepStrictEqual(found('{"message":{"seq":7}}'), Result.succeed({ message: { seq: 7 } }))
    assert.deepStrictEqual(found('{"error":{"code":404,"err_code":10037}}'), Result.succeed(undefined))
    for (const text of ['{"error":{"code":404,"err_code":10059}}', '{"error":"no"}', "null"]) {
      assert.isTrue(Result.isFailure(found(text)), text)
    }
  })
})
