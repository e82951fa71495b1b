import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { afterAttempt, afterFailure, afterNothing, type Breaker, breakerWaitMs, closedBreaker } from "#runtime"
import { providerBreakerLimits } from "../../../../services/model-gateway/upstream/Upstreams.ts"
import {
  type Decoded,
  eventDecoder,
  type StreamFacts
} from "../../../../services/model-gateway/translate/provider-apis.ts"

const failed = (breaker: Breaker, nowMs: number) => afterFailure(breaker, nowMs, providerBreakerLimits)
const attempted = (breaker: Breaker, nowMs: number) => afterAttempt(breaker, nowMs, 150_000)

const failing = (times: number, everyMs: number) => {
  let breaker = closedBreaker
  for (let nth = 0; nth < times; nth++) breaker = failed(breaker, nth * everyMs)
  return breaker
}

describe("a failing provider", () => {
  it("is skipped after ten failures in ten seconds, neither for a burst nor for a trickle", () => {
    assert.strictEqual(breakerWaitMs(failing(500, 10), 5_000), 0)
    assert.strictEqual(breakerWaitMs(failing(9, 60_000), 600_000), 0)
    const open = failing(11, 1_000)
    assert.strictEqual(breakerWaitMs(open, 10_000), 5_000)
  })

  it("gets one trial call after the pause, and a doubled pause when that fails", () => {
    const open = failing(11, 1_000)
    assert.strictEqual(breakerWaitMs(open, 15_000), 0)
    const probing = attempted(open, 15_000)
    assert.isAbove(breakerWaitMs(probing, 15_001), 0)
    assert.strictEqual(breakerWaitMs(failed(probing, 16_000), 16_000), 10_000)
    // The caller left: another call may find out.
    assert.strictEqual(breakerWaitMs(afterNothing(probing), 15_002), 0)
  })

  it("is never skipped for longer than a minute", () => {
    let breaker = failing(11, 1_000)
    let nowMs = 10_000
    for (let nth = 0; nth < 20; nth++) {
      nowMs += breakerWaitMs(breaker, nowMs)
      breaker = failed(attempted(breaker, nowMs), nowMs)
      assert.isAtMost(breakerWaitMs(breaker, nowMs), 60_000)
    }
  })
})

const none = (): StreamFacts => ({ isFinished: false, usage: undefined, answerBytes: 0 })
const utf8 = new TextEncoder()

const decodeAll = (text: string, size: number, facts = none()) => {
  const decode = eventDecoder("openai", facts)
  const bytes = utf8.encode(text)
  const decoded: Array<Decoded> = []
  for (let at = 0; at < bytes.length; at += size) decoded.push(...decode(bytes.subarray(at, at + size)))
  return decoded
}

describe("a provider's stream", () => {
  const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))

  it.prop("is the same for any cut of its bytes", [Schema.Array(Schema.String), Size], ([texts, size]) => {
    const events = texts.map((content) => ({ choices: [{ delta: { content } }] }))
    const text = [
      ": a comment\n\n",
      ...events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`),
      "data: [DONE]\n\n"
    ].join("")
    const expected = [...events.map((event) => ({ _tag: "Event", event })), { _tag: "End" }]
    assert.deepStrictEqual(decodeAll(text, size), expected as ReadonlyArray<Decoded>)
  })

  it("is complete only with a reason for its end", () => {
    const facts = none()
    decodeAll('data: {"choices":[{"delta":{"content":"x"},"finish_reason":null}]}\n\n', 99, facts)
    assert.isFalse(facts.isFinished)
    decodeAll('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n', 99, facts)
    assert.isTrue(facts.isFinished)
    decodeAll('data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n', 99, facts)
    assert.deepInclude(facts.usage ?? {}, { inputTokens: 3, outputTokens: 4 })
  })

  it("may contain an error, or invalid JSON, or an endless event", () => {
    const [error] = decodeAll('data: {"error":{"code":429,"message":"slow down"}}\n\n', 99)
    assert.deepInclude(error, { _tag: "Error", status: 429 })
    assert.deepInclude(decodeAll("data: {x\n\n", 99)[0], { _tag: "Garbage" })
    const endless = decodeAll(`data: ${"x".repeat(5_000_000)}`, 1_000_000)
    assert.deepInclude(endless[0], { _tag: "Garbage" })
  })
})
