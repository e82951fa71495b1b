import { assert, describe, it } from "@effect/vitest"
import { creation, inHand, itemAtWork, itemId, readyFor, startMs } from "./item-at-work.ts"

describe("the lifecycle of a work item", () => {
  it("emits the events of a run with one rework in order", () => {
    const item = itemAtWork()
    item.takes("work")
    item.commits()
    item.takes("audit")
    item.audited("Error")
    item.takes("rework")
    item.commits()
    item.takes("audit")
    item.audited("Info")
    item.takes("merge")
    item.reports("merge-ended", { outcome: "merged", mergeSha: "feed123", reason: null })
    item.takes("upstream")
    item.reports("push-ended", { outcome: "pushed", reason: null })
    const of = (name: string) => item.events.filter(({ event }) => event === name)
    const audit = "work_item.auditing audit.started audit.findings.emitted work_item.audit_iteration audit.completed"
    const told = [
      "work_item.working iteration.started iteration.completed work_item.work_complete",
      `${audit} work_item.reworking`,
      "iteration.started iteration.completed work_item.work_complete",
      `${audit} work_item.audit_passed`,
      "work_item.merging merge.started merge.completed work_item.merged",
      "work_item.upstream_pushing work_item.done"
    ]
    assert.strictEqual(item.events.map(({ event }) => event).join(" "), told.join(" "))
    const numbers = ["iteration.started", "iteration.completed", "audit.started", "audit.completed"].map((name) =>
      of(name).map(({ details }) => details?.["iteration"])
    )
    assert.deepStrictEqual(
      numbers,
      Array.from({ length: 4 }, () => [1, 2])
    )
    assert.strictEqual(item.state().state, "Done")
    assert.strictEqual(item.state().endedAtMs, item.nowMs())
  })

  it("shows in every transition's envelope the resulting state", () => {
    const item = inHand("upstream")
    item.reports("push-ended", { outcome: "pushed", reason: null })
    const shown = item.events
      .filter(({ details }) => details === null)
      .map(({ event, workItem }) => [event, workItem?.state])
    assert.deepStrictEqual(shown, [
      ["work_item.working", "Working"],
      ["work_item.work_complete", "WorkComplete"],
      ["work_item.auditing", "Auditing"],
      ["work_item.audit_passed", "AuditPassed"],
      ["work_item.merging", "Merging"],
      ["work_item.merged", "Merged"],
      ["work_item.upstream_pushing", "UpstreamPushing"],
      ["work_item.done", "Done"]
    ])
  })

  it("shows the item with every field of the contract", () => {
    const item = itemAtWork({}, { externalId: "T-1" })
    item.takes("work")
    assert.deepStrictEqual(item.last("work_item.working")?.workItem, {
      id: itemId,
      externalId: "T-1",
      projectId: "garden",
      title: "Mend the gate",
      agent: "smith",
      repositoryUrl: "https://git.example/garden.git",
      baseBranch: "main",
      workBranch: "starling/0f8fad5b",
      state: "Working",
      createdAt: new Date(startMs + 1).toISOString(),
      updatedAt: new Date(startMs + 2).toISOString(),
      lastError: null,
      upstreamPushAttempts: 0
    })
  })

  it("emits nothing for the creation, and creates once", () => {
    const item = itemAtWork()
    assert.deepStrictEqual(item.events, [])
    assert.strictEqual(item.state().state, "Queued")
    assert.match(item.refuses(creation()), /is there already/u)
  })

  it("names a check when it is a follow-up, and only then", () => {
    assert.throws(() => itemAtWork({}, { kind: "follow-up" }), /names the check/u)
    assert.throws(() => itemAtWork({}, { originCheckWorkItemId: itemId }), /names the check/u)
  })

  it("starts an iteration with its phase and time of dispatch", () => {
    const item = inHand("work")
    assert.deepStrictEqual(item.last("iteration.started")?.details, {
      workItemId: itemId,
      iteration: 1,
      phase: "work",
      dispatchedAt: new Date(item.nowMs()).toISOString()
    })
  })

  it("completes an iteration with its commit and duration", () => {
    const item = inHand("work")
    item.commits()
    assert.deepStrictEqual(item.last("iteration.completed")?.details, {
      workItemId: itemId,
      iteration: 1,
      phase: "work",
      commitSha: "abc1234",
      durationMs: 5
    })
  })

  it("completes no iteration without a commit, and fails when a commit was the work", () => {
    const item = inHand("work")
    const events = item.reports("iteration-ended", { outcome: "unchanged", commitSha: null, durationMs: 5 })
    assert.deepStrictEqual(events, ["work_item.failed"])
    assert.strictEqual(item.state().failureKind, "no-commit")
  })

  it("goes on to audit when rework has no commit", () => {
    const item = inHand("rework")
    const events = item.reports("iteration-ended", { outcome: "unchanged", commitSha: null, durationMs: 5 })
    assert.deepStrictEqual(events, ["work_item.work_complete"])
    assert.strictEqual(item.state().commitSha, "abc1234")
  })

  it("ends unchanged when the agent found nothing to do", () => {
    const item = inHand("work")
    const events = item.reports("iteration-ended", { outcome: "no-action", commitSha: null, durationMs: 5 })
    assert.deepStrictEqual(events, ["work_item.no_action_required"])
    assert.strictEqual(item.state().state, "NoActionRequired")
  })

  it("fails permanently with the reported error", () => {
    const item = inHand("work")
    assert.deepStrictEqual(item.reports("failed", { reason: "out of ink", failureKind: "agent" }), ["work_item.failed"])
    assert.strictEqual(item.last("work_item.failed")?.workItem?.lastError, "out of ink")
  })

  it("fails when its agent's credentials are refused, and records the agent and the category", () => {
    const item = inHand("work")
    const events = item.reports("auth-failed", { reason: "login prompt", category: "Persistent" })
    assert.deepStrictEqual(events, ["work_item.failed"])
    assert.deepInclude(item.records.at(-1)?.facts[0], { _tag: "AuthFailed", agent: "smith", category: "Persistent" })
  })
})

