import { assert, describe, it } from "@effect/vitest"
import { inHand, itemId, readyFor, startMs } from "./item-at-work.ts"

const project = { id: "garden", displayName: "The garden", repositoryUrl: "https://git.example/garden.git" }

describe("every event of an item", () => {
  it("shows its project whole, and the time of the decision", () => {
    const item = inHand("audit")
    item.audited("Error")
    for (const event of item.events) {
      assert.deepStrictEqual(event.project, project, event.event)
      assert.strictEqual(event.workItem?.id, itemId)
    }
    const last = item.records.at(-1)
    assert.strictEqual(last?.atMs, item.nowMs())
    for (const { occurredAt } of last?.events ?? []) assert.strictEqual(Date.parse(occurredAt), item.nowMs())
  })

  it("shows the item's last error, until it is done", () => {
    const item = readyFor("upstream")
    item.takes("upstream")
    item.reports("push-ended", { outcome: "failed", reason: "refused" })
    item.passes(3_600_000)
    item.takes("upstream")
    assert.strictEqual(item.last("work_item.upstream_pushing")?.workItem?.lastError, "refused")
    item.reports("push-ended", { outcome: "pushed", reason: null })
    assert.isNull(item.last("work_item.done")?.workItem?.lastError)
  })
})

describe("an unfinished audit", () => {
  it("leaves its start without findings and a verdict, and the failure comes last", () => {
    const item = inHand("audit")
    item.reports("failed", { reason: "the sandbox is gone", failureKind: "agent" })
    const names = item.events.map(({ event }) => event)
    assert.include(names, "audit.started")
    for (const name of ["audit.findings.emitted", "audit.completed", "work_item.audit_iteration"]) {
      assert.notInclude(names, name)
    }
    assert.strictEqual(names.at(-1), "work_item.failed")
  })

  it("begins again under the same number when its worker died", () => {
    const item = inHand("audit")
    item.reports("agent-died", { reason: "exit 137" })
    item.takes("audit")
    const started = item.events.filter(({ event }) => event === "audit.started")
    assert.deepStrictEqual(
      started.map(({ details }) => details?.["iteration"]),
      [1, 1]
    )
  })
})

describe("deferred work", () => {
  const deferral = (suggestedRetryAtMs: number) =>
    ({
      _tag: "Defer",
      dispatchId: null,
      deferral: { kind: "budget", reason: "MaxInFlightItems: 5/5 items in flight", suggestedRetryAtMs }
    }) as const

  it("is reported again for a longer wait, and not for a shorter one", () => {
    const item = readyFor("audit")
    item.does(deferral(startMs + 60_000))
    assert.deepStrictEqual(item.does(deferral(startMs + 30_000)), [])
    assert.deepStrictEqual(item.does(deferral(startMs + 90_000)), ["budget.deferred"])
    assert.strictEqual(item.state().notBeforeMs, startMs + 90_000)
  })
})

describe("an agent's return", () => {
  const requeue = (outageStartedAtMs: number, restoredAtMs: number) =>
    ({ _tag: "AgentRestoreRequeue", restoredAgent: "smith", outageStartedAtMs, restoredAtMs }) as const

  it("includes failures at the exact beginning and end of the outage", () => {
    for (const at of ["began", "ended"] as const) {
      const item = inHand("work")
      item.reports("failed", { reason: "no route", failureKind: "infra" })
      const failedAtMs = item.nowMs()
      const outage = at === "began" ? requeue(failedAtMs, failedAtMs + 9) : requeue(startMs, failedAtMs)
      assert.deepStrictEqual(item.does(outage), ["work_item.agent_restore_requeued"], at)
    }
  })

  it("includes every kind of failure by the agent's absence, and no other", () => {
    const kinds = { infra: true, auth: true, quota: true, transient: true, agent: false, merge: false, stuck: false }
    for (const [failureKind, isTaken] of Object.entries(kinds)) {
      const item = inHand("work")
      item.reports("failed", { reason: "no", failureKind: failureKind as "infra" })
      const outage = requeue(startMs, item.nowMs())
      if (isTaken) assert.strictEqual(item.does(outage).length, 1, failureKind)
      else assert.match(item.refuses(outage), /own fault/u, failureKind)
    }
  })
})

describe("the fallback of an agent class", () => {
  it("is reported with the model that the phase was dispatched with", () => {
    const item = readyFor("merge")
    item.does(item.dispatch("merge", { agent: "owl", model: "m-1" }))
    item.reports("quota-hit", { reason: "429", toAgent: "wren", toModel: null, resetAtMs: null })
    assert.deepInclude(item.last("agent.fallback")?.details, {
      phase: "merge",
      fromAgent: "owl",
      fromModel: "m-1",
      toAgent: "wren",
      toModel: null
    })
  })
})
