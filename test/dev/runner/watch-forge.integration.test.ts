import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option } from "effect"
import { StreamReader } from "#bus"
import { openPullRequest } from "../../../dev/runner/forge/client.ts"
import { startForge } from "../../../dev/runner/forge/Forge.ts"
import { watchForge } from "../../../dev/runner/watch-forge.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { makeRepositories } from "../../support/pipeline-repository.ts"

const bus = Layer.unwrap(Effect.map(natsServer, (server) => busOn(server))).pipe(Layer.provideMerge(Logger.layer([])))
const repositories = Effect.acquireRelease(Effect.sync(makeRepositories), ({ remove }) => Effect.sync(remove))

interface Said {
  readonly reportId: string
  readonly pullRequestNumber: number
  readonly headSha: string
  readonly mergeability: string
  readonly firstDetectedAtMs: number
}

/** The reports in REPORTS, which has no consumer here. */
const said = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds("REPORTS")
  const messages = yield* Effect.forEach(
    Array.from({ length: lastSequence }, (_, index) => index + 1),
    (sequence) => reader.next("REPORTS", sequence)
  )
  return messages
    .flatMap((message) => Option.toArray(message))
    .map(({ data }) => JSON.parse(new TextDecoder().decode(data)) as Said)
})
const untilSaid = (count: number) => eventually(said, { is: (reports) => reports.length >= count })

describe("a pull request that falls behind its base", () => {
  it.live("is reported repeatedly with the time since when, and each new head as a new one", () =>
    Effect.gen(function* () {
      const { folder, make } = yield* repositories
      const repository = make("upstream")
      const { url } = yield* startForge({ folder })
      for (const head of ["behind", "level"]) {
        repository.commit(head, `${head}.md`, "ours\n")
        const request = { title: head, head, base: "main", autoMerge: false, labels: { projectId: "gates" } }
        yield* openPullRequest(url, repository.url, request)
      }
      const looked = { url, everyMs: 20, repositories: new Set([repository.url]), againMs: 200 }
      yield* Effect.forkScoped(watchForge(looked))
      repository.commit("main", "behind.md", "somebody was quicker\n")
      yield* untilSaid(3)
      const [first, second, third] = yield* said
      for (const again of [second, third]) {
        const { reportId, ...rest } = again ?? assert.fail("it was just there")
        const { reportId: firstId, ...before } = first ?? assert.fail("it was just there")
        assert.notStrictEqual(reportId, firstId)
        assert.strictEqual(rest.firstDetectedAtMs, before.firstDetectedAtMs)
        assert.deepInclude(rest, { mergeability: "stale-base", pullRequestNumber: 1, headSha: before.headSha })
      }
      repository.commit("behind", "other.md", "more of ours\n")
      yield* eventually(said, { is: (reports) => reports.some(({ headSha }) => headSha !== first?.headSha) })
      const anew = (yield* said).find(({ headSha }) => headSha !== first?.headSha)
      assert.isAbove(anew?.firstDetectedAtMs ?? 0, first?.firstDetectedAtMs ?? Infinity)
      // The other one can be merged, which is no news.
      assert.deepStrictEqual([...new Set((yield* said).map(({ pullRequestNumber }) => pullRequestNumber))], [1])
    }).pipe(Effect.scoped, Effect.provide(bus))
  )
})
