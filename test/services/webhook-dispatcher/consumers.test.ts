import { assert, describe, it } from "@effect/vitest"
import { obstacleTo } from "../../../services/webhook-dispatcher/consumers.ts"

type Asked = Parameters<typeof obstacleTo>
const nowMs = 10_000

interface Given {
  readonly isPaused?: boolean
  readonly isEnabled?: boolean
  readonly phase?: "open" | "half-open" | "closed"
  readonly openUntilMs?: number
  readonly isProbing?: boolean
  readonly inWork?: number
}

const obstacle = ({ isPaused = false, isEnabled = true, phase = "closed", inWork = 0, ...given }: Given) => {
  const worker = {
    settings: () => ({ id: "a", concurrency: 2, madeAtRunTime: { isEnabled } }),
    breaker: { phaseAt: () => phase, isProbing: () => given.isProbing === true },
    inWork: () => inWork
  } as unknown as Asked[0]
  const states = {
    isPaused: () => isPaused,
    get: () => (given.openUntilMs === undefined ? undefined : { breakerOpenUntilMs: given.openUntilMs })
  } as unknown as Asked[1]
  const found = obstacleTo(worker, states, nowMs)
  return found && [found.reason, found.untilMs - nowMs]
}

describe("a delivery whose partition is shared", () => {
  it.each([
    ["goes", {}, undefined],
    ["goes beside one in work", { inWork: 1 }, undefined],
    ["waits for half a second at an endpoint that is full", { inWork: 2 }, ["full", 500]],
    ["waits for a minute at one that is paused", { isPaused: true, inWork: 2 }, ["paused", 60_000]],
    ["waits for a minute at one that is disabled", { isEnabled: false }, ["paused", 60_000]],
    ["waits until the breaker can be probed", { phase: "open", openUntilMs: 40_000 }, ["circuit_open", 30_000]],
    ["waits half a second at least", { phase: "open", openUntilMs: 10_001 }, ["circuit_open", 500]],
    ["waits half a second where no other process knows of it", { phase: "open" }, ["circuit_open", 500]],
    ["goes as the probe", { phase: "half-open" }, undefined],
    ["waits for the probe", { phase: "half-open", isProbing: true }, ["full", 500]],
    ["goes once the breaker is closed, whoever probed", { phase: "closed", isProbing: true }, undefined]
  ] as ReadonlyArray<readonly [string, Given, ReadonlyArray<unknown> | undefined]>)("%s", (_, given, expected) => {
    assert.deepStrictEqual(obstacle(given), expected)
  })
})
