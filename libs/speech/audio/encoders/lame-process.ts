/**
 * mp3 encoders that share a process: libmp3lame in a program of ours, byte for byte what an ffmpeg of its own would
 * write. A start costs 2 ms of a processor instead of 60, and half a megabyte instead of ten. It is a separate process,
 * because native code that crashes takes its process down: then its answers fail, and the next one starts another
 * process. If the library is missing, ffmpeg encodes.
 */
import { type ChildProcess, fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Clock, Deferred, Effect, Option, type Scope } from "effect"
import { afterDeath, noDeaths } from "#runtime"
import { EncoderFailed } from "../errors.ts"
import { pcmToBytes } from "../samples.ts"
import { type EncoderProcess, type Waiting, wake, when } from "./encoder-process.ts"
import type { FromLame, ToLame } from "./lame-program.ts"
import type { EncoderPlan } from "./plan.ts"

export interface LameProcesses {
  /** Undefined if libmp3lame cannot encode it, or not now. */
  readonly start: (plan: EncoderPlan) => Effect.Effect<EncoderProcess | undefined>
}

// A process uses every processor: another one starts only so that a crash does not lose all answers. That can wait
// until no listener awaits first audio, because a start would take a processor from it.
const encodersEach = 16
// A start takes some 100 ms, on a busy machine a second; ffmpeg would not be ready sooner.
const readyMsMax = 2_000
// A library that crashes its process this often in a row is not used any more.
const quickDeathsMax = 5
const stopMsMax = 1_000
const lookEvery = "1 second"

export interface LameOptions {
  /** 0: none at all. */
  readonly lameProcessesMax: number
  /** A process that owes an answer for this long counts as hanging, and is ended. */
  readonly lameSilenceMsMax: number
}

interface Encoder extends Waiting {
  readonly id: number
  readonly plan: EncoderPlan
  readonly program: Program
  /** Resumes the write that waits to be encoded. */
  written: (() => void) | undefined
  mp3: ReadonlyArray<Uint8Array>
  hasStarted: boolean
  /** Its answer has started, and its listener awaits first audio. */
  isAwaiting: boolean
  ending: Effect.Effect<null, EncoderFailed> | undefined
  /** Since when its process owes it an answer. */
  owedSinceMs: number | undefined
}

interface Program {
  readonly child: ChildProcess
  readonly encoders: Map<number, Encoder>
  /** Whether it can encode. */
  readonly ready: Deferred.Deferred<boolean>
  readonly exited: Deferred.Deferred<void>
  readonly startedAtMs: number
  answeredAtMs: number
  isReady: boolean
}

interface Lame {
  readonly nowMs: () => number
  programs: ReadonlyArray<Program>
  deaths: typeof noDeaths
  ids: number
  /** The library is missing, or not to be trusted. */
  isAbandoned: boolean
}

/** The processes end with the scope. */
export const makeLameProcesses = Effect.fnUntraced(function* ({
  lameProcessesMax: processesMax,
  lameSilenceMsMax
}: LameOptions): Effect.fn.Return<LameProcesses, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const nowMs = () => clock.currentTimeMillisUnsafe()
  const lame: Lame = { nowMs, programs: [], deaths: noDeaths, ids: 0, isAbandoned: processesMax === 0 }
  const most = Math.min(processesMax, availableParallelism())
  yield* Effect.addFinalizer(() => endAll(lame))
  const watching = Effect.sync(() => {
    endHanging(lame, lameSilenceMsMax)
    launchAnother(lame, most)
  })
  yield* Effect.forkScoped(Effect.forever(Effect.delay(watching, lookEvery)))
  return {
    start: Effect.fnUntraced(function* (plan) {
      if (plan.lameKbps === null || lame.isAbandoned) return undefined
      const program = idlestOf(lame) ?? launch(lame)
      const isReady = yield* Effect.timeoutOption(Deferred.await(program.ready), readyMsMax)
      if (Option.getOrElse(isReady, () => false)) return open(lame, program, plan)
      if (lame.isAbandoned)
        yield* Effect.logWarning("mp3 is encoded by ffmpeg: libmp3lame is missing, or does not last")
      return undefined
    })
  }
})

/** The one with the fewest encoders, among those that can encode. */
const idlestOf = ({ programs }: Lame) =>
  programs
    .filter(({ isReady }) => isReady || programs.every((other) => !other.isReady))
    .toSorted((left, right) => left.encoders.size - right.encoders.size)[0]

const launchAnother = (lame: Lame, most: number) => {
  const { programs } = lame
  const areFull = programs.length > 0 && programs.every(({ encoders }) => encoders.size >= encodersEach)
  if (!areFull || programs.length >= most) return
  const isAnyAwaiting = programs.some(({ encoders }) => [...encoders.values()].some(({ isAwaiting }) => isAwaiting))
  if (!isAnyAwaiting) launch(lame)
}

const launch = (lame: Lame): Program => {
  const child = fork(fileURLToPath(new URL("./lame-program.ts", import.meta.url)), [], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // It needs none of our environment, nor the flags of this process.
    env: { MALLOC_ARENA_MAX: "2", UV_THREADPOOL_SIZE: String(availableParallelism()) },
    execArgv: ["--max-semi-space-size=1"]
  })
  const program: Program = {
    child,
    encoders: new Map(),
    ready: Deferred.makeUnsafe(),
    exited: Deferred.makeUnsafe(),
    startedAtMs: lame.nowMs(),
    answeredAtMs: lame.nowMs(),
    isReady: false
  }
  lame.programs = [...lame.programs, program]
  child.on("message", (message: FromLame) => receive(lame, program, message))
  child.on("error", () => lost(lame, program, "it cannot be started"))
  child.on("exit", (code, signal) => lost(lame, program, `its process ended with ${signal ?? code}`))
  return program
}

