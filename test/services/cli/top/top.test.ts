import { assert, describe, it } from "@effect/vitest"
import { roleNames } from "#base"
import { parseExposition } from "../../../../libs/console/readings/readings.ts"
import { type Frame, frameOf } from "../../../../libs/console/readings/frame.ts"
import type { StandingCondition } from "#console/api"
import type { Readiness, Seen } from "../../../../libs/console/readings/role-rows.ts"
import { frameLines } from "../../../../services/cli/top/top.ts"

const metrics = (delivered: number) =>
  [
    'bus_connected{role="webhook-dispatcher"} 1',
    'bus_connected{role="sweeper"} 1',
    'bus_connected{role="fleet"} 1',
    "process_resident_memory_bytes 104857600",
    `process_cpu_seconds_total ${delivered / 64}`,
    `webhook_deliveries_total{role="webhook-dispatcher",endpoint="a",outcome="delivered"} ${delivered}`,
    'webhook_backlog{role="webhook-dispatcher",endpoint="a"} 7',
    'webhook_backlog{role="webhook-dispatcher",endpoint="b"} 70',
    'webhook_circuit_state{role="webhook-dispatcher",endpoint="a"} 0',
    'webhook_circuit_state{role="webhook-dispatcher",endpoint="b"} 2'
  ].join("\n")

const seen = (changes: Partial<Seen> = {}): Seen => ({
  before: { atMs: 0, targets: new Map([["http://x", parseExposition(metrics(128))]]) },
  after: { atMs: 2_000, targets: new Map([["http://x", parseExposition(metrics(192))]]) },
  targets: [{ url: "http://x", roles: [] }],
  readiness: new Map<string, Readiness | undefined>([["http://x", { ok: true, checks: { bus: "ok" } }]]),
  ...changes
})

const stateOf = (of: Seen, role: string) => frameOf(of).roles.find((row) => row.role === role)

describe("a frame of top", () => {
  it("shows the running roles, the deliveries, and the open breakers", () => {
    const frame = frameOf(seen())
    assert.deepStrictEqual(
      frame.roles.map(({ role, state, residentMb, cores }) => [role, state, residentMb, cores]),
      [
        ["webhook-dispatcher", "up", 100, 0.5],
        ["sweeper", "up", 100, 0.5]
      ]
    )
    assert.strictEqual(frame.totals["webhooks"]?.["delivered/s"], 32)
    assert.strictEqual(frame.totals["webhooks"]?.["backlog"], 77)
    assert.deepStrictEqual(
      frame.endpoints.map(({ endpoint, breaker }) => [endpoint, breaker]),
      [
        ["b", "open"],
        ["a", "closed"]
      ]
    )
    assert.deepStrictEqual(frame.breakersOpen, ["endpoint b"])
  })

  it("shows the programs that called models, the busiest first, and the keys that were refused or left out", () => {
    const calls = (counts: ReadonlyArray<readonly [client: string, outcome: string, calls: number]>) =>
      counts.map(([client, outcome, n]) => `gateway_client_calls_total{client="${client}",outcome="${outcome}"} ${n}`)
    const text = [
      ...calls([
        ["codex", "ok", 3],
        ["codex", "refused", 1],
        ["opencode", "ok", 0],
        ["other", "quoted", 9]
      ]),
      'gateway_refusals_total{code="INVALID_PARAMETER",key="stop"} 2',
      'gateway_keys_left_out_total{key="user"} 5'
    ].join("\n")
    const { callers, keys } = frameOf(
      seen({ after: { atMs: 2_000, targets: new Map([["http://x", parseExposition(text)]]) } })
    )
    assert.deepStrictEqual(callers, [
      { client: "other", answered: 0, quoted: 9, refused: 0, failed: 0 },
      { client: "codex", answered: 3, quoted: 0, refused: 1, failed: 0 }
    ])
    assert.deepStrictEqual(keys, [
      { code: null, key: "user", calls: 5 },
      { code: "INVALID_PARAMETER", key: "stop", calls: 2 }
    ])
  })

  it("shows a role down whose process does not answer, by its known name", () => {
    const row = stateOf(
      seen({
        after: { atMs: 2_000, targets: new Map([["http://x", undefined]]) },
        targets: [{ url: "http://x", roles: ["sweeper"] }]
      }),
      "sweeper"
    )
    assert.deepInclude(row, { state: "down", why: "no answer", residentMb: null })
  })

  it("shows a role down when its fleet reports the process as away", () => {
    const checks = { bus: "ok", "speech-synthesizer": "its process is not ready" }
    const of = seen({ readiness: new Map([["http://x", { ok: false, checks }]]) })
    assert.deepInclude(stateOf(of, "speech-synthesizer"), { state: "down", why: "its process is not ready" })
    assert.strictEqual(stateOf(of, "sweeper")?.state, "up")
  })

  it("names the reason of an unready role, and blames no other role for it", () => {
    const of = seen({
      readiness: new Map([["http://x", { ok: false, checks: { bus: "ok", "http sweeper": "not listening" } }]])
    })
    assert.deepInclude(stateOf(of, "sweeper"), { state: "not ready", why: "http sweeper: not listening" })
    assert.strictEqual(stateOf(of, "webhook-dispatcher")?.state, "up")
  })

  it("leaves a role up while a fault outside of its process is shown beside its checks", () => {
    const of = seen({ readiness: new Map([["http://x", { ok: true, checks: { bus: "ok", "provider acme": "401" } }]]) })
    assert.deepInclude(stateOf(of, "sweeper"), { state: "up", why: "" })
  })

  it("has no rates before a second reading", () => {
    const frame = frameOf(seen({ before: undefined }))
    assert.isNull(frame.totals["webhooks"]?.["delivered/s"])
    assert.isNull(frame.roles[0]?.cores)
  })
})

