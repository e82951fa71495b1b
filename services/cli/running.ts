/**
 * How a command gets its body: its code is loaded when it runs, so that help, completions and other commands need not
 * wait for it.
 */
import * as Effect from "effect/Effect"
import type { Forbidden } from "#bus"
import type { CommandRefused } from "./console.ts"

/** Runs the body with the environment of this process, and with readable logs beside the output. */
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

/** Explains a missing permission in the words of the topology; other errors pass unchanged. */
const explained = <E>(error: E): Effect.Effect<never, E | CommandRefused> => {
  // Recognized by its shape: a command without a broker loads none of the broker's code.
  const isForbidden = error instanceof Error && "forbidden" in error && error.forbidden !== undefined
  if (!isForbidden) return Effect.fail(error)
  return Effect.gen(function* () {
    const load = () => Promise.all([import("./connection.ts"), import("./console.ts")])
    const [{ forbiddenText }, { CommandRefused }] = yield* Effect.promise(load)
    return yield* new CommandRefused({ reason: forbiddenText(error.forbidden as Forbidden) })
  })
}

export const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** For a program that runs until it is stopped: it handles signals and the end of the process itself. */
export const becoming = <Body>(load: () => Promise<Body>, run: (body: Body) => void): Effect.Effect<never> =>
  Effect.gen(function* () {
    const body = yield* Effect.promise(load)
    for (const signal of signals) process.removeAllListeners(signal)
    run(body)
    return yield* Effect.never
  })
