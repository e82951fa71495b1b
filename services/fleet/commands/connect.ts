/**
 * How a command reaches a fleet: the broker it is told with --nats, NATS_URL or BUS_URL, as BUS_USER and with the files
 * of BUS_TLS_* if they are named, else the one that runs in this home. And how it ends: one clear line on stderr when
 * it cannot do what it was asked.
 */
import { readFile } from "node:fs/promises"
import { Cause, Effect, Layer, Logger, Redacted, Result, Schema } from "effect"
import { busServices, Nats } from "#bus"
import { Environment, lineLogger, Metrics, Role } from "#runtime"
import { readSettings } from "../settings.ts"

/** What the person at the terminal can put right. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

const Ready = Schema.fromJsonString(Schema.Struct({ nats: Schema.String }))

const brokerUrl = Effect.fnUntraced(function* (named: string | undefined) {
  const environment = yield* Environment
  const given = named ?? environment["NATS_URL"] ?? environment["BUS_URL"]
  if (given !== undefined) return given
  const { home } = yield* readSettings
  const text = yield* Effect.tryPromise(() => readFile(`${home}/ready.json`, "utf8")).pipe(
    Effect.mapError(
      () => new CommandRefused({ reason: `no fleet has run in ${home} yet; start it with ./starling up` })
    )
  )
  return (yield* Schema.decodeEffect(Ready)(text)).nats
})

export const busOf = (named: string | undefined) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const environment = yield* Environment
      const { BUS_USER: user, BUS_PASSWORD: password } = environment
      const url = yield* brokerUrl(named)
      const nats = Nats.layerWith({
        servers: url.split(","),
        name: "command",
        user,
        password: password === undefined ? undefined : Redacted.make(password),
        tls: {
          caFile: environment["BUS_TLS_CA_FILE"],
          certificateFile: environment["BUS_TLS_CERTIFICATE_FILE"],
          keyFile: environment["BUS_TLS_KEY_FILE"]
        },
        waitsForServer: false
      })
      return busServices.pipe(
        Layer.provideMerge(nats),
        Layer.provideMerge(Metrics.layerTest),
        // No part of a job: what roles send to each other is not for a command.
        Layer.provide(Layer.succeed(Role, "operator"))
      )
    })
  )

/** Runs a command to its end; the exit code says whether it did what it was asked. */
export const runCommand = <E>(command: Effect.Effect<void, E>): void => {
  const setting = Layer.mergeAll(
    Layer.succeed(Environment, process.env),
    Logger.layer([lineLogger("pretty", (line) => void process.stderr.write(`${line}\n`))])
  )
  const told = command.pipe(
    Effect.as(0),
    Effect.catchCause((cause) => Effect.sync(() => refuse(cause))),
    Effect.provide(setting)
  )
  const stop = Effect.runCallback(told, {
    onExit: (exit) => process.exit(exit._tag === "Success" ? exit.value : 130)
  })
  process.on("SIGINT", () => stop())
  process.on("SIGTERM", () => stop())
  // Whoever read what is printed has gone, as in `tail | head`.
  process.stdout.on("error", () => stop())
}

const refuse = (cause: Cause.Cause<unknown>) => {
  const found = Cause.findError(cause)
  const failure = Result.isSuccess(found) ? found.success : undefined
  const text = failure instanceof Error && failure.message !== "" ? failure.message : Cause.pretty(cause)
  process.stderr.write(`starling: ${text}\n`)
  return 1
}

export const print = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))