describe("a dispatch", () => {
  it("is accepted only for the phase that the item is ready for", () => {
    assert.strictEqual(
      itemAtWork().refuses(itemAtWork().dispatch("merge")),
      "it is ready for work, not for merge (Queued)"
    )
  })

  it("is refused while another runner has the item, and its repetition changes nothing", () => {
    const item = itemAtWork()
    const first = item.dispatch("work")
    item.does(first)
    assert.deepStrictEqual(item.does(first), [])
    assert.match(item.refuses(item.dispatch("work")), /another runner has it/u)
  })

  it("keeps the settings of its moment", () => {
    const item = readyFor("audit")
    item.does(item.dispatch("audit", { settings: { ...item.state().settings, failingSeverity: "Info" } }))
    item.audited("Info")
    assert.strictEqual(item.state().state, "Reworking")
  })

  it("records signs of life at most every ten seconds", () => {
    const item = inHand("work")
    const takenMs = item.nowMs()
    item.passes(9_000)
    item.reports("progress", {})
    assert.strictEqual(item.state().dispatch?.lastProgressAtMs, takenMs)
    item.passes(2_000)
    item.reports("progress", {})
    assert.strictEqual(item.state().dispatch?.lastProgressAtMs, item.nowMs())
  })
})

describe("retirement", () => {
  it("is for an item that ended long enough ago", () => {
    const item = inHand("work")
    assert.match(item.refuses({ _tag: "Retire", endedBeforeMs: item.nowMs() }), /only an item that has ended/u)
    item.reports("failed", { reason: "no", failureKind: "agent" })
    assert.match(item.refuses({ _tag: "Retire", endedBeforeMs: startMs }), /long enough/u)
    assert.deepStrictEqual(item.does({ _tag: "Retire", endedBeforeMs: item.nowMs() }), [])
    assert.isTrue(item.records.at(-1)?.isRetired)
  })
})
