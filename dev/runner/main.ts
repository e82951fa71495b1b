/**
 * `./starling runner`: takes work items through their phases on real git repositories. It shows what a runner has to
 * do, in small files: ask-for-work.ts asks, perform.ts does one phase, phases/ holds each of them, Reporter.ts says
 * what became of it. SIGTERM or Ctrl-C: what is in hand is handed back, then it ends with 0.
 */
import { Cause, Effect, Layer, Logger, References } from "effect"
import { Environment, lineLogger } from "#runtime"
import { busOf } from "../../services/fleet/commands/connect.ts"
import { serviceUser } from "../../services/fleet/nats-server/users.ts"
import { readSettings } from "../../services/fleet/settings.ts"
import { BadOptions, readOptions } from "./options.ts"
import { runRunner } from "./runner.ts"

const setting = Layer.mergeAll(
  Layer.succeed(Environment, process.env),
  Logger.layer([lineLogger("pretty", (line) => void process.stderr.write(`${line}\n`))]),
  Layer.succeed(References.MinimumLogLevel, "Info")
)

const program = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { home } = yield* readSettings
  const { options, nats } = yield* Effect.try({
    try: () => readOptions(parameters, home),
    catch: (cause) => (cause instanceof BadOptions ? cause : new BadOptions({ reason: String(cause) }))
  })
  return yield* runRunner(options).pipe(Effect.provide(busOf(nats, { keptUser: serviceUser })))
})

export const runner = (parameters: ReadonlyArray<string>): void => {
  const stop = Effect.runCallback(program(parameters).pipe(Effect.provide(setting)), {
    onExit: (exit) => {
      const isStopped = exit._tag === "Success" || Cause.hasInterruptsOnly(exit.cause)
      if (!isStopped) process.stderr.write(`starling: ${told(exit.cause)}\n`)
      process.exit(isStopped ? 0 : 1)
    }
  })
  process.once("SIGTERM", () => stop())
  process.once("SIGINT", () => stop())
}

const told = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof Error && error.message !== "" ? error.message : Cause.pretty(cause)
}
