import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Semaphore } from "effect"
import type { PickupDispatch, Report, ReportKind } from "#contracts"
import { startForge } from "../../../dev/runner/forge/Forge.ts"
import { listPullRequests } from "../../../dev/runner/forge/client.ts"
import { exampleAgent, type RunnerOptions } from "../../../dev/runner/options.ts"
import { perform } from "../../../dev/runner/perform.ts"
import { busOn, eventually, natsServer } from "../../support/bus.ts"
import { dispatchOf, reportsOf, runnerOptions } from "../../support/pipeline-dispatch.ts"
import { runningWith } from "../../support/child-processes.ts"
import { makeRepositories, type TestRepository } from "../../support/pipeline-repository.ts"

const repositories = Effect.acquireRelease(Effect.sync(makeRepositories), ({ remove }) => Effect.sync(remove))

interface Stage {
  readonly repository: TestRepository
  readonly folder: string
  readonly options: (changes?: Partial<RunnerOptions>) => RunnerOptions
}

const stage = Effect.gen(function* () {
  const { folder, make } = yield* repositories
  const work = join(folder, "runner")
  mkdirSync(work)
  return {
    repository: make("upstream"),
    folder,
    options: (changes) => runnerOptions(work, changes)
  } satisfies Stage as Stage
})

const bus = Layer.unwrap(Effect.map(natsServer, (server) => busOn(server))).pipe(Layer.provideMerge(Logger.layer([])))

/** The reports of one dispatch; the last is its end. */
const performed = Effect.fnUntraced(function* (dispatch: PickupDispatch, options: RunnerOptions) {
  yield* perform(dispatch, options, yield* Semaphore.make(1))
  return yield* reportsOf(dispatch.dispatchId)
})

const last = <Kind extends ReportKind>(reports: ReadonlyArray<Report>, kind: Kind): Report<Kind> => {
  const end = reports.at(-1)
  assert.strictEqual(end?.kind, kind, JSON.stringify(end))
  return end as Report<Kind>
}

/** The same item in its next phase. */
const next = (dispatch: PickupDispatch, changes: Partial<PickupDispatch>): PickupDispatch => ({
  ...dispatch,
  dispatchId: crypto.randomUUID(),
  ...changes
})

const ordered = (repository: TestRepository, instructions: string, changes: Partial<PickupDispatch> = {}) =>
  dispatchOf(repository, { instructions, ...changes })

const usage = { tokensInput: 1, tokensOutput: 1, tokensCached: 0, costMicroUsd: 700, elapsedMs: 1 }
const says = `echo '${JSON.stringify({ type: "usage", ...usage })}'`
const twice = { tokensInput: 2, tokensOutput: 2, tokensCached: 0, costMicroUsd: 1_400, elapsedMs: 2 }

