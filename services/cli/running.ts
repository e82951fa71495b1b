/**
 * How a command comes to its body: its code is loaded when it runs, so that help, completions and other commands wait
 * for none of it.
 */
import * as Effect from "effect/Effect"
import type { Forbidden } from "#bus"
import type { CommandRefused } from "./console.ts"

/** Runs it with the environment of this process, and with logs for people beside the output. */
export const running = <Body, E>(
  load: () => Promise<Body>,
  run: (body: Body) => Effect.Effect<void, E>
): Effect.Effect<void, E | CommandRefused> =>
  Effect.gen(function* () {
    const [body, { setting }] = yield* Effect.promise(() => Promise.all([load(), import("./console.ts")]))
    yield* run(body).pipe(
      Effect.catch((error) => explained(error)),
      Effect.provide(setting)
    )
  })

/** What the broker forbids is told in the words of the topology; all else is as it came. */
const explained = <E>(error: E): Effect.Effect<never, E | CommandRefused> => {
  // Known by its shape: a command without a broker loads none of its code.
  const isForbidden = error instanceof Error && "forbidden" in error && error.forbidden !== undefined
  if (!isForbidden) return Effect.fail(error)
  return Effect.gen(function* () {
    const load = () => Promise.all([import("./forbidden.ts"), import("./console.ts")])
    const [{ forbiddenText }, { CommandRefused }] = yield* Effect.promise(load)
    return yield* new CommandRefused({ reason: forbiddenText(error.forbidden as Forbidden) })
  })
}

export const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** For a program that runs until it is told to stop: signals and the end of the process are its own from here on. */
export const becoming = <Body>(load: () => Promise<Body>, run: (body: Body) => void): Effect.Effect<never> =>
  Effect.gen(function* () {
    const body = yield* Effect.promise(load)
    for (const signal of signals) process.removeAllListeners(signal)
    run(body)
    return yield* Effect.never
  })
