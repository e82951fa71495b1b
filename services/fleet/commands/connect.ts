/**
 * How a command reaches a fleet: the broker it is told with --nats, NATS_URL or BUS_URL, as BUS_USER and with the files
 * of BUS_TLS_* if they are named, else the one that runs in this home, as its operator. And how it ends: one clear line
 * on stderr when it cannot do what it was asked.
 */
import { readFile } from "node:fs/promises"
import { Cause, Effect, Layer, Logger, Redacted, Result, Schema } from "effect"
import { type BusError, busServices, Nats } from "#bus"
import { Environment, lineLogger, Metrics, Role } from "#runtime"
import { isFleetIn } from "../home-lock.ts"
import { passwordsFolder, readPassword } from "../nats-server/passwords.ts"
import { operatorUser } from "../nats-server/users.ts"
import { natsFolder, readSettings } from "../settings.ts"

/** What the person at the terminal can put right. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

const Ready = Schema.fromJsonString(Schema.Struct({ nats: Schema.String }))

interface Broker {
  readonly url: string
  readonly user: string | undefined
  readonly password: string | undefined
}

/** As a user whose password this machine keeps; elsewhere BUS_USER says who one is. */
const brokerOf = Effect.fnUntraced(function* (
  named: string | undefined,
  keptUser: string
): Effect.fn.Return<Broker, CommandRefused> {
  const environment = yield* Environment
  const { home } = yield* readSettings
  const set = (variable: string) => (environment[variable] === "" ? undefined : environment[variable])
  const given = named ?? set("NATS_URL") ?? set("BUS_URL")
  const [user, password, folder] = [set("BUS_USER"), set("BUS_PASSWORD"), set("BUS_PASSWORDS_FOLDER")]
  if (given !== undefined && user !== undefined) return { url: given, user, password }
  if (given !== undefined && folder !== undefined) return yield* keptIn(folder, given, keptUser)
  const found = yield* Effect.result(ofHome(home, keptUser))
  // Who names the broker of this home means the one that the home knows.
  const isHome = given === undefined || (Result.isSuccess(found) && found.success.url === given)
  return isHome ? yield* Effect.fromResult(found) : { url: given, user, password }
})

// A fleet of an older release, whose broker knows no users, has left none.
const keptIn = (folder: string, url: string, user: string): Effect.Effect<Broker> =>
  Effect.map(readPassword(folder, user), (password) => ({
    url,
    user: password === undefined ? undefined : user,
    password
  }))

const ofHome = Effect.fnUntraced(function* (home: string, user: string): Effect.fn.Return<Broker, CommandRefused> {
  const path = `${home}/ready.json`
  const refused = (reason: string) => () => new CommandRefused({ reason })
  const text = yield* Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.mapError(refused(`no fleet has run in ${home} yet; start it with ./starling up`))
  )
  const { nats } = yield* Schema.decodeEffect(Ready)(text).pipe(
    Effect.mapError(refused(`${path} cannot be read; start the fleet again with ./starling up`))
  )
  // Whoever took the port of a fleet that is gone hears no password.
  if (!(yield* isFleetIn(home))) return yield* refused(`no fleet runs in ${home} now; start it with ./starling up`)()
  return yield* keptIn(passwordsFolder(natsFolder(home)), nats, user)
})

export interface BusOptions {
  /** Who the command is to the broker of this home, or of BUS_PASSWORDS_FOLDER; without it, the operator. */
  readonly keptUser?: string
  /** One that comes before its broker; others say at once that there is none. */
  readonly waitsForServer?: boolean
}

export const busOf = (
  named: string | undefined,
  { keptUser = operatorUser, waitsForServer = false }: BusOptions = {}
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const environment = yield* Environment
      const { url, user, password } = yield* brokerOf(named, keptUser)
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
        waitsForServer
      }).pipe(Layer.catch((error) => Layer.effect(Nats, notLetIn(error, url, user))))
      return busServices.pipe(
        Layer.provideMerge(nats),
        Layer.provideMerge(Metrics.layerTest),
        // No part of a job: what roles send to each other is not for a command.
        Layer.provide(Layer.succeed(Role, "operator"))
      )
    })
  )

/** What the broker says of itself is only that it will not. */
const notLetIn = (
  error: BusError,
  url: string,
  user: string | undefined
): Effect.Effect<never, BusError | CommandRefused> => {
  if (!/Authorization|Authentication/u.test(error.message)) return Effect.fail(error)
  const who = user === undefined ? "anybody without a user" : `${user} with this password`
  const reason = `the broker at ${url} does not let in ${who}; BUS_USER and BUS_PASSWORD say who you are to it`
  return Effect.fail(new CommandRefused({ reason }))
}

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