const receive = (lame: Lame, program: Program, message: FromLame) => {
  if (message.kind === "missing") return
  program.answeredAtMs = lame.nowMs()
  if (message.kind === "ready") {
    program.isReady = true
    return Deferred.doneUnsafe(program.ready, Effect.succeed(true))
  }
  const encoder = program.encoders.get(message.id)
  if (encoder === undefined) return
  if (message.kind === "failed") return fail(encoder, message.detail)
  if (message.mp3.length > 0) encoder.mp3 = [...encoder.mp3, message.mp3]
  encoder.hasStarted = true
  // A write can have arrived before it was open, and has its own answer.
  if (message.kind === "encoded" || encoder.written === undefined) encoder.owedSinceMs = undefined
  if (message.kind === "encoded") resumeWrite(encoder)
  wake(encoder)
}

const lost = (lame: Lame, program: Program, detail: string) => {
  if (!lame.programs.includes(program)) return
  lame.programs = lame.programs.filter((other) => other !== program)
  lame.deaths = afterDeath(lame.deaths, lame.nowMs() - program.startedAtMs)
  lame.isAbandoned ||= !program.isReady || lame.deaths.quick >= quickDeathsMax
  Deferred.doneUnsafe(program.ready, Effect.succeed(false))
  Deferred.doneUnsafe(program.exited, Effect.void)
  for (const encoder of program.encoders.values()) fail(encoder, detail)
}

const fail = (encoder: Encoder, detail: string) => {
  const { plan } = encoder
  end(encoder, Effect.fail(new EncoderFailed({ encoder: plan.key, exitCode: null, lines: [detail] })))
}

const end = (encoder: Encoder, how: NonNullable<Encoder["ending"]>) => {
  encoder.ending ??= how
  encoder.program.encoders.delete(encoder.id)
  resumeWrite(encoder)
  wake(encoder)
}

const resumeWrite = (encoder: Encoder) => {
  const { written } = encoder
  encoder.written = undefined
  written?.()
}

const send = ({ child }: Program, message: ToLame) => {
  // A process that has just ended is reported by its exit.
  if (child.connected) child.send(message, () => {})
}

const open = (lame: Lame, program: Program, plan: EncoderPlan): EncoderProcess => {
  const id = ++lame.ids
  const encoder: Encoder = {
    id,
    plan,
    program,
    written: undefined,
    mp3: [],
    hasStarted: false,
    isAwaiting: false,
    ending: undefined,
    owedSinceMs: lame.nowMs(),
    waiting: []
  }
  program.encoders.set(id, encoder)
  send(program, { kind: "open", id, hz: plan.rateHz, kbps: plan.lameKbps ?? 0, prime: plan.primeSamples })
  // It may have ended since it reported that it was ready.
  if (!lame.programs.includes(program)) fail(encoder, "its process has ended")
  return processOf(lame, encoder)
}

const processOf = (lame: Lame, encoder: Encoder): EncoderProcess => {
  const { id, program } = encoder
  const ask = (message: ToLame, answered: () => void) => {
    encoder.written = answered
    encoder.owedSinceMs = lame.nowMs()
    send(program, message)
  }
  return {
    begin: Effect.sync(() => {
      if (encoder.ending !== undefined) return
      encoder.isAwaiting = true
      send(program, { kind: "begin", id })
    }),
    write: (pcm, { isUrgent, bufferedMs }) =>
      Effect.callback((resume) => {
        if (encoder.ending !== undefined) return resume(Effect.void)
        encoder.isAwaiting &&= isUrgent
        ask({ kind: "encode", id, isUrgent, bufferedMs, pcm: pcmToBytes(pcm) }, () => resume(Effect.void))
      }),
    end: Effect.sync(() => {
      if (encoder.ending === undefined) ask({ kind: "end", id }, () => end(encoder, Effect.succeed(null)))
    }),
    read: when<Uint8Array | null, EncoderFailed>(encoder, () => {
      const mp3 = takeMp3(encoder)
      return mp3 === undefined ? encoder.ending : Effect.succeed(mp3)
    }),
    started: when<void, EncoderFailed>(encoder, () =>
      encoder.hasStarted ? Effect.void : encoder.ending === undefined ? undefined : Effect.asVoid(encoder.ending)
    ),
    hasStarted: () => encoder.hasStarted,
    hasEnded: () => encoder.ending !== undefined,
    kill: () => {
      if (encoder.ending === undefined) send(program, { kind: "close", id })
      end(encoder, Effect.succeed(null))
    },
    closed: Effect.void
  }
}

const takeMp3 = (encoder: Encoder): Uint8Array | undefined => {
  const { mp3 } = encoder
  encoder.mp3 = []
  if (mp3.length <= 1) return mp3[0]
  return new Uint8Array(Buffer.concat(mp3))
}

/** Its end is reported like any other. */
const endHanging = ({ programs, nowMs }: Lame, silenceMsMax: number) => {
  for (const { child, encoders, answeredAtMs } of programs) {
    const owedSinceMs = Math.min(
      ...[...encoders.values()].map(({ owedSinceMs = Number.POSITIVE_INFINITY }) => owedSinceMs)
    )
    if (nowMs() - Math.max(owedSinceMs, answeredAtMs) > silenceMsMax) child.kill("SIGKILL")
  }
}

const endAll = (lame: Lame) =>
  Effect.forEach(
    lame.programs,
    ({ child, exited }) =>
      Effect.sync(() => void child.kill("SIGKILL")).pipe(
        Effect.andThen(Deferred.await(exited)),
        Effect.timeoutOption(stopMsMax)
      ),
    { concurrency: "unbounded", discard: true }
  )
