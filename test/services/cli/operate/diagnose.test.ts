import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeConfiguration, effectiveSettings } from "#configuration"
import type { EndpointView } from "#console/api"
import { diagnoseFleet, type FleetFacts, lossesIn } from "../../../../services/cli/operate/diagnose.ts"

const nowMs = Date.parse("2026-11-20T12:00:00Z")

const well: FleetFacts = {
  conditions: { at: "2026-01-01T00:00:00.000Z", isWhole: true, count: 0, items: [] },
  processes: [{ url: "http://10.0.0.7:9400", roles: ["sweeper"], checks: { start: "ok", bus: "ok" } }],
  endpoints: [],
  abandoned: [],
  rejected: [],
  streams: [],
  books: { books: [], findings: [], leftOut: 0 },
  losses: []
}

const endpoint = (changes: Partial<EndpointView>): FleetFacts => ({
  ...well,
  endpoints: [
    {
      name: "shop",
      id: "shop",
      source: "run-time",
      revision: 1,
      isEnabled: true,
      settings: {},
      headerNames: [],
      faults: [],
      isSigned: true,
      hasStandardWebhooks: true,
      previousSecretUntilMs: null,
      startsAfter: 0,
      created: null,
      changed: null,
      paused: null,
      breakerOpenUntilMs: null,
      backlog: 7,
      parkedFrom: null,
      ...changes
    }
  ]
})

const stream = (
  changes: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {}
): FleetFacts => ({
  ...well,
  streams: [
    {
      name: "RECEIPTS",
      kind: "stream",
      purpose: "",
      atLimit: "refuses",
      trouble: null,
      consumers: [],
      ...more,
      state: {
        messages: 1,
        bytes: 10,
        bytesMax: 100,
        ageSecondsMax: null,
        firstAt: null,
        lastAt: null,
        leader: null,
        replicas: 1,
        replicasBehind: [],
        consumerCount: 0,
        ...changes
      }
    }
  ]
})

const processOf = (checks: Readonly<Record<string, string>> | undefined): FleetFacts => ({
  ...well,
  processes: [{ url: "http://10.0.0.7:9400", roles: ["sweeper"], checks }]
})

const book = {
  network: "eip155:8453",
  payTo: "0x1",
  comparedAt: null,
  triedAt: null,
  isBehind: true,
  trouble: "no node"
}

