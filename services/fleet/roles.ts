/**
 * All roles, by name, and any of them in one process. Each has its own connection to the bus and its own name in logs
 * and metrics; health, drain, metrics registry and configuration are shared, and questions between them can bypass the
 * broker. A role's code is loaded when it runs: a process of one role carries nothing of the others. A new role is one
 * line here and one name in the configuration's list.
 */
import { Cause, Effect, Exit, Layer, Result, Scope } from "effect"
import { busLayer, BusUnavailable, localTransport } from "#bus"
import type { RoleName } from "#base"
import { ConfiguredHttp, otlpTransport, UntrustedHttp } from "#egress"
import {
  Addresses,
  buildInfo,
  Drain,
  Environment,
  Health,
  Metrics,
  MetricsRegistry,
  MetricsSources,
  minimumLevel,
  OpsServer,
  Role,
  runProgram,
  Tracing
} from "#runtime"
import { Configuration } from "#configuration"
import manifest from "../../package.json" with { type: "json" }
import { checkConfiguration } from "./configuration-check.ts"
import { readSettings } from "./home.ts"

const pipelineApi = Effect.promise(() => import("#pipeline-api"))
const webhookDispatcher = Effect.promise(() => import("#webhook-dispatcher"))
const sweeper = Effect.promise(() => import("#sweeper"))
const modelGateway = Effect.promise(() => import("#model-gateway"))
const speechApi = Effect.promise(() => import("#speech-api"))
const speechSequencer = Effect.promise(() => import("#speech-sequencer"))
const speechSynthesizer = Effect.promise(() => import("#speech-synthesizer"))
const paymentVerifier = Effect.promise(() => import("#payment-verifier"))
const paymentSettler = Effect.promise(() => import("#payment-settler"))
const operatorConsole = Effect.promise(() => import("#console"))

const roles = {
  "pipeline-api": Layer.unwrap(Effect.map(pipelineApi, (room) => room.pipelineApi)),
  "webhook-dispatcher": Layer.unwrap(Effect.map(webhookDispatcher, (room) => room.webhookDispatcher)),
  sweeper: Layer.unwrap(Effect.map(sweeper, (room) => room.sweeper)),
  "speech-api": Layer.unwrap(Effect.map(speechApi, (room) => room.speechApi)),
  "speech-sequencer": Layer.unwrap(Effect.map(speechSequencer, (room) => room.speechSequencer)),
  "speech-synthesizer": Layer.unwrap(Effect.map(speechSynthesizer, (room) => room.speechSynthesizer)),
  "model-gateway": Layer.unwrap(Effect.map(modelGateway, (room) => room.modelGateway)),
  "payment-verifier": Layer.unwrap(Effect.map(paymentVerifier, (room) => room.paymentVerifier)),
  "payment-settler": Layer.unwrap(Effect.map(paymentSettler, (room) => room.paymentSettler)),
  console: Layer.unwrap(Effect.map(operatorConsole, (room) => room.operatorConsole))
} as const satisfies Record<RoleName, unknown>

const loading: Readonly<Record<RoleName, Effect.Effect<unknown>>> = {
  "pipeline-api": pipelineApi,
  "webhook-dispatcher": webhookDispatcher,
  sweeper,
  "speech-api": speechApi,
  "speech-sequencer": speechSequencer,
  "speech-synthesizer": speechSynthesizer,
  "model-gateway": modelGateway,
  "payment-verifier": paymentVerifier,
  "payment-settler": paymentSettler,
  console: operatorConsole
}

/** Loads the code of roles ahead of time, while the start waits for something else. */
export const loadRoles = (names: ReadonlyArray<RoleName>) =>
  Effect.forEach(names, (name) => loading[name], { concurrency: "unbounded", discard: true })

/** The checks that a role can make of its own configuration; run before its bus is opened. */
const checks = {
  "webhook-dispatcher": Effect.flatMap(webhookDispatcher, (room) => room.checkWebhookDispatcher),
  "model-gateway": Effect.flatMap(modelGateway, (room) => room.checkModelGateway)
} as const

const bus = Layer.unwrap(Effect.map(Configuration, ({ WebhookDelivery }) => busLayer(WebhookDelivery.Lanes)))

const egress = Layer.mergeAll(UntrustedHttp.layer, ConfiguredHttp.layer)

const tracing = Layer.unwrap(
  Effect.gen(function* () {
    const { Telemetry } = yield* Configuration
    if (Telemetry.OtlpUrl === undefined) return Layer.empty
    return Tracing.layer(Telemetry.TraceSampleRatio).pipe(Layer.provide(otlpTransport(Telemetry.OtlpUrl)))
  })
)

