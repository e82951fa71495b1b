/**
 * A server that outlived its fleet, because the fleet was killed where it could not clean up. Two servers on
 * one store corrupt it, so the old one is stopped first. It is known by the pid file in its folder, and only
 * touched when that process still runs with that folder's configuration.
 */
import { readFile } from "node:fs/promises"
import { Effect, Schedule } from "effect"
import { runningProcess } from "../running-process.ts"

// As long as a stop of our own: the old server flushes its store.
const patience = "5 seconds"

/** Completes with the pid of a server that could not be stopped; normally with nothing. */
export const stopOrphan = Effect.fn("stopOrphan")(function* (folder: string) {
  const pid = yield* orphanOf(folder)
  if (pid === undefined) return undefined
  yield* Effect.logWarning("a nats-server of an earlier run still holds the store, stopping it").pipe(
    Effect.annotateLogs({ pid })
  )
  yield* signal(pid, "SIGTERM")
  if (yield* isGone(folder)) return undefined
  yield* signal(pid, "SIGKILL")
  return (yield* isGone(folder)) ? undefined : pid
})

const orphanOf = Effect.fnUntraced(function* (folder: string) {
  const text = yield* Effect.tryPromise(() => readFile(`${folder}/server.pid`, "latin1")).pipe(
    Effect.orElseSucceed(() => "")
  )
  const pid = Number.parseInt(text, 10)
  const found = yield* runningProcess(pid)
  return found?.command.endsWith(`-c ${folder}/server.conf`) === true ? pid : undefined
})

const isGone = (folder: string) =>
  Effect.map(orphanOf(folder), (pid) => pid === undefined).pipe(
    Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("50 millis") }),
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed(false) })
  )

const signal = (pid: number, name: NodeJS.Signals) => Effect.try(() => process.kill(pid, name)).pipe(Effect.ignore)
