/**
 * The embedded nats-server: started with a generated configuration in the fleet's home, watched, restarted on the same
 * port and store when it dies, stopped last. JetStream keeps its streams on disk. The process that provides it must
 * hold the home's lock, because it stops any other server of its folder. Every connection needs one of its users.
 */
import { access, constants, mkdir, readFile } from "node:fs/promises"
import { connect } from "node:net"
import { delimiter, join } from "node:path"
import { Clock, Context, Effect, Layer, Option, Ref, Schedule, Schema } from "effect"
import { afterDeath, type Child, type Deaths, Environment, freePort, noDeaths, startChild } from "#runtime"
import { homeLock, runningProcess } from "../home-lock.ts"
import { keepPasswords, passwordsFolder } from "../passwords.ts"
import { natsFolder, writePrivately } from "../home.ts"
import { diskOf } from "./disk.ts"
import { dropOldNotes, figuresOf, troubleOf } from "./figures.ts"
import { type Cures, cure, isWriteError, noCures } from "./write-error.ts"
import { dataFolder, machineUsers, serverConfig, serverNameOf } from "./configuration.ts"
import { moveStore } from "./store.ts"

/** The broker of a home without its fleet, on any free port: no fleet can start there meanwhile. */
export const brokerAlone = (home: string) =>
  NatsServer.layer({ folder: natsFolder(home), port: 0 }).pipe(Layer.provide(homeLock(home)))

interface NatsServerOptions {
  /** The server's own folder. */
  readonly folder: string
  /** The next free port is taken when this one is in use; 0 takes any. */
  readonly port: number
}

// A try fails only when a neighbour takes the port between the check and the listening.
const portsTriedMax = 5

// While the server cannot be restarted the fleet waits for it; a try every ten seconds is often enough.
const restarts = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("10 seconds")])

export class NatsServer extends Context.Service<
  NatsServer,
  {
    readonly url: string
    readonly pid: Effect.Effect<number>
    /** The password of each user of the broker. */
    readonly passwordOf: (user: string) => string
    /** The folder of the password files, one for each user. */
    readonly passwordsFolder: string
    /** The server's own figures, in Prometheus' text format; empty while it is away. */
    readonly figures: Effect.Effect<string>
    /** Why it cannot write, although it runs. */
    readonly writeError: Effect.Effect<string | undefined>
  }
>()("starling/fleet/NatsServer") {
  static readonly layer = (options: NatsServerOptions) => Layer.effect(NatsServer, make(options))
}

const make = Effect.fn("NatsServer.make")(function* ({ folder, port: wanted }: NatsServerOptions) {
  const binary = yield* findBinary
  yield* Effect.promise(() => mkdir(dataFolder(folder), { recursive: true }))
  const orphan = yield* stopOrphan(folder)
  if (orphan !== undefined) {
    return yield* new NatsServerFailed({ reason: `process ${orphan} holds the store and does not end`, log: "" })
  }
  yield* moveStore(dataFolder(folder))
  const current = yield* Ref.make(Option.none<Child>())
  // Registered before anything is started: the server that is current when the scope closes is stopped, ready or not.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Ref.get(current), Option.match({ onNone: () => Effect.void, onSome: (child) => child.stop }))
  )
  const passwords = yield* keepPasswords(
    passwordsFolder(folder),
    machineUsers.map(({ user }) => user)
  )
  const start = (port: number) => startServer({ binary, folder, port, passwords, current })
  const { child, port } = yield* startSomewhere(wanted, start)
  yield* Effect.forkScoped(keepRunning(child, start(port)))
  const now = Effect.map(Ref.get(current), (found) => Option.getOrElse(found, () => child))
  const pid = Effect.map(now, (found) => found.pid)
  const writeError = yield* Ref.make<string | undefined>(undefined)
  yield* Effect.forkScoped(keepWriting({ folder, now, writeError }))
  return NatsServer.of({
    url: `nats://127.0.0.1:${port}`,
    pid,
    passwordOf: (user) => passwords.get(user) ?? "",
    passwordsFolder: passwordsFolder(folder),
    figures: Effect.flatMap(pid, (found) => figuresOf(folder, found)),
    writeError: Ref.get(writeError)
  })
})

type Start = (port: number) => Effect.Effect<Child, NatsServerFailed>

const startSomewhere = Effect.fnUntraced(function* (wanted: number, start: Start) {
  let from = wanted
  for (let tried = 1; ; tried++) {
    const found = yield* freePort(from)
    if (Option.isNone(found)) {
      return yield* new NatsServerFailed({ reason: `the ports from ${wanted} on are all taken`, log: "" })
    }
    const port = found.value
    const started = yield* Effect.result(start(port))
    if (started._tag === "Success") return { child: started.success, port }
    const isStillFree = Option.contains(yield* freePort(port), port)
    if (isStillFree || tried === portsTriedMax) return yield* started.failure
    from = wanted === 0 ? 0 : port + 1
  }
})

