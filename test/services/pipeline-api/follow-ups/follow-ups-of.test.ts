import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { commandEntities, type WorkItemFact } from "#pipeline/contract"
import { created } from "../../../../libs/pipeline/work-item/lifetime.ts"
import { followUpsOf, mayBeFollowed } from "../../../../services/pipeline-api/follow-ups/follow-ups-of.ts"
import { uuid } from "../../../libs/pipeline/entity-at-work.ts"
import { checkId, creation, itemId } from "../../../libs/pipeline/work-item/item-at-work.ts"

const releaseId = uuid(5)
const { workBranchPrefix: _prefix, ...origin } = creation({ releaseId })
const item = created({ ...origin, _tag: "Created", workBranch: "starling/0f8fad5b" }, { atMs: 1 })
type State = typeof item.state

const record = (facts: ReadonlyArray<object>, state: object, entity = "workitem") => ({
  entity,
  id: entity === "agent" ? "owl" : itemId,
  sequence: 42,
  atMs: 1_700_000_000_000,
  facts,
  events: [],
  state
})

const isLookedAt = (facts: ReadonlyArray<object>, state: object, entity = "workitem") =>
  mayBeFollowed(`log.${entity}.x`, new TextEncoder().encode(JSON.stringify(record(facts, state, entity))))

const shortly = (facts: ReadonlyArray<object>, state: object, entity?: string) =>
  Result.getOrThrow(followUpsOf(record(facts, state, entity))).map((followUp) =>
    followUp._tag === "Command"
      ? [followUp.entity, followUp.command._tag, "outcome" in followUp.command ? followUp.command.outcome : ""]
          .join(" ")
          .trim()
      : followUp._tag
  )

const failed: WorkItemFact = { _tag: "Failed", error: "no", failureKind: "agent", agent: "owl" }

describe("the follow-ups of a record", () => {
  const cases: ReadonlyArray<readonly [string, object, State, ReadonlyArray<string>]> = [
    [
      "an item of a release is created",
      { ...origin, _tag: "Created", workBranch: "starling/1" },
      "Queued",
      ["release AddWorkItem"]
    ],
    ["it is done", { _tag: "Completed" }, "Done", ["release EndWorkItem done"]],
    ["nothing was to be done", { _tag: "EndedWithoutAction" }, "NoActionRequired", ["release EndWorkItem done"]],
    ["it failed", failed, "Failed", ["release EndWorkItem failed"]],
    ["its audit failed", { _tag: "AuditFailed" }, "AuditFailed", ["release EndWorkItem failed"]],
    ["it failed, and was delegated at once", failed, "Delegated", ["release ReturnWorkItem"]],
    ["it was resumed", { _tag: "Resumed", resumedFromPhase: null }, "Queued", ["release ReturnWorkItem"]],
    ["a runner was heard of", { _tag: "Progressed" }, "Working", []]
  ]
  it.each(cases)("%s", (_what, fact, state, wanted) => {
    assert.deepStrictEqual(shortly([fact], { ...item, state }), wanted)
    if (wanted.length > 0) assert.isTrue(isLookedAt([fact], { ...item, state }))
  })

  it("are none for an item without a release", () => {
    const alone = { ...item, releaseId: null, state: "Done" }
    assert.deepStrictEqual(shortly([{ _tag: "Completed" }], alone), [])
    assert.isFalse(isLookedAt([{ _tag: "Completed" }], alone))
  })

  it("are the act of a check and its release's update, in this order, valid by the schema", () => {
    const asked = {
      _tag: "FollowUpAsked",
      followupWorkItemId: checkId,
      title: "Oil it",
      instructions: null,
      answer: "yes"
    }
    const state = { ...item, kind: "check", state: "Done" }
    assert.deepStrictEqual(shortly([asked, { _tag: "Completed" }], state), [
      "workitem Create",
      "release EndWorkItem done"
    ])
    const [act] = Result.getOrThrow(followUpsOf(record([asked], state)))
    assert.isTrue(
      act?._tag === "Command" &&
        Result.isSuccess(Schema.decodeUnknownResult(commandEntities.workitem.schema)(act.command))
    )
    assert.deepInclude(act?._tag === "Command" ? act.command : {}, {
      originCheckWorkItemId: itemId,
      workBranchPrefix: "starling",
      kind: "follow-up"
    })
  })

  it("are a benched agent after refused credentials, with the item", () => {
    const auth = { _tag: "AuthFailed", agent: "owl", agentInstanceId: "a", reason: "401", category: "Persistent" }
    const followUps = Result.getOrThrow(
      followUpsOf(record([auth, failed], { ...item, releaseId: null, state: "Failed" }))
    )
    assert.strictEqual(followUps.length, 1)
    const [bench] = followUps
    assert.isTrue(bench?._tag === "Command" && bench.id === "owl/a" && bench.command._tag === "FailSmoke")
  })

  it("cover every kind of record", () => {
    const alone = { ...item, releaseId: null }
    for (const _tag of ["FollowUpAsked", "AuthFailed"]) assert.isTrue(isLookedAt([{ _tag }], alone), _tag)
    for (const _tag of ["Resumed", "SmokeRecovered", "QuotaReset"])
      assert.isTrue(isLookedAt([{ _tag }], {}, "agent"), _tag)
    assert.isTrue(isLookedAt([{ _tag: "RemediationDispatched" }], {}, "release"))
    assert.isFalse(isLookedAt([{ _tag: "Paused" }], {}, "queue"))
  })

  it("let waiting items continue when their agent is back", () => {
    assert.deepStrictEqual(shortly([{ _tag: "Resumed", resumedBy: "me", reason: null }], {}, "agent"), ["Wake"])
    assert.deepStrictEqual(shortly([{ _tag: "QuotaReset" }], {}, "agent"), ["Wake"])
    assert.deepStrictEqual(
      shortly([{ _tag: "Paused", reason: "x", pausedBy: "me", expiresAtMs: null }], {}, "agent"),
      []
    )
  })

  it("let items that wait for a quota continue only when the quota is back", () => {
    const wakes = (fact: object) => Result.getOrThrow(followUpsOf(record([fact], {}, "agent")))
    assert.deepStrictEqual(wakes({ _tag: "QuotaReset" }), [{ _tag: "Wake", agentId: "owl", isQuota: true }])
    for (const fact of [
      { _tag: "Resumed", resumedBy: "me", reason: null },
      { _tag: "SmokeRecovered", benchedAtMs: 1, recoveredAtMs: 2, by: "probe" }
    ]) {
      assert.deepStrictEqual(wakes(fact), [{ _tag: "Wake", agentId: "owl", isQuota: false }])
    }
  })

  it("are none when the state is unreadable", () => {
    assert.isTrue(Result.isFailure(followUpsOf(record([{ _tag: "Completed" }], { state: "Dreaming" }))))
  })
})
