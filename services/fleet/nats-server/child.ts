/**
 * A child process of the embedded kind: its own process group, so that Ctrl-C reaches us first and it is
 * stopped last; asked to end with SIGTERM, ended with SIGKILL when it does not listen.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect } from "effect"

export interface Child {
  readonly pid: number
  /** Completes when the process has ended. */
  readonly ended: Effect.Effect<string>
  readonly stop: Effect.Effect<void>
}

// The server flushes its store on SIGTERM, which takes milliseconds; a hanging one is not waited for.
const stopPatience = "5 seconds"

export const startChild = (program: string, parameters: ReadonlyArray<string>): Effect.Effect<Child> =>
  Effect.sync(() => {
    const child = spawn(program, [...parameters], { detached: true, stdio: "ignore" })
    const ended = endOf(child)
    const stop = Effect.sync(() => child.kill("SIGTERM")).pipe(
      Effect.andThen(ended),
      Effect.timeoutOrElse({
        duration: stopPatience,
        orElse: () =>
          Effect.andThen(
            Effect.sync(() => child.kill("SIGKILL")),
            ended
          )
      }),
      Effect.asVoid
    )
    return { pid: child.pid ?? 0, ended, stop }
  })

const endOf = (child: ChildProcess): Effect.Effect<string> =>
  Effect.callback((resume) => {
    if (child.exitCode !== null) return resume(Effect.succeed(`exit code ${child.exitCode}`))
    if (child.signalCode !== null) return resume(Effect.succeed(child.signalCode))
    const onExit = (code: number | null, signal: NodeJS.Signals | null) =>
      resume(Effect.succeed(signal ?? `exit code ${code}`))
    child.once("exit", onExit)
    child.once("error", (error) => resume(Effect.succeed(error.message)))
    return Effect.sync(() => void child.off("exit", onExit))
  })