const keepRunning = Effect.fnUntraced(function* (first: Child, start: Effect.Effect<Child, NatsServerFailed>) {
  let child = first
  let deaths: Deaths = noDeaths
  while (true) {
    const startedAtMs = yield* Clock.currentTimeMillis
    const how = yield* child.ended
    deaths = afterDeath(deaths, (yield* Clock.currentTimeMillis) - startedAtMs)
    yield* Effect.logError("nats-server died, starting it again").pipe(
      Effect.annotateLogs({ how, delayMs: deaths.delayMs })
    )
    yield* Effect.sleep(deaths.delayMs)
    child = yield* start.pipe(
      Effect.tapError((error) => Effect.logError(error.message)),
      Effect.retry(restarts),
      Effect.orDie
    )
    yield* Effect.logInfo("nats-server runs again").pipe(Effect.annotateLogs({ pid: child.pid }))
  }
})

interface Writing {
  readonly folder: string
  readonly now: Effect.Effect<Child>
  readonly writeError: Ref.Ref<string | undefined>
}

// One short request to a local server.
const lookEvery = "2 seconds"

/** Stops a server that cannot write although its disk has room; it is restarted like one that died. */
const keepWriting = Effect.fnUntraced(function* ({ folder, now, writeError }: Writing) {
  let cures: Cures = noCures
  while (true) {
    yield* Effect.sleep(lookEvery)
    const child = yield* now
    const trouble = yield* troubleOf(folder, child.pid)
    const failing = isWriteError(trouble) ? trouble : undefined
    const before = yield* Ref.getAndSet(writeError, failing)
    if (failing === undefined) {
      if (before !== undefined) yield* Effect.logInfo("nats-server can write again")
      continue
    }
    const freeBytes = yield* freeBytesOf(folder)
    const seen = Effect.annotateLogs({ reason: failing, freeBytes })
    if (before === undefined) yield* seen(Effect.logError("nats-server cannot write"))
    const cured = cure(cures, { trouble, freeBytes, nowMs: yield* Clock.currentTimeMillis })
    if (cured === undefined) continue
    cures = cured
    yield* seen(Effect.logWarning("nats-server cannot write although its disk has room, restarting it"))
    yield* child.stop
  }
})

const freeBytesOf = (folder: string) => Effect.map(diskOf(folder), (disk) => disk?.freeBytes)

// As long as stopping one of our own: the old server flushes its store.
const patience = "5 seconds"

/**
 * Stops a server that outlived its fleet, because two on one store corrupt it. It is found by the pid file in the
 * folder, and only touched while that process runs with the folder's configuration. Completes with its pid when it
 * cannot be stopped.
 */
const stopOrphan = Effect.fn("stopOrphan")(function* (folder: string) {
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

/** The server did not come up. `log`: its last lines. */
class NatsServerFailed extends Schema.TaggedError<NatsServerFailed>()("NatsServerFailed", {
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
  /** Set as soon as the process exists, so that stopping the fleet meanwhile finds it. */
  readonly current: Ref.Ref<Option.Option<Child>>
}

// Recovering a large store takes seconds; after a minute the server will not come up.
const readyWithin = "60 seconds"
const logLines = 10
// Ten lines are far shorter than this; the entire log can be megabytes.
const logTailBytes = 16 * 1_024

/**
 * One start of the embedded nats-server: finds the program, writes its configuration, starts it, and waits until this
 * very server answers, which it does once its streams are recovered. A failed start leaves no process.
 */
export const startServer = Effect.fnUntraced(function* (options: StartOptions) {
  const { binary, folder, port, passwords, current } = options
  const config = `${folder}/server.conf`
  yield* dropOldNotes(folder)
  const freeBytes = yield* freeBytesOf(folder)
  yield* writePrivately(config, serverConfig({ port, folder, users: machineUsers, passwords, freeBytes }))
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
    return `nats-server was not found in: ${this.looked.join(", ")}. ./starling up installs it.`
  }
}

const binaryVariable = "STARLING_NATS_SERVER"

/** The program that the launcher names, otherwise the one on the PATH. */
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

// The banner is about 500 bytes; a listener that sends more before its first line end is not a nats-server.
const bannerBytesMax = 64 * 1_024

const Banner = Schema.fromJsonString(Schema.Struct({ server_name: Schema.String }))
const decodeBanner = Schema.decodeUnknownOption(Banner)

/**
 * The name of the nats-server on a port, which it sends unprompted once its streams are recovered. None without an
 * answer within a second. The name distinguishes our server from a neighbour that took the port first.
 */
export const serverNameOn = (port: number): Effect.Effect<Option.Option<string>> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    let output = ""
    const end = (name: Option.Option<string>) => {
      socket.destroy()
      resume(Effect.succeed(name))
    }
    socket.setTimeout(1_000, () => end(Option.none()))
    socket.once("error", () => end(Option.none()))
    socket.once("close", () => end(Option.none()))
    socket.on("data", (data) => {
      output += data.toString("latin1")
      if (output.includes("\r\n") || output.length > bannerBytesMax) end(nameIn(output))
    })
    return Effect.sync(() => socket.destroy())
  })

const nameIn = (banner: string) =>
  banner.startsWith("INFO ")
    ? Option.map(decodeBanner(banner.slice(5, banner.indexOf("\r\n"))), (info) => info.server_name)
    : Option.none()
