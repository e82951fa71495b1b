import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Report } from "#pipeline/contract"
import { exampleAgent } from "../../../dev/runner/options.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { dispatchOf, reportsOf } from "../../support/pipeline-dispatch.ts"
import { runningWith } from "../../support/child-processes.ts"
import { bus, last, next, ordered, performed, stage } from "./runner-stage.ts"

const usage = { tokensInput: 1, tokensOutput: 1, tokensCached: 0, costMicroUsd: 700, elapsedMs: 1 }
const says = `echo '${JSON.stringify({ type: "usage", ...usage })}'`
const twice = { tokensInput: 2, tokensOutput: 2, tokensCached: 0, costMicroUsd: 1_400, elapsedMs: 2 }
describe("the reference runner", () => {
  it.layer(bus, { excludeTestServices: true, timeout: "30 seconds" })((it) => {
    it.effect("kills a silent agent, with all its child processes", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const marker = `sleep 86${Math.floor(Math.random() * 1e6)}`
        const work = dispatchOf(repository, { stuckAfterMs: 400 })
        const reports = yield* performed(work, options({ work: `sh -c '${marker} & ${marker}'` }))
        assert.isAtLeast(last(reports, "agent-stuck").stuckSeconds, 1)
        yield* eventually(() => runningWith(marker).length, { is: 0 })
      })
    )

    it.effect("reports suggestions before the end, and the cost with it", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const reports = yield* performed(ordered(repository, "!suggest 10\n!spend 1200\n!spend 300"), options())
        assert.deepStrictEqual(
          reports.map(({ kind }) => kind),
          ["suggestions-made", "suggestions-made", "iteration-ended"]
        )
        assert.strictEqual(last(reports, "iteration-ended").usage?.costMicroUsd, 1_500)
      })
    )

    it.effect("reports the cost of a phase that ends by timeout, by a crash, or by a stop", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const slow = dispatchOf(repository, { phaseTimeoutMs: 5_000 })
        const overdue = yield* performed(slow, options({ work: `${says}; exec sleep 60` }))
        assert.deepInclude(last(overdue, "failed"), { failureKind: "infra", usage })

        const broken = yield* performed(dispatchOf(repository), options({ work: `${says}; ${says}; rm -rf .git` }))
        assert.deepInclude(last(broken, "failed"), { failureKind: "infra", usage: twice })

        const stopped = dispatchOf(repository, { progressEveryMs: 50 })
        const running = yield* Effect.forkChild(
          performed(stopped, options({ work: `${says}; sleep 0.2; touch "$STARLING_NOTES/said"; sleep 60` }))
        )
        const said = join(options().folder, "notes", stopped.workItem.id, "said")
        yield* eventually(() => existsSync(said))
        yield* Fiber.interrupt(running)
        assert.deepInclude(last(yield* reportsOf(stopped.dispatchId), "preempted"), { usage })
      })
    )

    it.effect("reports the cost of a conflict's resolution", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = ordered(repository, "!conflict")
        yield* performed(work, options())
        yield* performed(next(work, { phase: "audit", auditors: ["tests"] }), options())
        yield* performed(next(work, { phase: "merge" }), options())
        const resolved = yield* performed(
          next(work, { phase: "conflict-rework" }),
          options({ resolve: `${says}; ${exampleAgent}` })
        )
        assert.deepInclude(last(resolved, "conflict-rework-ended"), { outcome: "resolved", usage })
      })
    )

    it.effect.each([
      ["!no-action", "iteration-ended", { outcome: "no-action", commitSha: null }],
      ["!unchanged", "iteration-ended", { outcome: "unchanged", commitSha: null }],
      ["!transient", "transient-failed", { reason: "connection reset" }],
      ["!auth", "auth-failed", { reason: "login required", category: "Persistent" }],
      ["!fail", "failed", { reason: "failed as ordered", failureKind: "agent" }],
      ["!quota -", "quota-hit", { toAgent: null }],
      ["!quota other 5", "quota-hit", { toAgent: "other" }]
    ] as const)("ends work that is ordered %s accordingly", ([order, kind, fields]) =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const end = last(yield* performed(ordered(repository, order), options()), kind)
        assert.deepInclude(end as Report, fields as object)
      })
    )

    it.effect("ends a check with its verdict", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const check = ordered(repository, "!match", { kind: "check" })
        assert.isTrue(last(yield* performed(check, options()), "check-verdict").isMatched)
      })
    )

    it.effect("reports a transient failure when the upstream cannot be reached", () =>
      Effect.gen(function* () {
        const { repository, folder, options } = yield* stage
        const work = dispatchOf(repository)
        const workItem = { ...work.workItem, repositoryUrl: `file://${folder}/nowhere.git` }
        const end = last(yield* performed({ ...work, workItem }, options()), "transient-failed")
        assert.include(end.reason, "git clone")
      })
    )

    it.effect("defers work when the disk is nearly full", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const reports = yield* performed(dispatchOf(repository, { minFreeBytes: Number.MAX_SAFE_INTEGER }), options())
        assert.strictEqual(last(reports, "disk-deferred").thresholdBytes, Number.MAX_SAFE_INTEGER)
      })
    )

    it.effect("sends signs of life, and hands the item back when it is told to stop", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = dispatchOf(repository, { progressEveryMs: 20 })
        const running = yield* Effect.forkChild(performed(work, options({ work: "sleep 30" })))
        const own = reportsOf(work.dispatchId)
        yield* eventually(own, { is: (reports) => reports.length >= 2 })
        yield* Fiber.interrupt(running)
        const reports = yield* own
        assert.deepStrictEqual(new Set(reports.slice(0, -1).map(({ kind }) => kind)), new Set(["progress"]))
        last(reports, "preempted")
      })
    )
  })
})
