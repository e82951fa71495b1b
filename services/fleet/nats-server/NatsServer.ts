/**
 * The embedded nats-server: started with a generated configuration in the fleet's home, watched, started
 * again on the same port and store when it dies, stopped last. JetStream keeps its streams on disk.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { Context, Effect, Layer, Ref, Schedule, Schema } from "effect"
import { type Child, startChild } from "./child.ts"
import { findBinary } from "./find-binary.ts"
import { stopOrphan } from "./orphan.ts"
import { answers, freePort } from "./ports.ts"
import { serverConfig } from "./server-config.ts"

export interface NatsServerOptions {
  /** The folder that is the server's alone. */
  readonly folder: string
  /** The next free one is taken when it is in use; 0 takes any. */
  readonly port: number
}

/** The server did not come up. `log`: its last lines. */
export class NatsServerFailed extends Schema.TaggedError<NatsServerFailed>()("NatsServerFailed", {
  reason: Schema.String,
  log: Schema.String
}) {
  override get message() {
    return `nats-server did not start: ${this.reason}\n${this.log}`
  }
}

// Recovering a large store takes seconds; a minute is a server that will not come.
const readyWithin = "60 seconds"

export class NatsServer extends Context.Service<
  NatsServer,
  { readonly url: string; readonly pid: Effect.Effect<number> }
>()("starling/fleet/NatsServer") {
  static readonly layer = (options: NatsServerOptions) => Layer.effect(NatsServer, make(options))
}

const make = Effect.fn("NatsServer.make")(function* ({ folder, port: wanted }: NatsServerOptions) {
  const binary = yield* findBinary
  yield* Effect.promise(() => mkdir(`${folder}/data`, { recursive: true }))
  yield* stopOrphan(folder)
  const port = yield* freePort(wanted)
  const config = `${folder}/server.conf`
  yield* Effect.promise(() => writeFile(config, serverConfig({ port, folder })))
  const start = startServer(binary, config, port, folder)
  const current = yield* Ref.make(yield* start)
  yield* Effect.addFinalizer(() => Effect.flatMap(Ref.get(current), (child) => child.stop))

  const watch = Effect.gen(function* () {
    const how = yield* (yield* Ref.get(current)).ended
    yield* Effect.logError("nats-server died, starting it again").pipe(Effect.annotateLogs({ how }))
    yield* Ref.set(current, yield* Effect.retry(start, Schedule.spaced("1 second")))
  })
  yield* Effect.forkScoped(Effect.forever(watch))
  return NatsServer.of({ url: `nats://127.0.0.1:${port}`, pid: Effect.map(Ref.get(current), (child) => child.pid) })
})

const startServer = Effect.fnUntraced(function* (
  binary: string,
  config: string,
  port: number,
  folder: string
): Effect.fn.Return<Child, NatsServerFailed> {
  const child = yield* startChild(binary, ["-c", config])
  const isReady = answers(port).pipe(Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("20 millis") }))
  const outcome = yield* Effect.raceFirst(
    Effect.as(isReady, "ready"),
    Effect.map(child.ended, (how) => `it ended with ${how}`)
  ).pipe(Effect.timeoutOrElse({ duration: readyWithin, orElse: () => Effect.succeed("it did not answer in time") }))
  if (outcome === "ready") return child
  yield* child.stop
  return yield* new NatsServerFailed({ reason: outcome, log: yield* lastLines(`${folder}/server.log`) })
})

const lastLines = (path: string) =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.map((text) => text.trimEnd().split("\n").slice(-10).join("\n")),
    Effect.orElseSucceed(() => "(no log)")
  )
