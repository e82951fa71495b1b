/**
 * The receivers' side of the egress: one guarded door for all endpoints, with the networks that this
 * deployment opens for webhooks. An endpoint never has more sockets than deliveries in work.
 */
import { Context, Effect, Layer } from "effect"
import { type HttpDoor, UntrustedHttp } from "#egress"
import { Configuration } from "#runtime"

// A receiver that does not take a connection in five seconds will not answer in ten.
const connectTimeoutMsMax = 5_000

// A kept pool of connections costs some 30 kB. Beyond this many endpoints the ones unused the longest reconnect.
const lanesMax = 4_096

export class Receivers extends Context.Service<Receivers, HttpDoor>()("starling/webhook-dispatcher/Receivers") {
  static readonly layer = Layer.effect(
    Receivers,
    Effect.gen(function* () {
      const { WebhookDelivery } = yield* Configuration
      if (WebhookDelivery.AllowCidrs.length > 0) {
        yield* Effect.logWarning("webhooks may be sent to private networks").pipe(
          Effect.annotateLogs({ allowCidrs: WebhookDelivery.AllowCidrs })
        )
      }
      return yield* (yield* UntrustedHttp).open({
        use: "webhooks",
        allowCidrs: WebhookDelivery.AllowCidrs,
        connectionsPerLaneMax: 1,
        lanesMax,
        connectTimeoutMs: connectTimeoutMsMax
      })
    })
  )
}
