/** A runner's own folder and a repository for it, and one phase of an item performed on them. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, Layer, Logger, Semaphore } from "effect"
import type { PickupDispatch, Report, ReportKind } from "#pipeline/contract"
import type { RunnerOptions } from "../../../dev/runner/options.ts"
import { perform } from "../../../dev/runner/perform.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { dispatchOf, reportsOf, runnerOptions } from "../../support/pipeline-dispatch.ts"
import { makeRepositories, type TestRepository } from "../../support/pipeline-repository.ts"

const repositories = Effect.acquireRelease(Effect.sync(makeRepositories), ({ remove }) => Effect.sync(remove))

interface Stage {
  readonly repository: TestRepository
  readonly folder: string
  readonly options: (changes?: Partial<RunnerOptions>) => RunnerOptions
}

export const stage = Effect.gen(function* () {
  const { folder, make } = yield* repositories
  const work = join(folder, "runner")
  mkdirSync(work)
  return {
    repository: make("upstream"),
    folder,
    options: (changes) => runnerOptions(work, changes)
  } satisfies Stage as Stage
})

export const bus = Layer.unwrap(Effect.map(natsServer, (server) => busOn(server))).pipe(
  Layer.provideMerge(Logger.layer([]))
)

/** The reports of one dispatch; the last is its end. */
export const performed = Effect.fnUntraced(function* (dispatch: PickupDispatch, options: RunnerOptions) {
  yield* perform(dispatch, options, yield* Semaphore.make(1))
  return yield* reportsOf(dispatch.dispatchId)
})

export const last = <Kind extends ReportKind>(reports: ReadonlyArray<Report>, kind: Kind): Report<Kind> => {
  const end = reports.at(-1)
  assert.strictEqual(end?.kind, kind, JSON.stringify(end))
  return end as Report<Kind>
}

/** The same item in its next phase. */
export const next = (dispatch: PickupDispatch, changes: Partial<PickupDispatch>): PickupDispatch => ({
  ...dispatch,
  dispatchId: crypto.randomUUID(),
  ...changes
})

export const ordered = (repository: TestRepository, instructions: string, changes: Partial<PickupDispatch> = {}) =>
  dispatchOf(repository, { instructions, ...changes })