describe("the reference runner", () => {
  it.layer(bus, { excludeTestServices: true, timeout: "30 seconds" })((it) => {
    it.effect("takes an item from its first commit to the base branch of its upstream", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = dispatchOf(repository)
        const file = `items/${work.workItem.id}.md`
        const committed = last(yield* performed(work, options()), "iteration-ended")
        assert.strictEqual(committed.outcome, "committed")
        assert.strictEqual(repository.git("rev-parse", work.workItem.workBranch), committed.commitSha)

        const audit = next(work, { phase: "audit", auditors: ["correctness", "security"] })
        assert.deepStrictEqual(last(yield* performed(audit, options()), "audit-ended").findings, [])

        const merged = last(yield* performed(next(work, { phase: "merge" }), options()), "merge-ended")
        assert.strictEqual(merged.outcome, "merged")
        assert.isUndefined(repository.file("main", file), "it is not pushed yet")

        const upstream = next(work, { phase: "upstream", mergeSha: merged.mergeSha })
        assert.strictEqual(last(yield* performed(upstream, options()), "push-ended").outcome, "pushed")
        assert.strictEqual(repository.git("rev-parse", "main"), merged.mergeSha)
        assert.include(repository.file("main", file), "Say what it is")
      })
    )

    it.effect("lets another runner, who has nothing of the item, take every next phase", () =>
      Effect.gen(function* () {
        const { repository, folder } = yield* stage
        const onFolder = (name: string) => {
          mkdirSync(join(folder, name))
          return runnerOptions(join(folder, name))
        }
        const work = dispatchOf(repository)
        yield* performed(work, onFolder("one"))
        const audited = yield* performed(next(work, { phase: "audit", auditors: ["tests"] }), onFolder("two"))
        last(audited, "audit-ended")
        const { mergeSha } = last(yield* performed(next(work, { phase: "merge" }), onFolder("three")), "merge-ended")
        const pushed = yield* performed(next(work, { phase: "upstream", mergeSha }), onFolder("four"))
        assert.strictEqual(last(pushed, "push-ended").outcome, "pushed")
        assert.strictEqual(repository.git("rev-parse", "main"), mergeSha)
      })
    )

    it.effect("merges once more when the base has moved between merge and push", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = dispatchOf(repository)
        yield* performed(work, options())
        const { mergeSha } = last(yield* performed(next(work, { phase: "merge" }), options()), "merge-ended")
        repository.commit("main", "other.md", "quicker\n")
        const pushed = yield* performed(next(work, { phase: "upstream", mergeSha }), options())
        assert.strictEqual(last(pushed, "push-ended").outcome, "pushed")
        assert.strictEqual(repository.file("main", "other.md"), "quicker\n")
        assert.isDefined(repository.file("main", `items/${work.workItem.id}.md`))
      })
    )

    it.effect("meets a real conflict, has it resolved by the command, and merges", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = ordered(repository, "!conflict")
        const file = `items/${work.workItem.id}.md`
        yield* performed(work, options())
        yield* performed(next(work, { phase: "audit", auditors: ["tests"] }), options())
        const conflict = last(yield* performed(next(work, { phase: "merge" }), options()), "merge-ended")
        assert.strictEqual(conflict.outcome, "conflict")
        assert.include(conflict.reason, file)
        const resolved = yield* performed(next(work, { phase: "conflict-rework" }), options())
        const resolution = last(resolved, "conflict-rework-ended")
        assert.deepInclude(resolution, {
          outcome: "resolved",
          headSha: repository.git("rev-parse", work.workItem.workBranch)
        })
        const merged = last(yield* performed(next(work, { phase: "merge" }), options()), "merge-ended")
        assert.strictEqual(merged.outcome, "merged")
        yield* performed(next(work, { phase: "upstream", mergeSha: merged.mergeSha }), options())
        assert.include(repository.file("main", file), "somebody else was here")
        assert.include(repository.file("main", file), "Say what it is")
      })
    )

    it.effect.each([
      ["markers that are left", "!markers", "host verification"],
      ["files that were not in conflict", "!fence", "scope fence: beyond.md"]
    ] as const)("rejects a resolution with %s", ([, order, reason]) =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = ordered(repository, `!conflict\n${order}`)
        yield* performed(work, options())
        yield* performed(next(work, { phase: "audit", auditors: ["tests"] }), options())
        const ended = yield* performed(next(work, { phase: "conflict-rework" }), options())
        const rejected = last(ended, "conflict-rework-ended")
        assert.strictEqual(rejected.outcome, "rejected")
        assert.include(rejected.reason, reason)
      })
    )

    it.effect("reports what auditors find, and an auditor that fails as a finding", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = ordered(repository, "!block 1\n!remark")
        yield* performed(work, options())
        const auditors = ["correctness", "tests"]
        const first = yield* performed(next(work, { phase: "audit", auditors }), options())
        const found = last(first, "audit-ended").findings.map(({ auditor, severity }) => `${auditor} ${severity}`)
        assert.deepStrictEqual(found, ["correctness Error", "correctness Info"])
        const second = yield* performed(next(work, { phase: "audit", auditors }), options())
        assert.deepStrictEqual(
          last(second, "audit-ended").findings.map(({ severity }) => severity),
          ["Info"]
        )
        const broken = next(work, { phase: "audit", auditors: ["tests"] })
        const third = yield* performed(broken, options({ audit: "echo 'two tests fail' >&2; exit 3" }))
        assert.strictEqual(last(third, "audit-ended").findings[0]?.description, "two tests fail")
      })
    )

    it.effect("leaves an auditor out that takes too long, and says so", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = ordered(repository, "!mute")
        yield* performed(work, options())
        const audit = next(work, { phase: "audit", auditors: ["slow", "quick"], auditorTimeoutMs: 300 })
        const reports = yield* performed(audit, options())
        assert.deepStrictEqual(
          reports.map(({ kind }) => kind),
          ["auditor-timed-out", "audit-ended"]
        )
        assert.strictEqual((reports[0] as Report<"auditor-timed-out">).auditor, "slow")
      })
    )

    it.effect("kills an agent that says nothing, with all that it started", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const marker = `sleep 86${Math.floor(Math.random() * 1e6)}`
        const work = dispatchOf(repository, { stuckAfterMs: 400 })
        const reports = yield* performed(work, options({ work: `sh -c '${marker} & ${marker}'` }))
        assert.isAtLeast(last(reports, "agent-stuck").stuckSeconds, 1)
        yield* eventually(Effect.sync(() => runningWith(marker).length === 0))
      })
    )

    it.effect("asks, and gives the agent the answer as it was written", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = ordered(repository, "!ask Which colour?")
        const asked = last(yield* performed(work, options()), "questions-asked")
        assert.deepStrictEqual(asked.questions, [{ questionId: "q-1", questionText: "Which colour?" }])
        const replies = [{ questionId: "q-1", outcome: "answered", text: "blue, of course" }] as const
        const again = yield* performed(next(work, { replies }), options())
        assert.strictEqual(last(again, "iteration-ended").outcome, "committed")
        const file = repository.file(work.workItem.workBranch, `items/${work.workItem.id}.md`)
        assert.include(file, "blue, of course")
      })
    )

    it.effect("reports suggestions before the end, and what was spent with it", () =>
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

    it.effect("says what was spent however a phase ends: too long, broken in the middle, or told to stop", () =>
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
        yield* eventually(Effect.sync(() => existsSync(said)))
        yield* Fiber.interrupt(running)
        assert.deepInclude(last(yield* reportsOf(stopped.dispatchId), "preempted"), { usage })
      })
    )

    it.effect("says what the resolution of a conflict cost", () =>
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

    it.effect("says that a failure may pass when the upstream cannot be reached", () =>
      Effect.gen(function* () {
        const { repository, folder, options } = yield* stage
        const work = dispatchOf(repository)
        const workItem = { ...work.workItem, repositoryUrl: `file://${folder}/nowhere.git` }
        const end = last(yield* performed({ ...work, workItem }, options()), "transient-failed")
        assert.include(end.reason, "git clone")
      })
    )

    it.effect("puts work off where the disk is nearly full", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const reports = yield* performed(dispatchOf(repository, { minFreeBytes: Number.MAX_SAFE_INTEGER }), options())
        assert.strictEqual(last(reports, "disk-deferred").thresholdBytes, Number.MAX_SAFE_INTEGER)
      })
    )

    it.effect("gives signs of life, and hands the item back when it is told to stop", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = dispatchOf(repository, { progressEveryMs: 20 })
        const running = yield* Effect.forkChild(performed(work, options({ work: "sleep 30" })))
        const own = reportsOf(work.dispatchId)
        yield* eventually(Effect.map(own, (reports) => reports.length >= 2))
        yield* Fiber.interrupt(running)
        const reports = yield* own
        assert.deepStrictEqual(new Set(reports.slice(0, -1).map(({ kind }) => kind)), new Set(["progress"]))
        last(reports, "preempted")
      })
    )

    it.effect("opens a pull request, which the forge merges where the item's settings let it", () =>
      Effect.gen(function* () {
        const { repository, folder, options } = yield* stage
        const forge = yield* startForge({ folder })
        const work = dispatchOf(repository)
        yield* performed(work, options())
        const upstream = next(work, { phase: "upstream" })
        const opened = yield* performed(upstream, options({ forge: forge.url }))
        assert.deepStrictEqual(
          opened.map(({ kind }) => kind),
          ["pull-request-opened", "push-ended"]
        )
        assert.isNull((opened[0] as Report<"pull-request-opened">).mergedSha)
        assert.isUndefined(repository.file("main", `items/${work.workItem.id}.md`))

        const settings = { ...work.settings, autoMerge: true }
        const again = yield* performed(next(upstream, { settings }), options({ forge: forge.url }))
        const merged = again[0] as Report<"pull-request-opened">
        assert.strictEqual(merged.pullRequestNumber, (opened[0] as Report<"pull-request-opened">).pullRequestNumber)
        assert.strictEqual(merged.mergedSha, repository.git("rev-parse", "main"))
      })
    )

    it.effect("leaves a pull request open that the forge cannot merge", () =>
      Effect.gen(function* () {
        const { repository, folder, options } = yield* stage
        const forge = yield* startForge({ folder })
        const work = dispatchOf(repository)
        yield* performed(work, options())
        repository.commit("main", `items/${work.workItem.id}.md`, "quicker\n")
        const settings = { ...work.settings, autoMerge: true }
        const reports = yield* performed(next(work, { phase: "upstream", settings }), options({ forge: forge.url }))
        assert.isNull((reports[0] as Report<"pull-request-opened">).mergedSha)
        const [request] = yield* listPullRequests(forge.url, repository.url)
        assert.deepInclude(request, { state: "open", mergeable: false, base: "main" })
      })
    )
  })
})
