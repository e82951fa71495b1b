import { describe, expect, it } from "vitest"
import { conditionsOf, keptConditionsOf, providersAway, runbooks } from "../../../../page/screens/fleet/conditions.ts"

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
    [
      { ...well, roles: [late, { ...late, role: "console" }] },
      "The process at http://127.0.0.1:9 is overloaded",
      "#/fleet"
    ],
    [
      { ...well, breakersOpen: ["endpoint a b"] },
      "endpoint a b keeps failing: its circuit is open",
      "#/endpoints/a%20b"
    ],
    [
      { ...well, breakersOpen: ["provider p for m"] },
      "provider p for m keeps failing: its circuit is open",
      "#/models"
    ],
    [
      { ...well, breakersOpen: ["nodes of eip155:1"] },
      "nodes of eip155:1 keeps failing: its circuit is open",
      "#/activity/books"
    ],
    [
      { ...well, endpoints: [{ ...endpoint, breaker: "paused" as const, backlog: 1 }] },
      "ci is paused, with 1 delivery waiting",
      "#/endpoints/ci"
    ],
    [{ ...well, processesLeftOut: 3 }, "3 processes not shown", "#/fleet"]
  ])("names each condition and where it is mended: %#", (frame, title, href) => {
    expect(conditionsOf(frame).map((condition) => [condition.title, condition.href])).toEqual([[title, href]])
  })

  it("is, for who looks at models, the providers that are left alone", () => {
    const breakersOpen = ["endpoint ci", "provider p for m", "nodes of eip155:1"]
    expect(providersAway({ breakersOpen }).map(({ title, runbook }) => [title, runbook])).toEqual([
      ["provider p for m keeps failing: its circuit is open", runbooks.providerFails]
    ])
  })

  it("says why a role is not ready in the role's own words", () => {
    const frame = { ...well, roles: [{ ...role, state: "not ready" as const, why: "the broker is away" }] }
    expect(conditionsOf(frame)[0]?.advice).toBe("the broker is away")
  })

  it.each([
    ["topology: EVENTS differs", runbooks.topology],
    ["no broker", runbooks.brokerAway],
    ["broker: it is away", runbooks.brokerAway],
    ["", runbooks.down]
  ])("names the runbook of a role that says %j", (why, runbook) => {
    const frame = { ...well, roles: [{ ...role, state: "not ready" as const, why }] }
    expect(conditionsOf(frame)[0]?.runbook).toBe(runbook)
  })
})

const state = {
  messages: 1,
  bytes: 80,
  bytesMax: 100,
  ageSecondsMax: null,
  firstAt: null,
  lastAt: null,
  consumerCount: 0,
  leader: null,
  replicas: 1,
  replicasBehind: []
}
const empty = { abandoned: [], rejected: [], streams: [], books: [] }

describe("what lies until somebody looks at it", () => {
  it("is nothing while nothing is kept, and a stream that drops its oldest may be full", () => {
    expect(keptConditionsOf(empty)).toEqual([])
    expect(keptConditionsOf({ ...empty, streams: [{ name: "AUDIT", atLimit: "evicts", state }] })).toEqual([])
  })

  it.each([
    [
      { ...empty, abandoned: [{ endpoint: "ci" }, { endpoint: "b" }, { endpoint: "ci" }] },
      [runbooks.abandoned, runbooks.abandoned]
    ],
    [{ ...empty, rejected: [{}] }, [runbooks.rejected]],
    [{ ...empty, streams: [{ name: "EVENTS", atLimit: "refuses" as const, state }] }, [runbooks.streamFull]],
    [
      { ...empty, books: [{ network: "eip155:1", isBehind: true, standing: 2 }] },
      [runbooks.booksUnread, runbooks.booksDiffer]
    ]
  ])("is a condition with its runbook: %#", (kept, expected) => {
    expect(keptConditionsOf(kept).map(({ runbook }) => runbook)).toEqual(expected)
  })
})
