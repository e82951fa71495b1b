/**
 * `up`: the complete fleet on this machine, with an embedded nats-server, and a receiver to try things with when
 * nothing is configured. Prints all addresses; `--ready-json` prints them as one line on stdout.
 *
 * The owner's token of a home: one, in the file `owner-token` that only its owner can read, the same on each start of
 * the fleet. A token that is lost, expired or no longer an owner's is replaced, and earlier ones are revoked.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { readFile } from "node:fs/promises"
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { applyTopology, busServices, keepTopology, Nats, topology, topologyOf } from "#bus"
import { type ReadyReport, type RoleName, roleNames } from "#base"
import { buildPageOnce } from "#dev/page"
import { startReceiver } from "#dev/receiver"
import { hasExpired, type TokenRecord, Tokens } from "#http"
import {
  Addresses,
  Environment,
  Health,
  logFormatOfChildren,
  logFormatVariable,
  Metrics,
  MetricsSources,
  OpsServer,
  Role,
  runProgram,
  Secrets
} from "#runtime"
import { Configuration } from "#configuration"
import { TrialPayers } from "#payments"
import { chainsReport, configuredParts, localDefaults, localKeys, localPayers, LocalWorld } from "./LocalWorld.ts"
import { checkConfiguration } from "./configuration-check.ts"
import { homeLock } from "./home-lock.ts"
import { NatsServer } from "./nats-server/NatsServer.ts"
import { checkDisk } from "./nats-server/disk.ts"
import { keeperUser, operatorUser, serviceUser } from "./nats-server/configuration.ts"
import {
  demoConfiguration,
  demoSecretOf,
  type FleetSettings,
  natsFolder,
  readSettings,
  secretVariable,
  writePrivately
} from "./home.ts"
import { roleProcess } from "./role-process.ts"
import { loadRoles, processLayer, rolesLayer } from "./roles.ts"
import { welcome } from "./welcome.ts"

/** The caller holds the home's lock. */
export const ownerToken = Effect.fn("ownerToken")(function* (home: string) {
  const path = join(home, "owner-token")
  const kept = yield* keptIn(path)
  const token = (yield* isOwners(kept)) ? kept : yield* makeAnew
  ;(yield* Secrets).add(token)
  // Written even if unchanged: others may have become able to read it. A start that dies before this leaves a token
  // that the next one revokes.
  yield* writePrivately(path, `${token}\n`)
  return token
})

/** Empty if there is none. */
const keptIn = (path: string) =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.map((text) => text.trim()),
    Effect.orElseSucceed(() => "")
  )

const fleetWorkspace = Effect.map(Configuration, ({ Fleet }) => Fleet.Workspace)

const isOwners = Effect.fnUntraced(function* (token: string) {
  if (token === "") return false
  // One with a broken record is replaced like a lost one.
  const found = (yield* Tokens).find(token).pipe(Effect.catchTag("BusRefused", () => Effect.succeedNone))
  const record = Option.getOrUndefined(yield* found)
  return (
    record !== undefined && mayAll(record, yield* fleetWorkspace) && !hasExpired(record, yield* Clock.currentTimeMillis)
  )
})

const mayAll = ({ role, scopes, workspace }: TokenRecord, fleetWorkspace: string) =>
  workspace === fleetWorkspace && role === "owner" && scopes.includes("*")

const makeAnew = Effect.gen(function* () {
  const tokens = yield* Tokens
  const before = (yield* tokens.list).filter(({ purpose, revokedAt }) => purpose === "home" && revokedAt === null)
  yield* Effect.forEach(before, ({ id }) => tokens.revoke(id), { discard: true })
  const { token } = yield* tokens.make({
    workspace: yield* fleetWorkspace,
    kind: "member",
    role: "owner",
    scopes: ["*"],
    purpose: "home"
  })
  return token
})

// Receivers on this machine are meant for trying things; a deployment opens no address by default.
const loopback = ["127.0.0.0/8", "::1/128"]

