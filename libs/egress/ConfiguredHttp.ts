/**
 * The door to URLs that the operator configured: upstreams, chains, collectors. Deadlines and caps as
 * everywhere, but no address guard: they are meant to stand on private networks.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { Metrics } from "#runtime"
import { type DoorOptions, type HttpDoor, openDoor } from "./HttpDoor.ts"

export type ConfiguredOptions = Omit<DoorOptions, "isGuarded" | "allowCidrs">

export class ConfiguredHttp extends Context.Service<
  ConfiguredHttp,
  { readonly open: (options: ConfiguredOptions) => Effect.Effect<HttpDoor, never, Scope.Scope> }
>()("starling/egress/ConfiguredHttp") {
  static readonly layer = Layer.effect(
    ConfiguredHttp,
    Effect.map(Metrics, (metrics) =>
      ConfiguredHttp.of({
        open: (options) =>
          openDoor({ ...options, isGuarded: false, allowCidrs: [] }).pipe(
            Effect.provideService(Metrics, metrics),
            // Without networks there is none that could be unreadable.
            Effect.orDie
          )
      })
    )
  )
}
