import { assert, describe, it } from "@effect/vitest"
import type { EndpointView } from "#console/api"
import { stateOf } from "../../../../services/cli/operate/endpoints.ts"

const nowMs = Date.parse("2026-11-28T12:00:00.000Z")
const well = { faults: [], isEnabled: true, paused: null, breakerOpenUntilMs: null, parkedFrom: null, settings: {} }

describe("an endpoint's state", () => {
  it.each([
    ["active", {}],
    ["failing, circuit open until 2026-11-28T12:00:10.000Z", { breakerOpenUntilMs: nowMs + 10_000 }],
    [
      "failing, circuit half-open since 2026-11-28T11:59:50.000Z: one delivery probes, the others wait for its answer",
      { breakerOpenUntilMs: nowMs - 10_000, inFlight: 31 }
    ],
    ["active", { breakerOpenUntilMs: nowMs - 10_000, settings: { CircuitBreaker: false } }],
    ["behind: waits for event 7", { parkedFrom: 7 }],
    ["disabled", { isEnabled: false, breakerOpenUntilMs: nowMs + 10_000 }]
  ])("is %s for %j", (words, given) => {
    assert.strictEqual(stateOf({ ...well, ...given } as unknown as EndpointView, nowMs), words)
  })
})
