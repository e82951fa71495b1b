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
const none = { at: "2026-01-01T00:00:00.000Z", isWhole: true, count: 0, items: [] }
const well = { roles: [role], conditions: none, processesLeftOut: 0 }
const standing = {
  id: "WebhookCircuitOpen endpoint=a b",
  name: "WebhookCircuitOpen",
  severity: "info" as const,
  title: "a b accepts no delivery.",
  hurts: "This endpoint gets no webhooks.",
  since: "2026-01-01T00:00:00.000Z",
  labels: { endpoint: "a b" } as Record<string, string>,
  causedBy: null,
  commands: ["./starling endpoints test a b"],
  runbook: { means: "", lookAt: "", act: "" }
}
const withItems = (...items: ReadonlyArray<typeof standing>) => ({
  ...well,
  conditions: { ...none, count: items.length, items }
})

describe("what is wrong with the fleet", () => {
  it("is nothing while no condition stands and every role is up", () => {
    expect(conditionsOf(well)).toEqual([])
  })

  it("is each condition that stands, since when, whom it hurts, what to run, and its runbook", () => {
    expect(conditionsOf(withItems(standing))).toEqual([
      {
        title: standing.title,
        advice: standing.hurts,
        href: "#/endpoints/a%20b",
        tone: "wait",
        since: standing.since,
        isEffect: false,
        commands: standing.commands,
        runbook: "WebhookCircuitOpen"
      }
    ])
  })

  it.each([
    [{ provider: "p", model: "m" }, "#/models"],
    [{ network: "eip155:1" }, "#/activity/books"],
    [{ pod: "127.0.0.1:9", role: "sweeper" }, "#/fleet"]
  ])("leads to the thing's own page: %j", (labels, href) => {
    expect(conditionsOf(withItems({ ...standing, labels })).map((one) => one.href)).toEqual([href])
  })

  it("names what a role says itself, unless a condition speaks of its process", () => {
    const roles = [{ ...role, state: "not ready" as const, why: "the broker is away" }]
    const [own] = conditionsOf({ ...well, roles })
    expect([own?.title, own?.advice]).toEqual(["sweeper is not ready", "the broker is away"])
    const frame = { ...withItems({ ...standing, labels: { pod: "127.0.0.1:9" } }), roles }
    expect(conditionsOf(frame).map(({ title }) => title)).toEqual([standing.title])
  })

  it("says how much is not shown", () => {
    const frame = { ...withItems(standing), processesLeftOut: 3 }
    const all = conditionsOf({ ...frame, conditions: { ...frame.conditions, count: 3 } })
    expect(all.map(({ title }) => title).slice(1)).toEqual(["2 more conditions not shown", "3 processes not shown"])
  })

  it("is, for who looks at models, the providers that are left alone", () => {
    const breakersOpen = ["endpoint ci", "provider p for m", "nodes of eip155:1"]
    expect(providersAway({ breakersOpen }).map(({ title, runbook }) => [title, runbook])).toEqual([
      ["provider p for m keeps failing: its circuit is open", runbooks.providerFails]
    ])
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
const empty = { abandoned: [], rejected: [], streams: [] }

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
    [{ ...empty, streams: [{ name: "EVENTS", atLimit: "refuses" as const, state }] }, [runbooks.streamFull]]
  ])("is a condition with its runbook: %#", (kept, expected) => {
    expect(keptConditionsOf(kept).map(({ runbook }) => runbook)).toEqual(expected)
  })
})
