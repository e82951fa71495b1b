import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Report } from "#pipeline/contract"
import { startForge } from "../../../dev/runner/forge/Forge.ts"
import { listPullRequests } from "../../../dev/runner/forge/client.ts"
import { dispatchOf, runnerOptions } from "../../support/pipeline-dispatch.ts"
import type { TestRepository } from "../../support/pipeline-repository.ts"
import { bus, last, next, ordered, performed, stage } from "./runner-stage.ts"

/** The commits of the merges that upstream keeps until they are pushed to the base. */
const keptMerges = ({ git }: TestRepository) => git("for-each-ref", "--format=%(objectname)", "refs/starling")

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

    it.effect("lets another runner, without any state of the item, take every next phase", () =>
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
        assert.strictEqual(keptMerges(repository), "")
      })
    )

    it.effect("merges once more when the base has moved between merge and push", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = dispatchOf(repository)
        yield* performed(work, options())
        const { mergeSha } = last(yield* performed(next(work, { phase: "merge" }), options()), "merge-ended")
        assert.strictEqual(keptMerges(repository), mergeSha)
        repository.commit("main", "other.md", "quicker\n")
        const pushed = yield* performed(next(work, { phase: "upstream", mergeSha }), options())
        assert.strictEqual(last(pushed, "push-ended").outcome, "pushed")
        assert.strictEqual(repository.file("main", "other.md"), "quicker\n")
        assert.isDefined(repository.file("main", `items/${work.workItem.id}.md`))
        assert.strictEqual(keptMerges(repository), "")
      })
    )

    it.effect("reports the upstream's reason for a refused push, and does not blame an unmoved base", () =>
      Effect.gen(function* () {
        const { repository, options } = yield* stage
        const work = dispatchOf(repository)
        yield* performed(work, options())
        const { mergeSha } = last(yield* performed(next(work, { phase: "merge" }), options()), "merge-ended")
        const hook = join(repository.git("rev-parse", "--absolute-git-dir"), "hooks", "update")
        mkdirSync(dirname(hook), { recursive: true })
        writeFileSync(hook, '#!/bin/sh\necho main is protected >&2\n[ "$1" != refs/heads/main ]\n', { mode: 0o755 })
        const pushed = last(yield* performed(next(work, { phase: "upstream", mergeSha }), options()), "push-ended")
        assert.strictEqual(pushed.outcome, "failed")
        assert.match(pushed.reason ?? "", /^the upstream repository refused the push: .*main is protected/su)
      })
    )

    it.effect("hits a real conflict, has the command resolve it, and merges", () =>
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

    it.effect("reports the auditors' findings, and a failing auditor as a finding", () =>
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

    it.effect("drops an auditor that takes too long, and says so", () =>
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

    it.effect("asks a question, and gives the agent the answer verbatim", () =>
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

    it.effect("opens a pull request, which the forge merges when the item's settings allow it", () =>
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
