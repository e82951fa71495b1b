/**
 * The engine of an operator's program: as many processes as configured, each managed by a thread. They are warm before
 * the engine is available. One that dies is restarted, at once the first time and then with growing delays; while none
 * can be started the engine reports that it cannot speak, and keeps trying.
 */
import { existsSync } from "node:fs"
import { Clock, Deferred, Effect, Exit, Scope, Stream, SubscriptionRef } from "effect"
import type { EngineState, ProcessEngine, VoiceProcess } from "#speech/contract"
import { afterDeath, Environment, noDeaths } from "#runtime"
import { EngineMissing, type SpeechEngine } from "../Engine.ts"
import { type EnginePoolOptions, openEnginePool } from "../EnginePool.ts"
import type { ProcessModel } from "./speaker.ts"

export const processEngine = (id: string): ProcessEngine => `process-${id}`

// The thread kills a program that continues after a cancel; this is for a thread that is still placing words.
const cancelMsMax = 10_000
// Doubles, starting from a second.
const againMsMax = 60_000

export const openProcessPool = Effect.fn("ProcessPool.open")(function* (options: VoiceProcess) {
  const name = processEngine(options.Id)
  const state = yield* SubscriptionRef.make<EngineState>({ state: "opening" })
  const opened = yield* Deferred.make<SpeechEngine>()
  const { open } = yield* opening(options, state)
  const first = yield* Effect.exit(open)
  if (Exit.isSuccess(first)) yield* Deferred.succeed(opened, first.value)
  else yield* Effect.forkScoped(Effect.flatMap(againUntilOpen(open), (pool) => Deferred.succeed(opened, pool)))
  // No job waits for a program that may never start.
  const synthesize: SpeechEngine["synthesize"] = (job) =>
    Stream.unwrap(
      Effect.gen(function* () {
        if (yield* Deferred.isDone(opened)) return (yield* Deferred.await(opened)).synthesize(job)
        const { detail = "it is being started" } = yield* SubscriptionRef.get(state)
        return Stream.fail(new EngineMissing({ engine: name, packages: programOf(options), detail }))
      })
    )
  return { name, state, threads: options.AtOnce, synthesize } satisfies SpeechEngine
})

const programOf = ({ Command }: Pick<VoiceProcess, "Command">) => `a program that speaks (${Command})`

/** One attempt to start all of them, which leaves nothing behind if it fails. */
const opening = Effect.fnUntraced(function* (
  options: VoiceProcess,
  state: SubscriptionRef.SubscriptionRef<EngineState>
) {
  const engine = processEngine(options.Id)
  const around = yield* Effect.scope
  const environment = yield* Environment
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const report = (failed: { readonly message: string }) =>
    Effect.andThen(
      Effect.logError(failed.message),
      SubscriptionRef.set(state, { state: "failed", detail: failed.message.slice(0, 600) })
    )
  const pool: EnginePoolOptions = {
    engine,
    speaks: "program",
    packages: programOf(options),
    model: modelOf(options, environment),
    threads: options.AtOnce,
    jobMsMax: options.JobSecondsMax * 1_000,
    cancelMsMax,
    onLog: (line) => void run(Effect.annotateLogs(Effect.logInfo(line), { engine })),
    restart: yield* restarting(state, report)
  }
  const once = Effect.gen(function* () {
    if (!existsSync(options.Folder)) {
      const detail = `there is no folder ${options.Folder}`
      return yield* new EngineMissing({ engine, packages: "its working folder", detail })
    }
    const scope = yield* Scope.fork(around)
    const opened = yield* openEnginePool(pool).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    yield* SubscriptionRef.set(state, { state: "ready" })
    return opened
  })
  return { open: Effect.tapError(once, report) }
})

const againUntilOpen = <A, E, R>(open: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    for (let waitMs = 1_000; ; waitMs = Math.min(2 * waitMs, againMsMax)) {
      yield* Effect.sleep(waitMs)
      const exit = yield* Effect.exit(open)
      if (Exit.isSuccess(exit)) return exit.value
    }
  })

/** Restarts what died, until it starts: each quick death in a row makes the wait longer. */
const restarting = Effect.fnUntraced(function* (
  state: SubscriptionRef.SubscriptionRef<EngineState>,
  report: (failed: { readonly message: string }) => Effect.Effect<void>
) {
  const clock = yield* Clock.Clock
  let deaths = noDeaths
  let startedAtMs = clock.currentTimeMillisUnsafe()
  const restart: EnginePoolOptions["restart"] = (start) =>
    Effect.gen(function* () {
      deaths = afterDeath(deaths, clock.currentTimeMillisUnsafe() - startedAtMs)
      if (deaths.delayMs >= reportedFromMs) {
        yield* report({
          message: `it has ended ${deaths.quick} times in a row; it is started again in ${deaths.delayMs} ms`
        })
      }
      yield* Effect.sleep(deaths.delayMs)
      startedAtMs = clock.currentTimeMillisUnsafe()
      const started = yield* Effect.tapError(start, report)
      yield* SubscriptionRef.set(state, { state: "ready" })
      return started
    }).pipe(Effect.retry({ times: restartsMax }))
  return restart
})

// A wait of this length means that the program is at fault, and not one text.
const reportedFromMs = 1_000
// At ten seconds each after the first few, longer than any operator leaves it broken: the next job starts over.
const restartsMax = 10_000

const modelOf = (options: VoiceProcess, environment: Readonly<Record<string, string | undefined>>): ProcessModel => ({
  command: options.Command,
  arguments: options.Arguments,
  folder: options.Folder,
  environment: Object.fromEntries(
    options.Environment.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    })
  ),
  memoryMegabytesMax: options.MemoryMegabytesMax,
  startMsMax: options.StartSecondsMax * 1_000,
  audioSecondsMax: options.AudioSecondsMax,
  textCharactersMax: options.TextCharactersMax,
  speakers: [...new Set(options.Voices.map(({ Speaker }) => Speaker))]
})
