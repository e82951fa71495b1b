/** What operators do to endpoints, without a console around it. */
import { Effect, Layer } from "effect"
import { Configuration } from "#configuration"
import { EventTypes } from "#events"
import { WebhookEndpoints } from "#webhooks"

/** With these keys of `WebhookDelivery` that seal secrets. */
export const operatorWith = (keys: Parameters<typeof WebhookEndpoints.layer>[0]) =>
  WebhookEndpoints.layer(keys).pipe(
    Layer.provide(Layer.unwrap(Effect.map(Configuration, ({ Events }) => EventTypes.layer(Events)))),
    Layer.provide(Configuration.layerOf({}))
  )

export const operator = operatorWith({})
