/**
 * A child process of the embedded kind. It has its own process group, so that Ctrl-C reaches us first and the child
 * stops last. It ends by SIGTERM, or by SIGKILL when it does not react, and a guard ensures that it never outlives us.
 * `node:child_process` and not `effect/process`: nothing streams, and a pid is all we need.
 */
import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { Deferred, Effect, Option } from "effect"

export interface Child {
  readonly pid: number
  /** Completes with the reason when the process has ended, or could not be started. */
  readonly ended: Effect.Effect<string>
  /** Returns when the process has ended; harmless when it already has. */
  readonly stop: Effect.Effect<void>
}

// The server flushes its store on SIGTERM, which takes milliseconds; a hanging server is killed.
const stopPatience = "5 seconds"

interface ChildOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Called with each line of the child's standard output; its standard error is then shared with ours. */
  readonly onLine?: (line: string) => void
}

export const startChild = (
  program: string,
  parameters: ReadonlyArray<string>,
  { environment, onLine }: ChildOptions = {}
): Effect.Effect<Child> =>
  Effect.sync(() => {
    const child = spawn(program, [...parameters], {
      detached: true,
      stdio: onLine === undefined ? "ignore" : ["ignore", "pipe", "inherit"],
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
 * at a pipe whose other end only this process holds, and the kernel closes that end whatever happens. The shell sends
 * only SIGTERM; a server that does not react is found by its pid file at the next start.
 */
const guard = (pid: number): (() => void) => {
  // A session of its own, so that Ctrl-C and a closed terminal reach us and not the guardian.
  const shell = spawn("/bin/sh", ["-c", script, "guardian", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  })
  shell.on("error", ignore)
  shell.stdin.on("error", ignore)
  shell.unref()
  return () => void shell.kill("SIGKILL")
}

// Without a shell there is no guardian, and the pid file alone remains.
const ignore = () => {}

// More neighbours than a person starts by hand; beyond them something else is wrong.
const triesMax = 100

/**
 * A loopback port for a child that must be given one: `wanted` when it is free, else the next free one above; 0 takes
 * any. None when a hundred are taken.
 */
export const freePort = Effect.fnUntraced(function* (wanted: number) {
  for (let port = wanted; port < wanted + triesMax && port <= 65_535; port++) {
    const found = yield* tryPort(port)
    if (Option.isSome(found)) return found
  }
  return Option.none<number>()
})

const tryPort = (port: number) =>
  Effect.callback<Option.Option<number>>((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeedNone))
    probe.listen(port, "127.0.0.1", () => {
      const address = probe.address()
      const found = typeof address === "object" && address !== null ? address.port : port
      probe.close(() => resume(Effect.succeedSome(found)))
    })
  })

/** When a dead child is started again: at once after a while of life, ever later while it keeps dying. */
export interface Deaths {
  /** Deaths in a row, each soon after the start before it. */
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
