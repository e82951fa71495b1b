import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { entityProjection } from "#actors"
import { ReleaseCommand, type ReleaseCommandTag, ReleaseSummary } from "#pipeline/contract"
import { releaseStates } from "#base"
import { release, releaseProjection } from "#pipeline"
import { releaseTransitions } from "../../../../libs/pipeline/release/release.ts"
import { entityAtWork } from "../entity-at-work.ts"
import { wireProject } from "../wire-item.ts"
import {
  abandon,
  add,
  begin,
  close,
  conflict,
  create,
  end,
  iterated,
  publish,
  releaseId,
  releaseIn,
  reopen,
  returned
} from "./release-at-work.ts"

describe("a release", () => {
  it.each([
    ["open", close, "closed", "release.closed"],
    ["closed", begin, "in_review", "release.in_review"],
    ["in_review", publish, "published", "release.published"],
    ["failed", reopen, "open", "release.reopened"],
    ["open", abandon, "abandoned", "release.abandoned"]
  ] as const)("that is %s goes on by %o to %s, with the event %s", (from, command, to, event) => {
    const spring = releaseIn(from)
    assert.deepStrictEqual(spring.does(command), [event])
    assert.strictEqual(spring.state().state, to)
    const told = spring.last(event)
    assert.deepStrictEqual(told.release, { id: releaseId, name: "Spring", state: to })
    assert.deepStrictEqual(told.project, wireProject)
    assert.notProperty(told, "workItem")
  })

  it("is created open", () => {
    const spring = entityAtWork(release, ReleaseCommand, releaseId)
    assert.deepStrictEqual(spring.does(create), ["release.created"])
    assert.strictEqual(spring.state().state, "open")
    const { sourceBranch, targetBranch, description } = create
    assert.deepStrictEqual(spring.last("release.created").details, { sourceBranch, targetBranch, description })
    assert.match(spring.refuses(create), /there already/u)
  })

  it("that never existed is not found", () => {
    assert.strictEqual(entityAtWork(release, ReleaseCommand, "x").refuses(close), "no release x")
  })

  it("fails when its deep audit still blocks after the last iteration", () => {
    const spring = releaseIn("in_review")
    assert.deepStrictEqual(spring.does(iterated(3, 2)), ["release.deep_audit_iteration_complete", "release.failed"])
    assert.strictEqual(spring.state().state, "failed")
    assert.deepStrictEqual(spring.last("release.failed").details, {
      reason: "max audit iterations exceeded",
      iteration: 3,
      maxIterations: 3,
      blockingFindings: 2
    })
  })

  it("can go the whole way again after it failed", () => {
    const spring = releaseIn("failed")
    spring.does(reopen)
    assert.isNull(spring.state().endedAtMs)
    spring.does(add(5))
    for (const command of [close, { ...begin, auditId: "a2" }, iterated(1, 0, { auditId: "a2" }), publish]) {
      spring.does(command)
    }
    assert.strictEqual(spring.state().state, "published")
    assert.strictEqual(spring.state().mergeSha, "abc1234")
  })

  // Every command in every state, by the table: an unlisted one is refused, and changes nothing.
  const samples: Record<Exclude<ReleaseCommandTag, "Create">, ReleaseCommand> = {
    AddWorkItem: add(1),
    EndWorkItem: end(1, "done"),
    ReturnWorkItem: returned(1),
    Close: close,
    BeginDeepAudit: { ...begin, auditId: "another" },
    CompleteAuditIteration: iterated(1, 0, { auditId: null }),
    Publish: publish,
    Reopen: reopen,
    Abandon: abandon,
    ReportSyncConflict: conflict(),
    Retire: { _tag: "Retire", endedBeforeMs: 253_402_300_799_999 }
  }
  it.each(releaseStates.flatMap((state) => Object.values(samples).map((command) => [state, command] as const)))(
    "that is %s takes %o only as the table allows",
    (state, command) => {
      const spring = releaseIn(state)
      const before = spring.state()
      const decided = spring.tries(command)
      const next = releaseTransitions[state][command._tag as keyof typeof samples]
      if (Result.isFailure(decided)) {
        assert.isTrue(next === undefined || next.length === 0, "the table lists it")
        assert.deepStrictEqual(spring.state(), before)
      } else {
        assert.isDefined(next)
        if (decided.success !== undefined) assert.include(next, spring.state().state)
      }
    }
  )
})

describe("a sync conflict", () => {
  it("is reported, and not again before one sweep interval has passed", () => {
    const spring = releaseIn("open")
    assert.deepStrictEqual(spring.does(conflict()), ["release.sync_conflict"])
    assert.deepStrictEqual(spring.last("release.sync_conflict").details, {
      sourceBranch: "main",
      targetBranch: "release/spring"
    })
    spring.passes(59_998)
    assert.deepStrictEqual(spring.does(conflict()), [], "one millisecond is missing")
    assert.deepStrictEqual(spring.does(conflict()), ["release.sync_conflict"])
  })

  it("of other branches is a separate conflict", () => {
    const spring = releaseIn("open")
    spring.does(conflict())
    assert.deepStrictEqual(spring.does(conflict("hotfix")), ["release.sync_conflict"])
    assert.deepStrictEqual(spring.does(conflict()), [])
  })
})

describe("a finished release", () => {
  it("is retired long enough after its end, and then gone", () => {
    const spring = releaseIn("published")
    const endedAtMs = spring.state().endedAtMs ?? 0
    assert.match(spring.refuses({ _tag: "Retire", endedBeforeMs: endedAtMs - 1 }), /long enough/u)
    assert.deepStrictEqual(spring.facts({ _tag: "Retire", endedBeforeMs: endedAtMs }), ["Retired"])
    assert.isTrue(spring.steps.at(-1)?.record.isRetired)
  })
})

describe("the view of a release", () => {
  const view = entityProjection(releaseProjection)
  const show = (state: unknown) => Result.getOrThrow(view.show(JSON.parse(JSON.stringify(state)), releaseId))

  it("shows its project, its state and the states of its items", () => {
    const spring = releaseIn("open")
    for (const command of [add(1), add(2), add(3), end(1, "done"), end(2, "failed")]) spring.does(command)
    const shown = show(spring.state())
    assert.deepStrictEqual([shown?.project, shown?.state, shown?.deadlinesMs], ["garden", "open", {}])
    assert.deepStrictEqual(Schema.decodeUnknownSync(ReleaseSummary)(shown?.summary), shown?.summary)
    const { workItemCount, openCount, doneCount, failedCount, cancelledCount } = shown?.summary ?? {}
    assert.deepStrictEqual([workItemCount, openCount, doneCount, failedCount, cancelledCount], [3, 1, 1, 1, 0])
  })

  it("shows its final end, so that it can be retired", () => {
    assert.deepStrictEqual(show(releaseIn("failed").state())?.deadlinesMs, {})
    const published = releaseIn("published").state()
    assert.deepStrictEqual(show(published)?.deadlinesMs, { ended: published.endedAtMs ?? 0 })
    assert.isUndefined(show(null))
  })
})
