/**
 * The door to URLs that somebody else chose: webhook receivers, images. Every connection is guarded; each
 * use opens its own private networks, or none.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { Metrics } from "#runtime"
import type { InvalidCidr } from "./errors.ts"
import { type DoorOptions, type HttpDoor, openDoor } from "./HttpDoor.ts"

export type UntrustedOptions = Omit<DoorOptions, "isGuarded">

export class UntrustedHttp extends Context.Service<
  UntrustedHttp,
  { readonly open: (options: UntrustedOptions) => Effect.Effect<HttpDoor, InvalidCidr, Scope.Scope> }
>()("starling/egress/UntrustedHttp") {
  static readonly layer = Layer.effect(
    UntrustedHttp,
    Effect.map(Metrics, (metrics) =>
      UntrustedHttp.of({
        open: (options) => openDoor({ ...options, isGuarded: true }).pipe(Effect.provideService(Metrics, metrics))
      })
    )
  )
}
