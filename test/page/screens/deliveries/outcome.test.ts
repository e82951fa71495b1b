import { describe, expect, it } from "vitest"
import { outcomeOf } from "../../../../page/screens/deliveries/outcome.ts"

const later = "2026-11-24T12:00:00.000Z"

describe("the end of an attempt in words", () => {
  it.each([
    ["delivered", 204, null, null, "good", "204 delivered"],
    ["failed", 503, null, later, "wait", "503, tried again"],
    ["failed", null, "timeout", later, "wait", "timeout, tried again"],
    ["failed", null, null, null, "bad", "no answer, given up"],
    ["refused", 400, null, null, "bad", "400 refused for good"],
    ["gone", 410, null, null, "bad", "410 gone"]
  ] as const)("%s %s %s, next %s, is %s: %s", (outcome, status, error, nextAttemptAt, tone, words) => {
    expect(outcomeOf({ outcome, status, error, nextAttemptAt })).toEqual({ tone, words })
  })

  it("keeps a long error beside its words", () => {
    const error = "connect ECONNREFUSED ".repeat(30)
    const ended = { outcome: "failed", status: null, error, nextAttemptAt: null } as const
    expect(outcomeOf(ended)).toEqual({ tone: "bad", words: "given up", why: error })
  })
})