const condition = (name: string, causedBy: string | null = null): StandingCondition => ({
  id: name,
  name,
  severity: "critical",
  title: `${name} is wrong.`,
  hurts: "",
  reasons: [],
  since: "2026-01-01T10:20:30.000Z",
  labels: {},
  causedBy,
  commands: [],
  runbook: { means: "", lookAt: "", act: "" }
})
const shown = (frame: Frame, ...conditions: ReadonlyArray<StandingCondition>) => ({ ...frame, conditions })

describe("the text of a frame", () => {
  it("begins with what is wrong, the worst first, and counts what that causes", () => {
    const [, first, second] = frameLines(shown(frameOf(seen()), condition("Cause"), condition("Effect", "Cause")), {
      columns: 80,
      rows: 24
    })
    assert.strictEqual(first, "critical  since 10:20:30  Cause is wrong.")
    assert.strictEqual(second, "          and 1 more: ./starling doctor")
  })

  it.each([
    [200, 50],
    [80, 24],
    [40, 10],
    [20, 3],
    [1, 1]
  ])("fits %d columns and %d rows", (columns, rows) => {
    const lines = frameLines(shown(frameOf(seen())), { columns, rows })
    assert.isAtMost(lines.length, rows)
    for (const line of lines) assert.isAtMost(line.length, columns)
  })

  const processesOf = (count: number, roles: ReadonlyArray<string>) =>
    Array.from({ length: count }, (_, index) => ({ url: `http://10.0.0.${index}:9400`, roles }))
  const frameIn = (processes: ReturnType<typeof processesOf>, away: string) =>
    frameOf(
      seen({
        before: undefined,
        after: {
          atMs: 2_000,
          targets: new Map(
            processes.map(({ url, roles }) => [
              url,
              url === away
                ? undefined
                : parseExposition(
                    [
                      ...roles.map((role) => `bus_connected{role="${role}"} 1`),
                      ...Array.from({ length: 9 }, (_, at) => `webhook_backlog{endpoint="endpoint ${at}"} 1234567`)
                    ].join("\n")
                  )
            ])
          )
        },
        targets: processes,
        readiness: new Map(
          processes.map(({ url }) => [url, url === away ? undefined : { ok: true, checks: { bus: "ok" } }])
        )
      })
    )

  it.each([
    [1, roleNames],
    [1, ["a role with a very long name that somebody made up for this test", ...roleNames]],
    [40, ["webhook-dispatcher"]]
  ])("shows many conditions, what is down, and endpoints in 80 by 24: %i processes of %j", (count, roles) => {
    const processes = [...processesOf(count, roles), { url: "http://10.0.1.1:9400", roles: ["sweeper"] }]
    const conditions = Array.from({ length: 30 }, (_, index) => ({
      ...condition(`Condition${index}`),
      title: "A title that is longer than a terminal of eighty columns is wide, and goes on for quite a while."
    }))
    const lines = frameLines(shown(frameIn(processes, "http://10.0.1.1:9400"), ...conditions), {
      columns: 80,
      rows: 24
    })
    assert.isAtMost(lines.length, 24)
    for (const line of lines) assert.isAtMost(line.length, 80)
    const text = lines.join("\n")
    for (const part of [
      /^critical {2}since 10:20:30 {2}A title/mu,
      /and 25 more: \.\/starling doctor/u,
      /^sweeper +down .*no answer/mu,
      count === 1 ? / \+\d+ +up /u : /^and \d+ more$/mu,
      /^breakers {2}all closed$/mu,
      /^endpoint \d/mu,
      /^and 6 more$/mu
    ]) {
      assert.match(text, part)
    }
  })

  it("counts the endpoints that it leaves out, the least busy ones", () => {
    const many = Array.from({ length: 40 }, (_, index) => `webhook_backlog{endpoint="e${index}"} ${index}`).join("\n")
    const frame = frameOf(seen({ after: { atMs: 1_000, targets: new Map([["http://x", parseExposition(many)]]) } }))
    const text = frameLines(shown(frame), { columns: 100, rows: 40 }).join("\n")
    assert.include(text, "e39")
    assert.notMatch(text, /^e0 /mu)
    assert.match(text, /and \d+ more/u)
  })

  it("lets no name move the cursor", () => {
    const hostile = 'webhook_backlog{endpoint="a\u001B[2Jb"} 1'
    const frame = frameOf(seen({ after: { atMs: 1_000, targets: new Map([["http://x", parseExposition(hostile)]]) } }))
    const text = frameLines(shown(frame), { columns: 100, rows: 60 }).join("")
    assert.include(text, String.raw`a\u001b[2Jb`)
    assert.notInclude(text, "\u001B")
  })
})