const whole = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* readSettings
    const environment = yield* Environment
    const isDemo = !settings.isConfigNamed && !existsSync(settings.configPath)
    yield* checkConfiguration({ path: settings.configPath, isRequired: settings.isConfigNamed }).pipe(
      Effect.provideService(Environment, {
        ...environment,
        ...ownBroker({ url: "nats://127.0.0.1:4222", passwordsFolder: settings.home }),
        [secretVariable]: demoSecretOf(environment)
      })
    )
    const receiver = isDemo ? yield* demoReceiver(settings, demoSecretOf(environment)) : undefined
    const configuration = Layer.unwrap(
      Effect.map(Effect.all([LocalWorld, BuiltPage]), ([world, { folder }]) =>
        Configuration.layer({
          path: settings.configPath,
          isRequired: settings.isConfigNamed,
          defaults: {
            WebhookDelivery: { AllowCidrs: loopback },
            Console: { Page: true, PageFolder: folder },
            ...localDefaults(world)
          },
          ...(receiver === undefined ? {} : { whenMissing: demoConfiguration(receiver) })
        })
      )
    )
    const nats = Layer.provideMerge(
      streams,
      NatsServer.layer({ folder: natsFolder(settings.home), port: settings.natsPort })
    )
    const code = Layer.effectDiscard(loadCode(settings, environment))
    return Layer.mergeAll(rolesHere, rolesApart, brokerFigures).pipe(
      Layer.provideMerge(keptStreams),
      Layer.provideMerge(processLayer()),
      Layer.provideMerge(configuration),
      Layer.provideMerge(trialPayers),
      Layer.provideMerge(roleEnvironment(environment)),
      // In parallel: the broker recovers its store and the chains start while the roles' code is loaded.
      Layer.provideMerge(Layer.mergeAll(nats, LocalWorld.layer(settings), BuiltPage.layer, code)),
      Layer.provideMerge(homeLock(settings.home))
    )
  })
)

const pagesFolder = join(import.meta.dirname, "../../.starling/cache/page")

/** The console's page; rebuilt after a change of it, in a second. */
class BuiltPage extends Context.Service<BuiltPage, { readonly folder: string }>()("starling/fleet/BuiltPage") {
  static readonly layer = Layer.effect(
    BuiltPage,
    Effect.tryPromise(() => buildPageOnce(pagesFolder)).pipe(
      Effect.catch((error) => Effect.as(Effect.logWarning("the console's page does not build", error), pagesFolder)),
      Effect.map((folder) => BuiltPage.of({ folder }))
    )
  )
}

/** A connection of `up` itself, as this user. */
const connectionAs = (user: string) =>
  Layer.unwrap(
    Effect.map(NatsServer, ({ url, passwordOf }) =>
      Nats.layerWith({ servers: [url], name: "up", user, password: Redacted.make(passwordOf(user)) })
    )
  )

/** Created before any role connects: no role can create or change a stream. */
const streams = Layer.effectDiscard(
  applyTopology(topology, { mode: "create", replicas: 1 }).pipe(
    Effect.provide(connectionAs(keeperUser).pipe(Layer.provide(Metrics.layerTest)))
  )
)

/** Recreates what disappears, and creates the streams of further lanes, which only the configuration names. */
const keptStreams = Layer.effectDiscard(
  Effect.gen(function* () {
    const lanes = (yield* Configuration).WebhookDelivery.Lanes
    const whole = topologyOf(lanes)
    if (lanes > 1) yield* applyTopology(whole, { mode: "create", replicas: 1 })
    yield* Effect.forkScoped(keepTopology({ topology: whole, replicas: 1 }))
  })
).pipe(Layer.provide(connectionAs(keeperUser).pipe(Layer.provide(Metrics.layerTest))))

// Roles that can crash in third-party code run in processes of their own.
const apart: ReadonlyArray<RoleName> = ["speech-synthesizer"]

/** The roles to run here, according to the unchecked file. */
const loadCode = ({ configPath }: FleetSettings, environment: Readonly<Record<string, string | undefined>>) =>
  Effect.flatMap(configuredParts(configPath, environment), ({ roles }) =>
    loadRoles(roleNames.filter((role) => roles.includes(role) && !apart.includes(role)))
  )

const rolesHere = Layer.unwrap(
  Effect.map(Configuration, ({ Fleet }) => rolesLayer(Fleet.Roles.filter((role) => !apart.includes(role))))
)

const rolesApart = Layer.unwrap(
  Effect.gen(function* () {
    const { Fleet } = yield* Configuration
    const environment = { ...(yield* Environment), [logFormatVariable]: logFormatOfChildren() }
    const { home } = yield* readSettings
    const [first, ...rest] = Fleet.Roles.filter((role) => apart.includes(role)).map((role) =>
      roleProcess(role, environment, home)
    )
    return first === undefined ? Layer.empty : Layer.mergeAll(first, ...rest)
  })
)

