/**
 * A contained program that reads a stranger's file: a process group of its own that is killed whole with the scope,
 * limits on wall time, processor time, memory and output, a limit on the files that it writes, no input, nothing of our
 * environment, and a low priority. `sh` sets the limits of the system and becomes the program. The `try` and the
 * callbacks of `node:child_process` are fenced in here.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { kill } from "node:process"
import type { Readable } from "node:stream"
import { Deferred, Effect } from "effect"
import { ProgramMissing } from "./errors.ts"

export interface ContainedLimits {
  readonly wallMsMax: number
  readonly cpuSecondsMax: number
  /** Limits address space, which is far more than the memory in use. */
  readonly memoryMegabytesMax: number
  /** At one byte more the program is ended, and the output is cut there. */
  readonly outputBytesMax: number
  /** The largest file that it may write; default 0: it can write none. */
  readonly fileKilobytesMax?: number
}

export interface ContainedRun {
  readonly output: Uint8Array
  /** The first part of its standard error. */
  readonly said: string
  /**
   * `ended` by itself, `crashed` by a signal of its own making; else the limit that ended it. Out of memory counts as
   * an end of its own.
   */
  readonly ending: "ended" | "crashed" | "output" | "wall_time" | "cpu_time"
  /** Null when a signal ended it. */
  readonly exitCode: number | null
}

const saidCharactersMax = 65_536

// A limit that a system does not know is left out: macOS has none on memory.
const script =
  'for limit in "-t $1" "-v $2" "-f $3" "-c 0"; do ulimit $limit 2>/dev/null || :; done; shift 3; exec nice -n 10 "$@"'

/** Runs the program to its end and returns its output. */
export const runContained = Effect.fn("runContained")(function* (
  program: string,
  parameters: ReadonlyArray<string>,
  limits: ContainedLimits
) {
  const started = yield* Effect.acquireRelease(
    Effect.sync(() => start(program, parameters, limits)),
    (started) => Effect.sync(() => killGroup(started))
  )
  const late = Effect.succeed<ContainedRun>({ ...nothing, ending: "wall_time" })
  return yield* Effect.timeoutOrElse(Deferred.await(started.run), {
    duration: limits.wallMsMax,
    orElse: () => late
  })
}, Effect.scoped)

/** The signals by which systems report that the processor time is spent. */
const fromLimit: ReadonlySet<string> = new Set(["SIGXCPU", "SIGKILL"])

const nothing = { output: new Uint8Array(), said: "", exitCode: null } as const

/** In the units of `ulimit`: seconds, kilobytes, blocks of 512 bytes. */
const settings = ({ cpuSecondsMax, memoryMegabytesMax, fileKilobytesMax = 0 }: ContainedLimits) => [
  `${cpuSecondsMax}`,
  `${memoryMegabytesMax * 1_024}`,
  `${fileKilobytesMax * 2}`
]

type Child = ChildProcessByStdio<null, Readable, Readable>

interface Started {
  readonly child: Child
  readonly run: Deferred.Deferred<ContainedRun, ProgramMissing>
  hasClosed: boolean
}

const start = (program: string, parameters: ReadonlyArray<string>, limits: ContainedLimits): Started => {
  const run = Deferred.makeUnsafe<ContainedRun, ProgramMissing>()
  const child: Child = spawn("/bin/sh", ["-c", script, "sh", ...settings(limits), program, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    windowsHide: true,
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin", LC_ALL: "C" }
  })
  const parts: Array<Buffer> = []
  const state: Started = { child, run, hasClosed: false }
  let bytes = 0
  let said = ""
  let isCut = false
  child.stdout.on("data", (part: Buffer) => {
    if (isCut) return
    bytes += part.length
    parts.push(part)
    if (bytes <= limits.outputBytesMax) return
    isCut = true
    killGroup(state)
  })
  child.stderr.on("data", (part: Buffer) => {
    if (said.length < saidCharactersMax) said = (said + part.toString("latin1")).slice(0, saidCharactersMax)
  })
  child.on("error", (error) => {
    Deferred.doneUnsafe(run, Effect.fail(new ProgramMissing({ path: program, detail: error.message })))
  })
  child.on("close", (exitCode, signal) => {
    state.hasClosed = true
    // The exit codes of sh, or of nice in its place, for a program that is missing or may not be run.
    if (exitCode === 127 || exitCode === 126) {
      Deferred.doneUnsafe(run, Effect.fail(new ProgramMissing({ path: program, detail: lastLine(said) })))
      return
    }
    const ending = isCut ? "output" : signal === null ? "ended" : fromLimit.has(signal) ? "cpu_time" : "crashed"
    // Not a Buffer, which may share its memory with others.
    const output = new Uint8Array(Buffer.concat(parts).subarray(0, limits.outputBytesMax))
    Deferred.doneUnsafe(run, Effect.succeed({ output, said, ending, exitCode }))
  })
  return state
}

const killGroup = ({ child, hasClosed }: Started) => {
  // After the end, the number may belong to another process.
  if (child.pid === undefined || hasClosed) return
  try {
    kill(-child.pid, "SIGKILL")
  } catch {
    // The whole group has ended.
  }
}

const lastLine = (text: string) => text.trim().split("\n").at(-1) ?? ""
