/** What operators do to endpoints, without a console around it. */
import { Effect, Layer } from "effect"
import { Configuration } from "#configuration"
import { EventTypes } from "#events"
import { WebhookEndpoints } from "#webhooks"

export const operator = WebhookEndpoints.layer({}).pipe(
  Layer.provide(Layer.unwrap(Effect.map(Configuration, ({ Events }) => EventTypes.layer(Events)))),
  Layer.provide(Configuration.layerOf({}))
)