describe("the doctor of a fleet", () => {
  it.each([
    ["a fleet that is well", well],
    ["a disabled endpoint", endpoint({ isEnabled: false })],
    ["an endpoint whose breaker is closed again", endpoint({ breakerOpenUntilMs: nowMs - 1 })],
    ["a backlog of a moment", endpoint({ oldestDueAt: "2026-11-20T11:59:00Z" })],
    ["a full stream that drops its oldest messages", stream({ bytes: 100 }, { atLimit: "evicts" })],
    ["a stream without a limit", stream({ bytesMax: null })]
  ])("finds nothing wrong with %s", (_, facts) => {
    assert.deepStrictEqual(diagnoseFleet(facts, nowMs), [])
  })

  it.each([
    [
      "a process that is gone",
      processOf(undefined),
      "sweeper at http://10.0.0.7:9400 does not answer",
      "starlingpoddown"
    ],
    [
      "a process without its broker",
      processOf({ bus: "disconnected" }),
      "bus: disconnected",
      "starlingbusdisconnected"
    ],
    [
      "a role that cannot write",
      processOf({ "streams sweeper": "cannot write LOG: no answer within 5000 ms" }),
      "streams sweeper: cannot write LOG",
      "starlingstreamsunusable"
    ],
    [
      "a broker that cannot write",
      processOf({ broker: "JetStream stream 'LOG' write error: input/output error" }),
      "input/output error",
      "starlingstreamsunusable"
    ],
    [
      "streams that differ",
      processOf({ "topology sweeper": "LOG" }),
      "topology sweeper: LOG",
      "starlingtopologydiffers"
    ],
    [
      "an endpoint that answered 410",
      endpoint({
        paused: { at: "2026-11-20T11:00:00Z", by: "webhook-dispatcher", reason: "the receiver answered 410" }
      }),
      "shop is paused by webhook-dispatcher",
      "webhookendpointpaused"
    ],
    ["an endpoint that fails", endpoint({ breakerOpenUntilMs: nowMs + 1 }), "shop keeps failing", "webhookcircuitopen"],
    ["an endpoint that is behind", endpoint({ parkedFrom: 9 }), "waits for event 9", "webhookparkedlong"],
    [
      "an endpoint that is late",
      endpoint({ oldestDueAt: "2026-11-20T11:00:00Z" }),
      "shop is late",
      "webhookendpointlate"
    ],
    ["a stream that is nearly full", stream({ bytes: 85 }), "RECEIPTS is 85 % full", "starlingstreamfilling"],
    [
      "a stream that was lost",
      stream({}, { trouble: "lost at 2026-01-31T10:00:00.000Z with all that lay in it, and made again" }),
      "RECEIPTS was lost at 2026-01-31T10:00:00.000Z",
      "a-lost-stream"
    ],
    ["a stream with a copy behind", stream({ replicasBehind: ["nats-2"] }), "nats-2", "starlingbusdisconnected"],
    [
      "books that nobody compares",
      { ...well, books: { ...well.books, books: [book] } },
      "eip155:8453",
      "paymentbooksunread"
    ]
  ] as ReadonlyArray<readonly [string, FleetFacts, string, string]>)(
    "finds %s, and names its runbook",
    (_, facts, what, runbook) => {
      const [finding, ...others] = diagnoseFleet(facts, nowMs)
      assert.isEmpty(others)
      assert.strictEqual(finding?.state, "missing")
      assert.include(finding?.what, what)
      assert.match(
        finding?.mend ?? "",
        new RegExp(`^\\./starling .*\\ndocs/(?:runbooks|operations)\\.md#${runbook}$`, "su")
      )
    }
  )

  it.each([
    ["the system's word", { broker: "JetStream stream 'LOG' write error: no space left on device" }],
    ["the broker's own word", { "streams sweeper": "cannot write LOG: insufficient storage resources available" }]
  ])("says first to make room where the disk is full, by %s", (_, checks) => {
    const [finding, ...others] = diagnoseFleet(processOf(checks), nowMs)
    assert.isEmpty(others)
    assert.match(
      finding?.mend ?? "",
      /^make room on the broker's disk: .*\n\.\/starling .*\ndocs\/runbooks\.md#starlingstreamsunusable$/su
    )
  })

  it("says to make room for whatever cannot write, once one process names the full disk", () => {
    const url = "http://10.0.0.7:9400"
    const found = diagnoseFleet(
      {
        ...well,
        processes: [
          {
            url,
            roles: ["sweeper"],
            checks: { "streams sweeper": "cannot write LOG: no answer", bus: "disconnected" }
          },
          { url, roles: [], checks: { broker: "write error: no space left on device" } }
        ]
      },
      nowMs
    )
    assert.deepStrictEqual(
      found.map(({ mend }) => mend.startsWith("make room")),
      [true, false, true]
    )
  })

  const away = { "streams sweeper": "cannot write LOG: no answer" }
  const beside = (checks: Readonly<Record<string, string>>, roles: ReadonlyArray<string>): FleetFacts => ({
    ...well,
    processes: [...(processOf(away).processes ?? []), { url: "http://10.0.0.8:9400", roles, checks }]
  })
  it.each([
    ["goes on, where another process of the role is ready", beside({ bus: "ok" }, ["sweeper", "console"]), true],
    ["does not, where there is one process", processOf(away), false],
    ["does not, where the other one is not ready either", beside(away, ["sweeper"]), false],
    ["does not, where the other one has another role", beside({ bus: "ok" }, ["console"]), false]
  ])("says that the work of a role that is not ready %s", (_, facts, goesOn) => {
    const [finding] = diagnoseFleet(facts, nowMs)
    assert.strictEqual(finding?.why.includes("other processes of its role continue"), goesOn)
  })

  it("names the first fault of an endpoint that cannot be used", () => {
    const [finding] = diagnoseFleet(endpoint({ faults: [{ path: "/Url", message: "is no URL" }] }), nowMs)
    assert.include(finding, { check: "endpoints", what: "shop cannot be used: /Url is no URL" })
  })

  it("only advises to name the processes of a fleet elsewhere", () => {
    const [finding] = diagnoseFleet({ ...well, processes: undefined }, nowMs)
    assert.include(finding, { check: "processes", state: "advice" })
  })
})

describe("the doctor of a fleet whose models cost more than the quote's guess charges", () => {
  const settingsOf = (changes: object, share: number) => {
    const model = {
      Id: "demo/x",
      OutputMicroUsdPerMillionTokens: 2_000_000,
      Upstreams: [{ Provider: "p", Model: "m", CostOutputMicroUsdPerMillionTokens: 1_000_000 }]
    }
    const network = { Network: "eip155:84532", RpcUrls: ["http://127.0.0.1:1"], PayTo: `0x${"11".repeat(20)}` }
    const decoded = decodeConfiguration({
      ModelGateway: { Providers: [{ Name: "p", BaseUrl: "http://127.0.0.1:1" }], Models: [{ ...model, ...changes }] },
      Payments: { OutputShare: share, Networks: [network] }
    })
    return effectiveSettings(Result.getOrThrow(decoded), new Map())
  }

  it("names the model, the provider and the part of an answer beyond which it is a loss, as advice", () => {
    const losses = lossesIn(settingsOf({}, 0.1))
    assert.deepStrictEqual(losses, [
      { model: "demo/x", provider: "p", networks: ["eip155:84532"], breakEvenShare: 0.2 }
    ])
    const [finding] = diagnoseFleet({ ...well, losses }, nowMs)
    assert.deepInclude({ ...finding }, { check: "prices", state: "advice" })
    assert.include(finding?.what, "more than 20% of the tokens")
  })

  it("says nothing of a share that pays, of what is sold flat or free, and of what it cannot read", () => {
    assert.deepStrictEqual(lossesIn(settingsOf({}, 0.5)), [])
    assert.deepStrictEqual(lossesIn(settingsOf({ FlatMicroUsd: 5 }, 0.1)), [])
    assert.deepStrictEqual(lossesIn(settingsOf({ Free: true }, 0.1)), [])
    assert.deepStrictEqual(lossesIn([]), [])
  })
})
