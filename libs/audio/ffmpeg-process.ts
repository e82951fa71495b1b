/**
 * One ffmpeg: bytes in, bytes out, killed when its scope ends. The only file that starts a process. On
 * `node:child_process`, because `effect/process` needs a platform package that is not installed, and because
 * a process must be read and fed from the first byte with no queue in between. Reading is the one place
 * where an encoder's end is told: a broken pipe while writing is only a sign of it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { setPriority } from "node:os"
import { Effect } from "effect"
import { EncoderFailed, EncoderMissing } from "./errors.ts"
import { pcmToBytes } from "./pcm.ts"
import type { EncoderPlan } from "./encoder-plan.ts"

export interface FfmpegProcess {
  /** Fed to the process; waits while it has enough. Fed in vain when it has ended. */
  readonly write: (pcm: Int16Array) => Effect.Effect<void>
  readonly end: Effect.Effect<void>
  /** What it wrote since, or null when all is read and it ended well. */
  readonly read: Effect.Effect<Uint8Array | null, EncoderMissing | EncoderFailed>
  /** Waits for the first sign of life. */
  readonly started: Effect.Effect<void, EncoderMissing | EncoderFailed>
  readonly hasStarted: () => boolean
  /** Whether it ended, by itself or killed. */
  readonly hasEnded: () => boolean
  readonly kill: () => void
  readonly closed: Effect.Effect<void>
}

export interface FfmpegOptions {
  readonly ffmpegPath: string
  /** 0 to 19: how far it stands back behind other processes. */
  readonly niceness: number
}

const linesMax = 8

export const startFfmpeg = (plan: EncoderPlan, options: FfmpegOptions): Effect.Effect<FfmpegProcess> =>
  Effect.sync(() => {
    const child = spawn(options.ffmpegPath, [...plan.arguments], { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    const ffmpeg = overChild(child, plan, options)
    if (child.pid !== undefined && options.niceness > 0) stepBack(child.pid, options.niceness)
    return ffmpeg
  })

const overChild = (child: ChildProcessWithoutNullStreams, plan: EncoderPlan, options: FfmpegOptions): FfmpegProcess => {
  type Ending = Effect.Effect<null, EncoderMissing | EncoderFailed>
  let ending: Ending | undefined
  let hasClosed = false
  let hasStarted = false
  let lines: ReadonlyArray<string> = []
  // No set: one that is added to and taken from for each piece keeps what was in it until a slow collection.
  let waiting: ReadonlyArray<() => void> = []
  const leave = (check: () => void) => {
    waiting = waiting.filter((other) => other !== check)
  }
  const wake = () => {
    // One that goes on may take another with it.
    for (const check of waiting) if (waiting.includes(check)) check()
  }
  const failed = (exitCode: number | null, said: ReadonlyArray<string>) =>
    Effect.fail(new EncoderFailed({ encoder: plan.key, exitCode, lines: said }))

  child.on("error", (error) => {
    const code = "code" in error ? String(error.code) : ""
    const isMissing = code === "ENOENT" || code === "EACCES"
    ending ??= isMissing
      ? Effect.fail(new EncoderMissing({ path: options.ffmpegPath, detail: code }))
      : failed(null, [error.message])
    hasClosed = true
    wake()
  })
  child.on("close", (exitCode) => {
    ending ??= exitCode === 0 ? Effect.succeed(null) : failed(exitCode, lines)
    hasClosed = true
    wake()
  })
  // Without pipes the process never was; its error is on the way.
  if (child.stdin !== undefined) {
    // A broken pipe: the reader learns why.
    child.stdin.on("error", () => undefined)
    child.stdout.on("readable", wake)
    child.stderr.on("data", (text: Buffer) => {
      hasStarted = true
      const errors = text
        .toString()
        .split("\n")
        .filter((line) => /\[(?:error|fatal|panic)\]/u.test(line))
      lines = [...lines, ...errors].slice(-linesMax)
      wake()
    })
    if (plan.primeSamples > 0) child.stdin.write(pcmToBytes(new Int16Array(plan.primeSamples)))
  }

  /** Resumes with the first answer that `look` has. */
  const when = <A, E>(look: () => Effect.Effect<A, E> | undefined) =>
    Effect.callback<A, E>((resume) => {
      const check = () => {
        const found = look()
        if (found === undefined) return
        leave(check)
        resume(found)
      }
      waiting = [...waiting, check]
      check()
      return Effect.sync(() => leave(check))
    })
  const readChunk = () => {
    const chunk = (child.stdout?.read() ?? null) as Buffer | null
    // Not as a Buffer, whose slices are no copies.
    return chunk === null ? null : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length)
  }

  return {
    write: (pcm) =>
      Effect.callback((resume) => {
        if (ending !== undefined || child.stdin === undefined) return resume(Effect.void)
        child.stdin.write(pcmToBytes(pcm), () => resume(Effect.void))
      }),
    end: Effect.sync(() => void child.stdin?.end()),
    read: when<Uint8Array | null, EncoderMissing | EncoderFailed>(() => {
      const chunk = readChunk()
      return chunk === null ? ending : Effect.succeed(chunk)
    }),
    started: when<void, EncoderMissing | EncoderFailed>(() =>
      hasStarted ? Effect.void : ending === undefined ? undefined : Effect.asVoid(ending)
    ),
    hasStarted: () => hasStarted,
    hasEnded: () => ending !== undefined || child.exitCode !== null || child.signalCode !== null,
    kill: () => {
      ending ??= Effect.succeed(null)
      child.stdout?.destroy()
      child.kill("SIGKILL")
      wake()
    },
    closed: when<void, never>(() => (hasClosed ? Effect.void : undefined))
  }
}

const stepBack = (pid: number, niceness: number) => {
  try {
    setPriority(pid, niceness)
  } catch {
    // It has ended already, or may not: then it runs as it is.
  }
}
