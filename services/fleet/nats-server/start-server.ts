/**
 * One start of the embedded nats-server: finds the program, writes its configuration, starts it, and waits until this
 * very server answers, which it does once its streams are recovered. A failed start leaves no process.
 */
import { access, constants, readFile } from "node:fs/promises"
import { connect } from "node:net"
import { delimiter, join } from "node:path"
import { Effect, Option, Ref, Schedule, Schema } from "effect"
import { type Child, Environment, startChild } from "#runtime"
import { writePrivately } from "../private-file.ts"
import { machineUsers, serverConfig, serverNameOf } from "./configuration.ts"
import { dropOldNotes } from "./figures.ts"

/** The server did not come up. `log`: its last lines. */
export class NatsServerFailed extends Schema.TaggedError<NatsServerFailed>()("NatsServerFailed", {
  reason: Schema.String,
  log: Schema.String
}) {
  override get message() {
    return `nats-server did not start: ${this.reason}${this.log === "" ? "" : `\n${this.log}`}`
  }
}

interface StartOptions {
  readonly binary: string
  readonly folder: string
  readonly port: number
  readonly passwords: ReadonlyMap<string, string>
  /** Set as soon as the process exists, so that a stop of the fleet meanwhile finds it. */
  readonly current: Ref.Ref<Option.Option<Child>>
}

// Recovering a large store takes seconds; after a minute the server will not come.
const readyWithin = "60 seconds"
const logLines = 10
// Ten lines are far shorter than this; the whole log may be megabytes.
const logTailBytes = 16 * 1_024

export const startServer = Effect.fnUntraced(function* (options: StartOptions) {
  const { binary, folder, port, passwords, current } = options
  const config = `${folder}/server.conf`
  yield* dropOldNotes(folder)
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

class NatsServerMissing extends Schema.TaggedError<NatsServerMissing>()("NatsServerMissing", {
  looked: Schema.Array(Schema.String)
}) {
  override get message() {
    return `nats-server was not found; looked at: ${this.looked.join(", ")}. ./starling up installs it.`
  }
}

const binaryVariable = "STARLING_NATS_SERVER"

/** The program that the launcher names, else the one on the PATH. */
export const findBinary = Effect.gen(function* () {
  const environment = yield* Environment
  const named = environment[binaryVariable]
  const onPath = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  const looked = named === undefined ? onPath.map((folder) => join(folder, "nats-server")) : [named]
  for (const path of looked) {
    const isRunnable = yield* Effect.tryPromise(() => access(path, constants.X_OK)).pipe(
      Effect.as(true),
      Effect.orElseSucceed(() => false)
    )
    if (isRunnable) return path
  }
  return yield* new NatsServerMissing({ looked })
})

// The banner is about 500 bytes; a listener that sends more before its first line end is no nats-server.
const bannerBytesMax = 64 * 1_024

const Banner = Schema.fromJsonString(Schema.Struct({ server_name: Schema.String }))
const decodeBanner = Schema.decodeUnknownOption(Banner)

/**
 * The name of the nats-server on a port, which it sends unasked once its streams are recovered. None when nothing
 * answers within a second. The name tells our server from a neighbour that took the port first.
 */
export const serverNameOn = (port: number): Effect.Effect<Option.Option<string>> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    let heard = ""
    const end = (name: Option.Option<string>) => {
      socket.destroy()
      resume(Effect.succeed(name))
    }
    socket.setTimeout(1_000, () => end(Option.none()))
    socket.once("error", () => end(Option.none()))
    socket.once("close", () => end(Option.none()))
    socket.on("data", (data) => {
      heard += data.toString("latin1")
      if (heard.includes("\r\n") || heard.length > bannerBytesMax) end(nameIn(heard))
    })
    return Effect.sync(() => socket.destroy())
  })

const nameIn = (banner: string) =>
  banner.startsWith("INFO ")
    ? Option.map(decodeBanner(banner.slice(5, banner.indexOf("\r\n"))), (info) => info.server_name)
    : Option.none()
