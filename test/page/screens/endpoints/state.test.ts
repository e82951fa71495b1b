import { describe, expect, it } from "vitest"
import { stateOf } from "../../../../page/screens/endpoints/state.ts"

const well = { isEnabled: true, faults: [], paused: null, breakerOpenUntilMs: null, parkedFrom: null, settings: {} }
const paused = { at: "2026-11-24T12:00:00.000Z", by: "tok_1", reason: "a move" }
const nowMs = 1_000

describe("the state of an endpoint", () => {
  it.each([
    ["in service", well],
    ["in service", { ...well, breakerOpenUntilMs: nowMs, settings: { CircuitBreaker: false } }],
    ["breaker half-open", { ...well, breakerOpenUntilMs: nowMs }],
    ["catching up", { ...well, parkedFrom: 3 }],
    ["breaker open", { ...well, breakerOpenUntilMs: nowMs + 1, parkedFrom: 3 }],
    ["paused", { ...well, paused, breakerOpenUntilMs: nowMs + 1 }],
    ["disabled", { ...well, isEnabled: false, paused }],
    ["unusable", { ...well, isEnabled: false, faults: [{ path: "/Url", message: "is missing" }] }]
  ])("is %s for %j", (word, endpoint) => {
    expect(stateOf(endpoint, nowMs).word).toBe(word)
  })
})
