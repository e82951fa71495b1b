/**
 * Runs a program until it is asked to stop: builds its layers, waits for a signal, drains, closes the layers in
 * reverse, and exits with 0, even if the signal comes during startup. An invalid configuration exits with 78, any other
 * failed start with 1.
 */
import { Cause, Effect, Exit, Fiber, Layer, Logger, References, Result, Scope } from "effect"
import { InvalidConfiguration } from "./InvalidConfiguration.ts"
import { Drain } from "./Drain.ts"
import {
  Environment,
  exitProcess,
  hasTerminal,
  hostEnvironment,
  stopSignal,
  tuneCollector,
  wantsColours,
  watchForBugs,
  writeStderr
} from "./host.ts"
import { Health } from "./Health.ts"
import { chosenFormat, lineLogger, type LogFormat, logFormatVariable } from "./logger.ts"

export interface ProgramOptions<A, E> {
  /** The entire program. It must provide `Drain` and `Health`. */
  readonly layer: Layer.Layer<A | Drain | Health, E>
  /** The format unless the variable sets another; by default text on a terminal, JSON elsewhere. */
  readonly format?: LogFormat
  /** Called once the layer is built, with its services. */
  readonly onReady?: Effect.Effect<void, never, A | Drain | Health>
}

/** The exit code of an invalid configuration, per sysexits.h. */
const configurationExitCode = 78

// How long closing can take after the drain's 30 s; a deployment kills after 45.
const closeMsMax = 10_000

const formatAsked = () => hostEnvironment()[logFormatVariable]
const formatHere = (own?: LogFormat) =>
  chosenFormat({ asked: formatAsked(), own, hasTerminal: hasTerminal(), wantsColours: wantsColours() })

/** The format of the program's children, whose lines are interleaved with its own. */
export const logFormatOfChildren = () => (formatHere() === "json" ? "json" : "text")

/** Never returns. The last line of a `main.ts`. */
export const runProgram = <A, E>(options: ProgramOptions<A, E>): void => {
  tuneCollector()
  const format = formatHere(options.format)
  const logging = Layer.mergeAll(
    Logger.layer([lineLogger(format ?? "json", writeStderr)]),
    Layer.succeed(Environment, hostEnvironment())
  )
  const program = Effect.gen(function* () {
    if (format === undefined) {
      yield* Effect.logFatal(`${logFormatVariable} must be json or text, not ${formatAsked()}`)
      return configurationExitCode
    }
    const scope = yield* Scope.make()
    const stopping = yield* Effect.forkChild(stopSignal)
    // Startup may wait for a broker indefinitely, and a part of it may be uninterruptible.
    const building = yield* Effect.forkDetach(Layer.buildWithScope(options.layer, scope))
    const built = yield* Effect.raceFirst(Fiber.await(building), Effect.as(Fiber.await(stopping), undefined))
    if (built === undefined) {
      yield* Effect.logInfo("stopped while starting")
      const closing = yield* Effect.forkDetach(Effect.andThen(Fiber.interrupt(building), Scope.close(scope, Exit.void)))
      yield* Effect.timeoutOption(Fiber.await(closing), closeMsMax)
      return 0
    }
    if (Exit.isFailure(built)) {
      yield* Scope.close(scope, built)
      return yield* failedStart(built.cause)
    }
    const started = Effect.flatMap(Health, (health) => health.started)
    yield* Effect.provideContext(Effect.andThen(started, options.onReady ?? Effect.void), built.value)
    const signal = yield* Fiber.join(stopping)
    yield* Effect.logInfo("stopping").pipe(Effect.annotateLogs({ signal }))
    const inTime = yield* Effect.provideContext(
      Effect.flatMap(Drain, (drain) => drain.run),
      built.value
    )
    yield* Scope.close(scope, Exit.void).pipe(Effect.timeoutOption(closeMsMax))
    return inTime ? 0 : 1
  })
  const logged = program.pipe(
    Effect.catchCause((cause) => Effect.as(Effect.logFatal("the program died", cause), 1)),
    Effect.provide(logging)
  )
  watchForBugs((error) => {
    Effect.runSync(Effect.logFatal("a defect outside of every handler", Cause.die(error)).pipe(Effect.provide(logging)))
  })
  Effect.runFork(Effect.map(logged, exitProcess))
}

const failedStart = (cause: Cause.Cause<unknown>) => {
  const error = Cause.findError(cause)
  const failure = Result.isSuccess(error) ? error.success : undefined
  if (failure instanceof InvalidConfiguration) {
    return Effect.as(Effect.logFatal(failure.message), configurationExitCode)
  }
  const logged =
    failure instanceof Error && failure.message !== ""
      ? Effect.logFatal(`cannot start: ${failure.message}`)
      : Effect.logFatal("cannot start", cause)
  return Effect.as(logged, 1)
}

export const minimumLevel = (level: "Trace" | "Debug" | "Info" | "Warn" | "Error" | "Fatal") =>
  Layer.succeed(References.MinimumLogLevel, level)
