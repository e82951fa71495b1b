/**
 * A contained program that reads an untrusted file: a process group of its own that is killed entirely with the scope,
 * limits on wall time, processor time, memory and output, a limit on the files that it writes, no input, nothing of our
 * environment, and a low priority. `sh` sets the system's limits and becomes the program. The `try` and the callbacks
 * of `node:child_process` are confined to this file.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { execPath, kill } from "node:process"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { Deferred, Effect, Schema } from "effect"

export interface ContainedLimits {
  readonly wallMsMax: number
  readonly cpuSecondsMax: number
  /** Limits address space, which is far larger than the memory in use. */
  readonly memoryMegabytesMax: number
  /** One byte more ends the program, and the output is cut there. */
  readonly outputBytesMax: number
  /** The largest file that it can write; default 0: none. */
  readonly fileKilobytesMax?: number
}

export interface ContainedRun {
  readonly output: Uint8Array
  /** The beginning of its standard error. */
  readonly stderr: string
  /**
   * `ended` by itself, or `crashed` by a signal that it caused; else the limit that ended it. Out of memory counts as
   * `ended`.
   */
  readonly ending: "ended" | "crashed" | "output" | "wall_time" | "cpu_time"
  /** Null when a signal ended it. */
  readonly exitCode: number | null
}

/** The program is missing, or cannot be executed. */
export class ProgramMissing extends Schema.TaggedError<ProgramMissing>()("ProgramMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail})`
  }
}

const stderrCharactersMax = 65_536

// A limit that the system does not support is left out: macOS has none on memory.
const limitingScript =
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

// A large model takes seconds to load. Address space is not limited: the runtime reserves plenty that it never uses.
const trialLimits = { wallMsMax: 60_000, cpuSecondsMax: 60, memoryMegabytesMax: 1_048_576, outputBytesMax: 65_536 }

/** Runs one of our own files, for a library that ends its entire process on a file that it cannot read. */
export const runContainedFile = (entry: URL, parameter: string) =>
  runContained(execPath, [fileURLToPath(entry), parameter], trialLimits)

/** The signals by which systems report that processor time is used up. */
const fromLimit: ReadonlySet<string> = new Set(["SIGXCPU", "SIGKILL"])

const nothing = { output: new Uint8Array(), stderr: "", exitCode: null } as const

/** In the units of `ulimit`: seconds, kilobytes, blocks of 512 bytes. */
const settings = ({ cpuSecondsMax, memoryMegabytesMax, fileKilobytesMax = 0 }: ContainedLimits) => [
  `${cpuSecondsMax}`,
  `${memoryMegabytesMax * 1_024}`,
  `${fileKilobytesMax * 2}`
]

type Contained = ChildProcessByStdio<null, Readable, Readable>

interface Started {
  readonly child: Contained
  readonly run: Deferred.Deferred<ContainedRun, ProgramMissing>
  hasClosed: boolean
}

const start = (program: string, parameters: ReadonlyArray<string>, limits: ContainedLimits): Started => {
  const run = Deferred.makeUnsafe<ContainedRun, ProgramMissing>()
  const child: Contained = spawn("/bin/sh", ["-c", limitingScript, "sh", ...settings(limits), program, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    windowsHide: true,
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin", LC_ALL: "C" }
  })
  const parts: Array<Buffer> = []
  const state: Started = { child, run, hasClosed: false }
  let bytes = 0
  let stderr = ""
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
    if (stderr.length < stderrCharactersMax) stderr = (stderr + part.toString("latin1")).slice(0, stderrCharactersMax)
  })
  child.on("error", (error) => {
    Deferred.doneUnsafe(run, Effect.fail(new ProgramMissing({ path: program, detail: error.message })))
  })
  child.on("close", (exitCode, signal) => {
    state.hasClosed = true
    // The exit codes of sh, or of nice in its place, for a program that is missing or cannot be executed.
    if (exitCode === 127 || exitCode === 126) {
      Deferred.doneUnsafe(run, Effect.fail(new ProgramMissing({ path: program, detail: lastLine(stderr) })))
      return
    }
    const ending = isCut ? "output" : signal === null ? "ended" : fromLimit.has(signal) ? "cpu_time" : "crashed"
    // Not a Buffer, which may share its memory with others.
    const output = new Uint8Array(Buffer.concat(parts).subarray(0, limits.outputBytesMax))
    Deferred.doneUnsafe(run, Effect.succeed({ output, stderr, ending, exitCode }))
  })
  return state
}

const killGroup = ({ child, hasClosed }: Started) => {
  // After the process has ended, its pid can belong to another process.
  if (child.pid === undefined || hasClosed) return
  try {
    kill(-child.pid, "SIGKILL")
  } catch {
    // The whole group has ended.
  }
}

const lastLine = (text: string) => text.trim().split("\n").at(-1) ?? ""