/** On one machine the broker has no exporter of its own, and nothing else checks its health. */
const brokerFigures = Layer.effectDiscard(
  Effect.gen(function* () {
    const { figures, writeError } = yield* NatsServer
    yield* (yield* MetricsSources).add(figures)
    yield* checkDisk(natsFolder((yield* readSettings).home))
    yield* (yield* Health).readiness(
      "broker",
      Effect.flatMap(writeError, (reason) => (reason === undefined ? Effect.void : Effect.fail(reason)))
    )
  })
)

const demoReceiver = Effect.fnUntraced(function* (settings: FleetSettings, secret: string) {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const show = (line: string) => void run(Effect.annotateLogs(Effect.logInfo(line), { part: "receiver" }))
  const start = (port: number) => startReceiver({ port, secret, show })
  const { url } = yield* start(settings.receiverPort).pipe(Effect.catch(() => start(0)))
  return url
})

/** Overrides any broker named by the file or the environment. */
const ownBroker = ({ url, passwordsFolder }: { readonly url: string; readonly passwordsFolder: string }) => ({
  BUS_URL: url,
  BUS_PASSWORDS_FOLDER: passwordsFolder,
  BUS_TOPOLOGY: "verify",
  BUS_REPLICAS: "1"
})

/** The environment of the roles: the embedded broker and their users on it, the demo secret, the settlers' keys. */
const roleEnvironment = (environment: Readonly<Record<string, string | undefined>>) =>
  Layer.effect(
    Environment,
    Effect.gen(function* () {
      const { url, passwordsFolder } = yield* NatsServer
      const keys = localKeys(yield* LocalWorld)
      return {
        ...environment,
        ...keys,
        ...ownBroker({ url, passwordsFolder }),
        [secretVariable]: demoSecretOf(environment)
      }
    })
  )

const trialPayers = Layer.effect(TrialPayers, Effect.map(LocalWorld, localPayers))

const onReady = (asJson: boolean) =>
  Effect.gen(function* () {
    const settings = yield* readSettings
    const ops = yield* OpsServer
    const nats = yield* NatsServer
    const token = yield* ownerTokenOf(settings)
    const addresses = yield* (yield* Addresses).all
    const pipeline = addresses.get("pipeline-api")
    const speech = addresses.get("speech-api")
    const gateway = addresses.get("model-gateway")
    const operators = addresses.get("console")
    const chains = chainsReport(yield* LocalWorld)
    const report: ReadyReport = {
      ...(pipeline === undefined ? {} : { pipeline }),
      ...(gateway === undefined ? {} : { gateway }),
      ...(speech === undefined ? {} : { speech }),
      ...(operators === undefined ? {} : { console: operators }),
      metrics: ops.url,
      nats: nats.url,
      natsCredentials: { user: serviceUser, pass: nats.passwordOf(serviceUser) },
      token,
      ...(chains === undefined ? {} : { chains })
    }
    // Other commands find the running fleet by this file.
    yield* writePrivately(`${settings.home}/ready.json`, `${JSON.stringify(report)}\n`)
    if (asJson) return void process.stdout.write(`${JSON.stringify(report)}\n`)
    const page = operators === undefined ? undefined : yield* pageAddress(operators, token)
    const { Fleet, ModelGateway } = yield* Configuration
    process.stdout.write(welcome(report, { page, roles: Fleet.Roles, models: ModelGateway.Models }))
  }).pipe(Effect.orDie)

/** As the operator of the embedded broker. */
const ownerTokenOf = ({ home }: FleetSettings) =>
  ownerToken(home).pipe(
    Effect.provide(
      Tokens.layer.pipe(
        Layer.provide(busServices),
        Layer.provide(connectionAs(operatorUser)),
        Layer.provide(Layer.succeed(Role, operatorUser))
      )
    )
  )

const answersWithin = "5 seconds"

/** The address that signs a browser in; undefined if the page is off, or a file turned it off. */
const pageAddress = (console: string, token: string) =>
  Effect.tryPromise(async (signal) => {
    const answer = await fetch(`${console}/session/codes`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ reason: "the fleet started" }),
      signal
    })
    const { code } = (await answer.json()) as { readonly code?: string }
    // A browser needs a name that this machine has.
    const named = console.replace(/\/\/(?:0\.0\.0\.0|\[::\])/u, "//localhost")
    return code === undefined ? undefined : `${named}/#code=${code}`
  }).pipe(
    Effect.timeout(answersWithin),
    Effect.orElseSucceed(() => undefined)
  )

export const up = ({ readyJson }: { readonly readyJson: boolean }): void => {
  runProgram({ layer: whole, onReady: onReady(readyJson) })
}
