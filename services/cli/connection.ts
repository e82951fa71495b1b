/**
 * How a command reaches the broker of a fleet: which broker, and as which user. An explicit address comes first:
 * --nats, NATS_URL, BUS_URL. Then the running fleet of this home, as its operator. Then the file of STARLING_CONFIG: so
 * a command in a pod is the pod's user.
 *
 * A missing permission on the broker, in the words of the topology, and the users that have it. Pure.
 */
import { readdir, readFile } from "node:fs/promises"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import {
  type BrokerTls,
  type BusError,
  busServices,
  coreSubjects,
  type Forbidden,
  Nats,
  parties,
  permissionsOf,
  topology,
  userOf
} from "#bus"
import { type ConfigurationFile, configurationInput, decodeConfiguration, isJson, type Json } from "#configuration"
import { isFleetIn, natsFolder, passwordsFolder, readPassword, readSettings } from "#fleet"
import { operatorUser } from "#fleet/broker-users"
import { Environment, InvalidConfiguration, Metrics, readTextFile, Role } from "#runtime"
import { CommandRefused, noFleet } from "./console.ts"

interface BusOptions {
  /** The command's user on the broker of this home, or of BUS_PASSWORDS_FOLDER; by default the operator. */
  readonly keptUser?: string
  /** For a command that can start before its broker; others fail at once without one. */
  readonly waitsForServer?: boolean
}

export const busOf = (
  named: string | undefined,
  { keptUser = operatorUser, waitsForServer = false }: BusOptions = {}
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url, user, password, credentials, tls } = yield* brokerLogin(named, keptUser)
      const nats = Nats.layerWith({
        servers: url.split(",").map((server) => server.trim()),
        name: "command",
        user,
        password,
        credentials,
        tls,
        waitsForServer
      }).pipe(Layer.catch((error) => Layer.effect(Nats, notLetIn(error, url, user))))
      return busServices.pipe(
        Layer.provideMerge(nats),
        Layer.provideMerge(Metrics.layerTest),
        // Outside any job: a command takes no part in the messages between roles.
        Layer.provide(Layer.succeed(Role, "operator"))
      )
    })
  )

/** The broker's own error only says that it refuses. */
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

interface Who {
  readonly user?: string | undefined
  readonly password?: Redacted.Redacted | undefined
  readonly credentials?: Redacted.Redacted | undefined
}

interface BrokerLogin extends Who {
  readonly url: string
  /** Whether it is the broker of this home's running fleet. */
  readonly isHome: boolean
  readonly tls: BrokerTls
}

/** `named`: the value of --nats. `keptUser`: the command's user where a folder has the passwords of many. */
export const brokerLogin = Effect.fnUntraced(function* (named: string | undefined, keptUser: string) {
  const { home } = yield* readSettings
  const { bus, namedUrl, fileUrl } = yield* busSettings
  const ofHome = yield* Effect.result(homeUrl(home))
  const found = Result.getOrUndefined(ofHome)
  const given = named ?? namedUrl
  const url = given ?? found ?? fileUrl ?? (yield* Effect.fromResult(ofHome))
  const who = yield* whoIn(bus, keptUser)
  // The broker of this home, named without a user, gets the home's user.
  const isHome = url === found && (given === undefined || who === undefined)
  if (isHome) return { url, tls: {}, isHome, ...(yield* keptIn(passwordsFolder(natsFolder(home)), keptUser)) }
  const tls = { caFile: bus.TlsCaFile, certificateFile: bus.TlsCertificateFile, keyFile: bus.TlsKeyFile }
  return { url, tls, isHome, ...who } satisfies BrokerLogin
})

/** The broker's name for the user that runs a command. */
export const brokerUserOf = Effect.fnUntraced(function* (named: string | undefined, keptUser = operatorUser) {
  const { user, credentials } = yield* brokerLogin(named, keptUser)
  return user ?? (credentials === undefined ? "no user" : "user of the credentials")
})

/**
 * Reads one section, because a fault elsewhere in the file does not concern a command. The environment overrides the
 * file.
 */
const settingsOf = Effect.fnUntraced(function* <S extends "Bus" | "Events" | "Fleet">(name: S, more: Json = {}) {
  const { configPath, isConfigNamed } = yield* readSettings
  const { input, repeated } = isConfigNamed
    ? yield* configurationInput({ path: configPath, isRequired: true })
    : yield* configurationInput({ path: "", isRequired: false })
  const given = isJson(input) && isJson(input[name]) ? input[name] : {}
  const decoded = decodeConfiguration({ [name]: { ...given, ...more } })
  if (Result.isFailure(decoded)) return yield* new InvalidConfiguration({ faults: decoded.failure })
  const faults = repeated.filter(({ path }) => path === name || path.startsWith(`${name}.`))
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
  return { section: decoded.success[name], given }
})

/** The workspace whose tokens can reach the entire fleet. */
export const fleetWorkspaceOf = Effect.map(settingsOf("Fleet"), ({ section }) => section.Workspace)

/** The event types that the configuration declares. */
export const eventSettings = Effect.map(settingsOf("Events"), ({ section }) => section)

const busSettings = Effect.gen(function* () {
  const environment = yield* Environment
  const set = (variable: string) => (environment[variable] === "" ? undefined : environment[variable])
  // A password of digits alone stays a text.
  const password = set("BUS_PASSWORD")
  const { section, given } = yield* settingsOf("Bus", password === undefined ? {} : { Password: password })
  return {
    bus: section,
    namedUrl: set("NATS_URL") ?? set("BUS_URL"),
    fileUrl: given["Url"] === undefined ? undefined : section.Url
  }
})

