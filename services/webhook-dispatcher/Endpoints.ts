/** The configured endpoints, sorted by id. What is in here does not change while the process runs. */
import { Context, Effect, Layer } from "effect"
import { unknownFilterNames } from "#contracts"
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
      const all = yield* configuredEndpoints
      for (const { Name, EventFilter } of (yield* Configuration).Webhooks) {
        const unknown = unknownFilterNames(EventFilter)
        if (unknown.length === 0) continue
        yield* Effect.logWarning("an EventFilter names events that are not in the catalogue").pipe(
          Effect.annotateLogs({ endpoint: Name, unknown })
        )
      }
      return Endpoints.of({ all, byId: new Map(all.map((endpoint) => [endpoint.id, endpoint])) })
    })
  )
}

/** Fails with every fault of every endpoint; asks nobody, so it can be known before the broker answers. */
export const configuredEndpoints = Effect.gen(function* () {
  const { Webhooks, WebhookDelivery } = yield* Configuration
  return yield* readEndpoints(Webhooks, WebhookDelivery.RetryAfterMaxSeconds * 1_000)
})
