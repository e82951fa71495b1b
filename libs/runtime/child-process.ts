/**
 * A child process of the embedded kind: its own process group, so that Ctrl-C reaches us first and it is
 * stopped last; asked to end with SIGTERM, ended with SIGKILL when it does not listen, and guarded so that it
 * never outlives us. `node:child_process` and not `effect/process`: nothing streams, and a pid is all we need.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Deferred, Effect } from "effect"
import { guard } from "./guardian.ts"

export interface Child {
  readonly pid: number
  /** Completes when the process has ended, or could not be started, with how. */
  readonly ended: Effect.Effect<string>
  /** Returns when it has ended; harmless when it has already. */
  readonly stop: Effect.Effect<void>
}

// The server flushes its store on SIGTERM, which takes milliseconds; a hanging one is not waited for.
const stopPatience = "5 seconds"

export interface ChildOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Each line the child writes to its standard output; its standard error is then shared with ours. */
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
