/**
 * `./starling runner`: takes work items through their phases on real git repositories. On SIGTERM or Ctrl-C it hands
 * back the items in progress and ends with 0.
 */
import { Cause, Effect, Layer, Logger, References } from "effect"
import { Environment, lineLogger } from "#runtime"
import { busOf } from "./connection.ts"
import { writeError } from "./screen.ts"
import { runnerUser } from "#fleet/broker-users"
import { readSettings } from "#fleet"
import { type RunnerFlags, runnerOptions, runRunner } from "#dev/runner"

const setting = Layer.mergeAll(
  Layer.succeed(Environment, process.env),
  Logger.layer([lineLogger("pretty", (line) => writeError(`${line}\n`))]),
  Layer.succeed(References.MinimumLogLevel, "Info")
)

const program = Effect.fnUntraced(function* (given: RunnerFlags) {
  const { home } = yield* readSettings
  const bus = busOf(given.nats, { keptUser: runnerUser })
  return yield* runRunner(runnerOptions(given, home)).pipe(Effect.provide(bus))
})

export const runner = (given: RunnerFlags): void => {
  const stop = Effect.runCallback(program(given).pipe(Effect.provide(setting)), {
    onExit: (exit) => {
      const isStopped = exit._tag === "Success" || Cause.hasInterruptsOnly(exit.cause)
      if (!isStopped) writeError(`starling: ${messageOf(exit.cause)}\n`)
      process.exit(isStopped ? 0 : 1)
    }
  })
  process.once("SIGTERM", () => stop())
  process.once("SIGINT", () => stop())
}

const messageOf = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof Error && error.message !== "" ? error.message : Cause.pretty(cause)
}
