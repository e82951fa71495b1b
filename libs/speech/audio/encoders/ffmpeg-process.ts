/**
 * One ffmpeg: bytes in, bytes out, killed when its scope ends. The only file that starts an encoder process. It uses
 * `node:child_process`, because `effect/process` reads and feeds a process through streams, and an encoder must be read
 * and fed from the first byte with no queue in between. Only the reader reports an encoder's end: a broken pipe while
 * writing is only a sign of it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { setPriority } from "node:os"
import { Effect } from "effect"
import { EncoderFailed, FfmpegMissing } from "../errors.ts"
import { pcmToBytes } from "../samples.ts"
import { type EncoderProcess, type Waiting, wake, when } from "./encoder-process.ts"
import type { EncoderPlan } from "./plan.ts"

export interface FfmpegOptions {
  readonly ffmpegPath: string
  /** 0 to 19: how far it yields to other processes. */
  readonly niceness: number
}

/** What it is started with. */
type FfmpegPlan = Pick<EncoderPlan, "key" | "arguments" | "primeSamples">

const linesMax = 8

export const startFfmpeg = (plan: FfmpegPlan, options: FfmpegOptions): Effect.Effect<EncoderProcess> =>
  Effect.sync(() => {
    const { ffmpegPath, niceness } = options
    const child = spawn(ffmpegPath, [...plan.arguments], { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    const run: Run = {
      child,
      plan,
      ffmpegPath,
      ending: undefined,
      hasClosed: false,
      hasStarted: false,
      lines: [],
      waiting: []
    }
    listen(run)
    if (plan.primeSamples > 0) child.stdin?.write(pcmToBytes(new Int16Array(plan.primeSamples)))
    if (child.pid !== undefined && niceness > 0) lowerPriority(child.pid, niceness)
    return processOf(run)
  })

interface Run extends Waiting {
  readonly child: ChildProcessWithoutNullStreams
  readonly plan: FfmpegPlan
  readonly ffmpegPath: string
  /** How the process ended, or was made to end. */
  ending: Effect.Effect<null, FfmpegMissing | EncoderFailed> | undefined
  hasClosed: boolean
  hasStarted: boolean
  /** The errors that it printed, the newest last. */
  lines: ReadonlyArray<string>
}

const processOf = (run: Run): EncoderProcess => {
  const { child } = run
  return {
    begin: Effect.void,
    write: (pcm) =>
      Effect.callback((resume) => {
        if (run.ending !== undefined || child.stdin === undefined) return resume(Effect.void)
        child.stdin.write(pcmToBytes(pcm), () => resume(Effect.void))
      }),
    end: Effect.sync(() => void child.stdin?.end()),
    read: when<Uint8Array | null, FfmpegMissing | EncoderFailed>(run, () => {
      const chunk = readChunk(run)
      return chunk === null ? run.ending : Effect.succeed(chunk)
    }),
    started: when<void, FfmpegMissing | EncoderFailed>(run, () =>
      run.hasStarted ? Effect.void : run.ending === undefined ? undefined : Effect.asVoid(run.ending)
    ),
    hasStarted: () => run.hasStarted,
    hasEnded: () => run.ending !== undefined || child.exitCode !== null || child.signalCode !== null,
    kill: () => {
      run.ending ??= Effect.succeed(null)
      child.stdout?.destroy()
      child.kill("SIGKILL")
      wake(run)
    },
    closed: when<void, never>(run, () => (run.hasClosed ? Effect.void : undefined))
  }
}

const listen = (run: Run) => {
  const { child } = run
  child.on("error", (error) => {
    run.ending ??= notRun(run, error)
    run.hasClosed = true
    wake(run)
  })
  child.on("close", (exitCode) => {
    run.ending ??= exitCode === 0 ? Effect.succeed(null) : failed(run, exitCode, run.lines)
    run.hasClosed = true
    wake(run)
  })
  // A process without pipes never started; its error follows.
  if (child.stdin === undefined) return
  // The reader reports a broken pipe.
  child.stdin.on("error", () => undefined)
  child.stdout.on("readable", () => wake(run))
  child.stderr.on("data", (text: Buffer) => {
    run.hasStarted = true
    const errors = text
      .toString()
      .split("\n")
      .filter((line) => /\[(?:error|fatal|panic)\]/u.test(line))
    run.lines = [...run.lines, ...errors].slice(-linesMax)
    wake(run)
  })
}

const notRun = (run: Run, error: Error) => {
  const code = "code" in error ? String(error.code) : ""
  const isMissing = code === "ENOENT" || code === "EACCES"
  return isMissing
    ? Effect.fail(new FfmpegMissing({ path: run.ffmpegPath, detail: code }))
    : failed(run, null, [error.message])
}

const failed = ({ plan }: Run, exitCode: number | null, lines: ReadonlyArray<string>) =>
  Effect.fail(new EncoderFailed({ encoder: plan.key, exitCode, lines }))

const readChunk = ({ child }: Run) => {
  const chunk = (child.stdout?.read() ?? null) as Buffer | null
  // Not a Buffer, whose slices share its memory.
  return chunk === null ? null : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length)
}

const lowerPriority = (pid: number, niceness: number) => {
  try {
    setPriority(pid, niceness)
  } catch {
    // The process has ended already, or renicing is not allowed: then it runs as it is.
  }
}
