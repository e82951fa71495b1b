/**
 * One process of the runner's: git, or an agent. Its lines are passed on as they come and its output is kept up to a
 * bound. It is a process group of its own, which ends with the fiber that runs it: asked first, then killed.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Effect } from "effect"

export interface ProcessOptions {
  readonly program: string
  readonly parameters: ReadonlyArray<string>
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly onLine?: (line: string) => void
}

export interface ProcessEnd {
  /** Null when it was killed, or could not be started. */
  readonly code: number | null
  readonly output: string
  /** The end of its standard error. */
  readonly complaint: string
}

const outputCharactersMax = 4 * 1_024 * 1_024
const complaintCharactersMax = 1_500
const killAfterMs = 2_000

export const runProcess = (options: ProcessOptions) =>
  Effect.callback<ProcessEnd>((resume) => {
    const child = spawn(options.program, [...options.parameters], {
      cwd: options.folder,
      env: { ...options.environment },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [output, complaint] = ["", ""]
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (output.length < outputCharactersMax) output += `${line}\n`
      options.onLine?.(line)
    })
    child.stderr.on("data", (data: Buffer) => {
      complaint = (complaint + data.toString("utf8")).slice(-complaintCharactersMax)
    })
    const end = (code: number | null) => resume(Effect.succeed({ code, output, complaint: complaint.trim() }))
    child.once("error", (error) => {
      complaint = error.message
      end(null)
    })
    child.once("close", (code) => end(code))
    return Effect.callback<void>((done) => {
      const { pid } = child
      if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return done(Effect.void)
      const killing = setTimeout(() => signalGroup(pid, "SIGKILL"), killAfterMs)
      child.once("exit", () => {
        clearTimeout(killing)
        // Processes that it left running are ended with it.
        signalGroup(pid, "SIGKILL")
        done(Effect.void)
      })
      signalGroup(pid, "SIGTERM")
    })
  })

const signalGroup = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended.
  }
}

/** The environment for a foreign process: no broker, no token. */
export const plainEnvironment = () => {
  const { PATH, HOME, LANG, TMPDIR, SSH_AUTH_SOCK } = process.env
  return { PATH, HOME, LANG, TMPDIR, SSH_AUTH_SOCK }
}
