/**
 * A child process of the embedded kind. It has its own process group, so that Ctrl-C reaches this process first and the
 * child stops last. It is stopped by SIGTERM, then by SIGKILL if it does not react, and a guard ensures that it never
 * outlives this process. `node:child_process` and not `effect/process`: nothing streams, and a pid is all we need.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Deferred, Effect } from "effect"

export interface Child {
  readonly pid: number
  /** Completes with the reason once the process has ended, or could not be started. */
  readonly ended: Effect.Effect<string>
  /** Returns once the process has ended; harmless if it already has. */
  readonly stop: Effect.Effect<void>
}

// The server flushes its store on SIGTERM, which takes milliseconds. A hanging server is killed.
const stopPatience = "5 seconds"

interface ChildOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Called with each line of the child's standard output. Its standard error is then ours, or the file of `errors`. */
  readonly onLine?: (line: string) => void
  /** An open file. */
  readonly errors?: number
}

export const startChild = (
  program: string,
  parameters: ReadonlyArray<string>,
  { environment, onLine, errors }: ChildOptions = {}
): Effect.Effect<Child> =>
  Effect.sync(() => {
    const child = spawn(program, [...parameters], {
      detached: true,
      stdio: onLine === undefined ? "ignore" : ["ignore", "pipe", errors ?? "inherit"],
      ...(environment === undefined ? {} : { env: environment })
    })
    if (child.stdout !== null && onLine !== undefined) {
      createInterface({ input: child.stdout }).on("line", onLine)
    }
    const end = Deferred.makeUnsafe<string>()
    const release = child.pid === undefined ? () => {} : guard(child.pid)
    child.once("error", (error) => Deferred.doneUnsafe(end, Effect.succeed(error.message)))
    child.once("exit", (code, signal) => {
      release()
      Deferred.doneUnsafe(end, Effect.succeed(signal ?? `exit code ${code}`))
    })
    const ended = Deferred.await(end)
    const kill = (signal: NodeJS.Signals) => Effect.sync(() => child.kill(signal))
    const stop = kill("SIGTERM").pipe(
      Effect.andThen(ended),
      Effect.timeoutOrElse({ duration: stopPatience, orElse: () => Effect.andThen(kill("SIGKILL"), ended) }),
      Effect.asVoid
    )
    return { pid: child.pid ?? 0, ended, stop }
  })

const script = 'read -r nothing; kill -TERM "$1" 2>/dev/null'

/**
 * Ends the child `pid` when this process is gone, even by SIGKILL, until the returned function is called. A shell waits
 * at a pipe whose other end only this process holds, and the kernel closes that end in every case. The shell sends only
 * SIGTERM; a server that does not react is found by its pid file at the next start.
 */
const guard = (pid: number): (() => void) => {
  // A session of its own, so that Ctrl-C and a closed terminal reach this process and not the guardian.
  const shell = spawn("/bin/sh", ["-c", script, "guardian", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  })
  shell.on("error", ignore)
  shell.stdin.on("error", ignore)
  shell.unref()
  return () => void shell.kill("SIGKILL")
}

// Without a shell there is no guardian, only the pid file.
const ignore = () => {}

/** When to restart a dead child: at once if it lived for a while, with growing delays while it keeps dying. */
export interface Deaths {
  /** Deaths in a row, each soon after its start. */
  readonly quick: number
  readonly delayMs: number
}

export const noDeaths: Deaths = { quick: 0, delayMs: 0 }

// A server that lived for a minute did not die of the same cause as the one before it.
const quickMs = 60_000
const delayMsMin = 200
const delayMsMax = 10_000

export const afterDeath = (before: Deaths, livedMs: number): Deaths => {
  if (livedMs >= quickMs) return { quick: 1, delayMs: 0 }
  const quick = before.quick + 1
  return { quick, delayMs: quick === 1 ? 0 : Math.min(delayMsMin * 2 ** (quick - 2), delayMsMax) }
}
