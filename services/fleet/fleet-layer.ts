/**
 * Roles in one process: each with its own connection to the bus, its own name in logs and metrics; health,
 * drain, metrics registry and configuration are shared, and what one asks another need not pass the broker. One role
 * alone is the same with a shorter list.
 */
import { Effect, Layer } from "effect"
import { busLayer, localTransport } from "#bus"
import type { RoleName } from "#contracts"
import { ConfiguredHttp, otlpTransport, UntrustedHttp } from "#egress"
import {
  Addresses,
  Configuration,
  Drain,
  Health,
  Metrics,
  MetricsRegistry,
  minimumLevel,
  OpsServer,
  Role,
  Tracing
} from "#runtime"
import { localSettlers } from "#x402"
import { patientStart } from "./patient-start.ts"
import { checks, roles } from "./roles.ts"

const egress = Layer.mergeAll(UntrustedHttp.layer, ConfiguredHttp.layer)

const tracing = Layer.unwrap(
  Effect.gen(function* () {
    const { Telemetry } = yield* Configuration
    if (Telemetry.OtlpUrl === undefined) return Layer.empty
    return Tracing.layer(Telemetry.TraceSampleRatio).pipe(Layer.provide(otlpTransport(Telemetry.OtlpUrl)))
  })
)

type Roles = (typeof roles)[RoleName]
type RoleLayer = Layer.Layer<never, Layer.Error<Roles>, Layer.Services<Roles>>

const roleLayer = (name: RoleName) => {
  const role: RoleLayer = roles[name]
  return patientStart(role).pipe(
    Layer.provide(tracing),
    Layer.provide(busLayer),
    Layer.provide(egress),
    Layer.provide(Metrics.layer),
    Layer.provide(Layer.succeed(Role, name)),
    // Shared pieces are built once by design; what belongs to a role is not.
    Layer.fresh
  )
}

const opsServer = Layer.unwrap(
  Effect.map(Configuration, ({ Telemetry }) => OpsServer.layer({ host: Telemetry.Host, port: Telemetry.Port }))
)

const logLevel = Layer.unwrap(Effect.map(Configuration, ({ Telemetry }) => minimumLevel(Telemetry.LogLevel)))

/** What the roles of a process share. Needs the configuration. */
export const processLayer = Layer.mergeAll(opsServer, Drain.layer, logLevel, localTransport, localSettlers).pipe(
  Layer.provideMerge(Layer.mergeAll(Health.layer, Addresses.layer)),
  Layer.provideMerge(Metrics.layer),
  Layer.provideMerge(MetricsRegistry.layer)
)

/** The roles that the configuration names, or those given. A fault of the configuration is told at once. */
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