/** The credentials that the configuration names; undefined when it names none. */
const whoIn = Effect.fnUntraced(function* (bus: ConfigurationFile["Bus"], keptUser: string) {
  const environment = yield* Environment
  const own = { user: bus.User, password: bus.Password }
  if ((environment["BUS_USER"] ?? "") !== "") return own
  if (bus.PasswordsFolder !== undefined) return yield* keptIn(bus.PasswordsFolder, keptUser)
  if (bus.CredentialsFile !== undefined) {
    return { credentials: Redacted.make(yield* readTextFile(bus.CredentialsFile)) }
  }
  return bus.User === undefined ? undefined : own
})

/** The wanted user of a folder, or the only one with a password there, as in a role's container. */
const keptIn = Effect.fnUntraced(function* (folder: string, wanted: string): Effect.fn.Return<Who> {
  const names = yield* Effect.tryPromise(() => readdir(folder)).pipe(Effect.orElseSucceed((): Array<string> => []))
  const [only, ...others] = names
  const user = names.includes(wanted) || only === undefined || others.length > 0 ? wanted : only
  const password = yield* readPassword(folder, user)
  // A fleet of an older release, whose broker has no users, has left none.
  return password === undefined ? {} : { user, password: Redacted.make(password) }
})

const Ready = Schema.fromJsonString(Schema.Struct({ nats: Schema.String }))

/** The broker of the running fleet of a home. */
const homeUrl = Effect.fnUntraced(function* (home: string): Effect.fn.Return<string, CommandRefused> {
  const path = `${home}/ready.json`
  const refused = (reason: string) => () => noFleet(reason)
  const text = yield* Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.mapError(refused(`no fleet has run in ${home} yet; start it with ./starling up`))
  )
  const { nats } = yield* Schema.decodeEffect(Ready)(text).pipe(
    Effect.mapError(refused(`${path} cannot be read; start the fleet again with ./starling up`))
  )
  // An unknown program on the port of a fleet that is gone must not get a password.
  if (!(yield* isFleetIn(home))) return yield* refused(`no fleet runs in ${home} now; start it with ./starling up`)()
  return nats
})

/** `the broker's user pipeline-api may not write the bucket tokens ($KV.tokens.x); console, operator may`. */
export const forbiddenText = (forbidden: Forbidden): string => {
  const { user, subject } = forbidden
  const act = actOf(forbidden)
  const who = user === undefined ? "whoever names no user to the broker" : `the broker's user ${user}`
  const others = mayDo(forbidden)
  const rest = others.length === 0 ? "no other user of the fleet may either" : `${others.join(", ")} may`
  return `${who} may not ${act}${act.includes(subject) ? "" : ` (${subject})`}; ${rest}`
}

/** The users that have the missing permission. */
export const mayDo = ({ operation, subject }: Forbidden): ReadonlyArray<string> =>
  parties
    .filter((party) => {
      const { publish, publishNever, subscribe } = permissionsOf(topology, coreSubjects, party)
      const matches = (pattern: string) => covers(pattern, subject)
      return operation === "publish" ? publish.some(matches) && !publishNever.some(matches) : subscribe.some(matches)
    })
    .map(userOf)

const read = /^\$JS\.API\.(?:STREAM\.MSG\.GET|DIRECT\.GET|CONSUMER\.(?:DURABLE\.)?[A-Z]+|CONSUMER\.MSG\.NEXT)\.([^.]+)/u
const keep = /^\$JS\.API\.(?:STREAM\.PURGE|STREAM\.MSG\.DELETE|CONSUMER\.PAUSE)\.([^.]+)/u
const make = /^\$JS\.API\.STREAM\.(?:CREATE|UPDATE|DELETE|RESTORE|SNAPSHOT)\.([^.]+)/u
const lookAt = /^\$JS\.API\.STREAM\.INFO\.([^.]+)/u

const acts: ReadonlyArray<readonly [RegExp, (name: string) => string]> = [
  [keep, (name) => `remove messages from ${stored(name)}`],
  [make, (name) => `make, change or copy ${stored(name)}`],
  [read, (name) => `read ${stored(name)}`],
  [lookAt, (name) => `look at ${stored(name)}`],
  [/^\$KV\.([^.]+)\./u, (name) => `write the bucket ${name}`],
  [/^\$O\.([^.]+)\./u, (name) => `write the object store ${name}`],
  [/^audit\.(.+)$/u, (name) => `write ${name} in AUDIT`],
  [/^events\.(.+)$/u, (name) => `publish the event ${name}`]
]

const actOf = ({ operation, subject }: Forbidden): string => {
  if (operation === "subscription") return `hear ${subject}`
  for (const [pattern, act] of acts) {
    const name = pattern.exec(subject)?.[1]
    if (name !== undefined) return act(name)
  }
  return `publish to ${subject}`
}

/** A stream, or the bucket or store that it carries. */
const stored = (stream: string) => {
  if (stream.startsWith("KV_")) return `the bucket ${stream.slice("KV_".length)}`
  return stream.startsWith("OBJ_") ? `the object store ${stream.slice("OBJ_".length)}` : `the stream ${stream}`
}

/** Whether a pattern covers a subject, by NATS' rules. */
const covers = (pattern: string, subject: string): boolean => {
  const [wanted, tokens] = [pattern.split("."), subject.split(".")]
  const rest = wanted.indexOf(">")
  if (rest >= 0 ? tokens.length <= rest : tokens.length !== wanted.length) return false
  return wanted.every((token, index) => token === ">" || token === "*" || token === tokens[index])
}
