/**
 * The runner: a number of slots for each agent kind, each asking for a phase, doing it, and asking again. It stops by
 * interruption: items in hand are handed back, and running agents are ended. It never ends by itself.
 */
import { mkdir } from "node:fs/promises"
import { Effect, Semaphore } from "effect"
import { askForWork } from "./ask-for-work.ts"
import { clearWorkspaces } from "./git/workspace.ts"
import type { RunnerOptions } from "./options.ts"
import { perform } from "./perform.ts"
import { watchForge } from "./watch-forge.ts"

interface Shared {
  readonly options: RunnerOptions
  readonly repositories: Set<string>
  readonly pushes: Semaphore.Semaphore
}

// Further ones are worked on, but not watched at the forge.
const repositoriesMax = 1_000

export const runRunner = Effect.fn("runRunner")(function* (options: RunnerOptions) {
  yield* Effect.promise(() => mkdir(options.folder, { recursive: true }))
  yield* clearWorkspaces(options.folder)
  const repositories = new Set<string>()
  const pushes = yield* Semaphore.make(1)
  const slots = options.agents.flatMap((agent) =>
    Array.from({ length: options.atOnce }, () => slot(agent, { options, repositories, pushes }))
  )
  const watch =
    options.forge === undefined || options.watchForgeMs === 0
      ? []
      : [watchForge({ url: options.forge, everyMs: options.watchForgeMs, repositories })]
  yield* Effect.logInfo("the runner takes work", { runner: options.name, agents: options.agents.join(", ") })
  return yield* Effect.all([...slots, ...watch], { concurrency: "unbounded", discard: true }).pipe(
    Effect.andThen(Effect.never)
  )
})

const slot = (agent: string, { options, repositories, pushes }: Shared) =>
  askForWork(agent, options).pipe(
    Effect.tap((dispatch) =>
      Effect.sync(() => {
        if (repositories.size < repositoriesMax) repositories.add(dispatch.workItem.repositoryUrl)
      })
    ),
    Effect.flatMap((dispatch) => perform(dispatch, options, pushes)),
    // A dispatch is always performed, or handed back.
    Effect.uninterruptible,
    Effect.forever
  )
