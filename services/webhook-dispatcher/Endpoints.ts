/** The configured endpoints, sorted by id. What is in here does not change while the process runs. */
import { Context, Effect, Layer } from "effect"
import { Configuration } from "#runtime"
import { type EndpointSettings, readEndpoints } from "./endpoint-settings.ts"

export class Endpoints extends Context.Service<
  Endpoints,
  {
    readonly all: ReadonlyArray<EndpointSettings>
    readonly byId: ReadonlyMap<string, EndpointSettings>
  }
>()("starling/webhook-dispatcher/Endpoints") {
  static readonly layer = Layer.effect(
    Endpoints,
    Effect.gen(function* () {
      const { Webhooks, WebhookDelivery } = yield* Configuration
      const all = yield* readEndpoints(Webhooks, WebhookDelivery.RetryAfterMaxSeconds * 1_000)
      return Endpoints.of({ all, byId: new Map(all.map((endpoint) => [endpoint.id, endpoint])) })
    })
  )
}
