import { assert, describe, it } from "@effect/vitest"
import type { Frame } from "#console/readings"
import { frameView, targetsOf } from "../../../services/console/FleetWatch.ts"

describe("the processes at a configured address", () => {
  it.each([
    ["http://webhook-dispatcher:9400", ["10.0.0.2", "10.0.0.3"], ["http://10.0.0.2:9400", "http://10.0.0.3:9400"]],
    ["http://sweeper-metrics.starling.svc:9400", ["fd00::7"], ["http://[fd00::7]:9400"]],
    ["http://fleet", ["10.0.0.2"], ["http://10.0.0.2"]],
    // A name that nothing is known of is shown as down, under its name.
    ["http://sweeper:9400", [], ["http://sweeper:9400"]],
    ["https://sweeper.example:9400", ["10.0.0.2"], ["https://sweeper.example:9400"]],
    ["http://127.0.0.1:9400", ["127.0.0.1"], ["http://127.0.0.1:9400"]],
    ["http://[::1]:9400", ["::1"], ["http://[::1]:9400"]]
  ])("are one for each of its addresses: %s at %j", (named, addresses, urls) => {
    assert.deepStrictEqual(
      targetsOf(named, addresses).map(({ url }) => url),
      urls
    )
  })

  it.each([
    ["http://webhook-dispatcher:9400", ["webhook-dispatcher"]],
    ["http://sweeper-metrics.starling.svc:9400", ["sweeper"]],
    ["http://fleet:9400", []],
    ["http://10.0.0.1:9400", []]
  ])("are known by the role that their name has: %s runs %j", (named, roles) => {
    assert.deepStrictEqual(targetsOf(named, ["10.0.0.9"])[0]?.roles, roles)
  })
})

describe("a frame on the console", () => {
  const endpoints = Array.from({ length: 150 }, (_, place) => ({
    endpoint: `e${place}`,
    breaker: "open" as const,
    backlog: 150 - place,
    inFlight: 0,
    deliveredPerSecond: null,
    failedPerSecond: null
  }))
  const role = {
    role: "sweeper",
    at: "http://a",
    state: "up" as const,
    why: "",
    version: "1.0.0",
    consumedPerSecond: 1,
    publishedPerSecond: 1,
    residentMb: 1,
    cores: 1,
    loopLagMs: 1
  }
  const frame: Frame = {
    at: "2026-01-01T00:00:00.000Z",
    windowSeconds: 1,
    roles: [role],
    totals: {},
    endpoints,
    breakersOpen: endpoints.map(({ endpoint }) => `endpoint ${endpoint}`),
    latencies: [],
    callers: [],
    keys: []
  }
  const found = { targets: [{ url: "http://a", roles: [] }], leftOut: 3 }

  it("is cut to its limits, and says what is missing", () => {
    const view = frameView(frame, found, new Map([["console", "http://c"]]))
    assert.lengthOf(view.endpoints, 100)
    assert.lengthOf(view.breakersOpen, 100)
    assert.strictEqual(view.endpoints[0]?.endpoint, "e0")
    assert.include(view, { endpointCount: 150, processCount: 1, processesLeftOut: 3, isReady: true })
    assert.deepStrictEqual(view.addresses, { console: "http://c" })
  })

  it("is ready when every role is up, and there is one", () => {
    const isReady = (roles: Frame["roles"]) => frameView({ ...frame, roles }, found, new Map()).isReady
    assert.isFalse(isReady([]))
    assert.isFalse(isReady([role, { ...role, state: "not ready" }]))
    assert.isFalse(isReady([{ ...role, state: "down" }]))
  })
})
