/**
 * One start of the embedded nats-server: writes its configuration, starts the program, and waits until this
 * very server answers, which it does once its streams are recovered. A failed start leaves no process.
 */
import { readFile } from "node:fs/promises"
import { Effect, Option, Ref, Schedule, Schema } from "effect"
import { type Child, startChild } from "#runtime"
import { writePrivately } from "../private-file.ts"
import { serverNameOn } from "./ports.ts"
import { serverConfig, serverNameOf } from "./server-config.ts"
import { machineUsers } from "./users.ts"

/** The server did not come up. `log`: its last lines. */
export class NatsServerFailed extends Schema.TaggedError<NatsServerFailed>()("NatsServerFailed", {
  reason: Schema.String,
  log: Schema.String
}) {
  override get message() {
    return `nats-server did not start: ${this.reason}${this.log === "" ? "" : `\n${this.log}`}`
  }
}

export interface StartOptions {
  readonly binary: string
  readonly folder: string
  readonly port: number
  readonly passwords: ReadonlyMap<string, string>
  /** Set as soon as the process exists, so that whoever stops the fleet meanwhile finds it. */
  readonly current: Ref.Ref<Option.Option<Child>>
}

// Recovering a large store takes seconds; a minute is a server that will not come.
const readyWithin = "60 seconds"
const logLines = 10
// Ten lines are far shorter than this; the whole log may be megabytes.
const logTailBytes = 16 * 1_024

export const startServer = Effect.fnUntraced(function* (options: StartOptions) {
  const { binary, folder, port, passwords, current } = options
  const config = `${folder}/server.conf`
  yield* writePrivately(config, serverConfig({ port, folder, users: machineUsers, passwords }))
  const child = yield* Effect.uninterruptible(
    Effect.tap(startChild(binary, ["-c", config]), (started) => Ref.set(current, Option.some(started)))
  )
  const outcome = yield* Effect.raceFirst(
    Effect.as(isReady(port, serverNameOf(folder)), undefined),
    Effect.map(child.ended, (how) => `it ended with ${how}`)
  ).pipe(Effect.timeoutOrElse({ duration: readyWithin, orElse: () => Effect.succeed("it did not answer in time") }))
  if (outcome === undefined) return child
  yield* child.stop
  return yield* new NatsServerFailed({ reason: outcome, log: yield* lastLines(`${folder}/server.log`) })
})

const isReady = (port: number, name: string) =>
  serverNameOn(port).pipe(
    Effect.repeat({ until: (found) => Option.contains(found, name), schedule: Schedule.spaced("20 millis") })
  )

const lastLines = (path: string) =>
  Effect.tryPromise(() => readFile(path)).pipe(
    Effect.map((log) => log.subarray(-logTailBytes).toString("utf8").trimEnd().split("\n").slice(-logLines).join("\n")),
    Effect.orElseSucceed(() => "(no log)")
  )