const build = Layer.effectDiscard(
  Effect.gen(function* () {
    const commit = (yield* Environment)["STARLING_COMMIT"] ?? "unknown"
    const metrics = yield* Metrics
    metrics.gauge(buildInfo).set({ version: manifest.version, commit }, 1)
  })
)

type Roles = (typeof roles)[RoleName]
type RoleLayer = Layer.Layer<never, Layer.Error<Roles>, Layer.Services<Roles>>

const roleLayer = (name: RoleName) => {
  const role: RoleLayer = roles[name]
  return Layer.merge(build, patientStart(role)).pipe(
    Layer.provide(tracing),
    Layer.provide(bus),
    Layer.provide(egress),
    Layer.provide(Metrics.layer),
    Layer.provide(Layer.succeed(Role, name)),
    // Shared layers are built once by design; a role's own layers are not.
    Layer.fresh
  )
}

const opsServer = Layer.unwrap(
  Effect.map(Configuration, ({ Telemetry }) => OpsServer.layer({ host: Telemetry.Host, port: Telemetry.Port }))
)

const logLevel = Layer.unwrap(Effect.map(Configuration, ({ Telemetry }) => minimumLevel(Telemetry.LogLevel)))

/** A local settler takes payments directly from the gateway and the sweeper in its process. */
const localSettlers = (only?: ReadonlyArray<RoleName>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const names = only ?? (yield* Configuration).Fleet.Roles
      if (!names.includes("payment-settler")) return Layer.empty
      return (yield* Effect.promise(() => import("#payments"))).localSettlers
    })
  )

/** The services that the roles of a process share. Needs the configuration. */
export const processLayer = (only?: ReadonlyArray<RoleName>) =>
  Layer.mergeAll(opsServer, Drain.layer, logLevel, localTransport, localSettlers(only)).pipe(
    Layer.provideMerge(Layer.mergeAll(Health.layer, Addresses.layer, MetricsSources.layer)),
    Layer.provideMerge(Metrics.layer),
    Layer.provideMerge(MetricsRegistry.layer)
  )

/** The roles that the configuration names, or the given ones. A fault of the configuration fails at once. */
export const rolesLayer = (only?: ReadonlyArray<RoleName>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { Fleet } = yield* Configuration
      const names = only ?? Fleet.Roles
      if (names.includes("webhook-dispatcher")) yield* checks["webhook-dispatcher"]
      if (names.includes("model-gateway")) yield* checks["model-gateway"]
      const [first, ...rest] = names
      return first === undefined ? Layer.empty : Layer.mergeAll(roleLayer(first), ...rest.map(roleLayer))
    })
  )

const againAfter = "1 second"
// A cluster's servers restart and elect leaders within seconds. After more than a minute there is another cause.
const triesMax = 60

/**
 * Restarts a role while the broker is unavailable, as during a leader election; each try releases its resources first.
 * A process that ended instead would be restarted with growing delays, long after the broker is back.
 */
export const patientStart = <E, R>(role: Layer.Layer<never, E, R>): Layer.Layer<never, E, R> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      for (let tried = 1; ; tried += 1) {
        const attempt = yield* Scope.fork(scope)
        const built = yield* Effect.exit(Layer.buildWithScope(Layer.fresh(role), attempt))
        if (Exit.isSuccess(built)) return
        yield* Scope.close(attempt, built)
        const reason = unavailable(built.cause)
        if (reason === undefined || tried === triesMax) return yield* Effect.failCause(built.cause)
        yield* Effect.logWarning("starting again").pipe(Effect.annotateLogs({ reason }))
        yield* Effect.sleep(againAfter)
      }
    })
  )

const unavailable = (cause: Cause.Cause<unknown>) => {
  const error = Cause.findError(cause)
  return Result.isSuccess(error) && error.success instanceof BusUnavailable ? error.success.message : undefined
}

const configured = (roles: ReadonlyArray<RoleName>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { configPath, isConfigNamed } = yield* readSettings
      const source = { path: configPath, isRequired: isConfigNamed }
      yield* checkConfiguration(source, roles)
      return Configuration.layer(source)
    })
  )

const onReady = Effect.gen(function* () {
  const { url } = yield* OpsServer
  const addresses = yield* (yield* Addresses).all
  process.stdout.write(`${JSON.stringify({ metrics: url, ...Object.fromEntries(addresses) })}\n`)
})

interface RoleOrder {
  readonly names: ReadonlyArray<RoleName>
  readonly readyJson: boolean
}

/** Runs the named roles in this process, on a broker that runs elsewhere. This is a container's command. */
export const role = ({ names, readyJson }: RoleOrder): void => {
  const layer = rolesLayer(names).pipe(Layer.provideMerge(processLayer(names)), Layer.provideMerge(configured(names)))
  runProgram({ layer, format: "json", ...(readyJson ? { onReady } : {}) })
}
