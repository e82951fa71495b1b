import { describe, expect, it } from "vitest"
import { conditionsOf } from "../../../../page/screens/fleet/conditions.ts"

const role = {
  role: "sweeper",
  at: "http://127.0.0.1:9",
  state: "up" as const,
  why: "",
  version: "1.0.0",
  consumedPerSecond: 1,
  publishedPerSecond: 1,
  residentMb: 80,
  cores: 0.1,
  loopLagMs: 2
}
const late = { ...role, loopLagMs: 900 }
const endpoint = {
  endpoint: "ci",
  breaker: "closed" as const,
  backlog: 0,
  inFlight: 0,
  deliveredPerSecond: 1,
  failedPerSecond: 0
}
const well = { roles: [role], breakersOpen: [], endpoints: [endpoint], processesLeftOut: 0 }

describe("what is wrong with the fleet", () => {
  it("is nothing while every role is up and every endpoint takes its events", () => {
    expect(conditionsOf(well)).toEqual([])
  })

  it.each([
    [{ ...well, roles: [{ ...role, state: "down" as const }] }, "sweeper is down", "#/fleet"],
    [{ ...well, roles: [late, { ...late, role: "console" }] }, "The process at http://127.0.0.1:9 is late", "#/fleet"],
    [{ ...well, breakersOpen: ["a b"] }, "a b is left alone: it fails", "#/endpoints/a%20b"],
    [
      { ...well, endpoints: [{ ...endpoint, breaker: "paused" as const, backlog: 1 }] },
      "ci is paused, with 1 delivery waiting",
      "#/endpoints/ci"
    ],
    [{ ...well, processesLeftOut: 3 }, "3 processes not shown", "#/fleet"]
  ])("names each condition and where it is mended: %#", (frame, title, href) => {
    expect(conditionsOf(frame).map((condition) => [condition.title, condition.href])).toEqual([[title, href]])
  })

  it("says why a role is not ready in the role's own words", () => {
    const frame = { ...well, roles: [{ ...role, state: "not ready" as const, why: "the broker is away" }] }
    expect(conditionsOf(frame)[0]?.advice).toBe("the broker is away")
  })
})
