/**
 * A server that outlived its fleet, because the fleet was killed where it could not clean up. Two servers on
 * one store corrupt it, so the old one is stopped first. It is known by the pid file in its folder, and only
 * touched when that process still runs with that folder's configuration.
 */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"

const readOr = (path: string) => Effect.tryPromise(() => readFile(path, "latin1")).pipe(Effect.orElseSucceed(() => ""))

/** The pid of a running server of this folder. */
const runningPid = Effect.fnUntraced(function* (folder: string) {
  const pid = Number.parseInt(yield* readOr(`${folder}/server.pid`), 10)
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  const commandLine = yield* readOr(`/proc/${pid}/cmdline`)
  return commandLine.includes(`${folder}/server.conf`) ? pid : undefined
})

export const stopOrphan = Effect.fn("stopOrphan")(function* (folder: string) {
  const pid = yield* runningPid(folder)
  if (pid === undefined) return
  yield* Effect.logWarning("a nats-server of an earlier run still holds the store, stopping it").pipe(
    Effect.annotateLogs({ pid })
  )
  yield* signal(pid, "SIGTERM")
  const gone = Effect.map(runningPid(folder), (still) => still === undefined)
  yield* Effect.repeat(Effect.delay(gone, "50 millis"), { until: (is) => is, times: 100 })
  if ((yield* runningPid(folder)) !== undefined) yield* signal(pid, "SIGKILL")
})

const signal = (pid: number, name: NodeJS.Signals) => Effect.try(() => process.kill(pid, name)).pipe(Effect.ignore)
