/**
 * The headers of one attempt. Five are always or by configuration there; the others are additive: the
 * sequence of the event, the delivery that a redrive repeats, and the opt-in Standard Webhooks trio.
 */
import type { Delivery } from "#contracts"
import type { EndpointSettings } from "./endpoint-settings.ts"
import { signBody, standardWebhooksHeaders } from "./sign.ts"

export const requestHeaders = (
  endpoint: EndpointSettings,
  delivery: Delivery,
  body: Uint8Array,
  attemptAtMs: number
): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {
    "Content-Type": "application/json; charset=utf-8",
    "User-Agent": "Starling-Webhooks/1.1",
    "X-Service-Event": delivery.event,
    "X-Service-Delivery": delivery.deliveryId,
    "X-Service-Schema-Version": delivery.schemaVersion,
    "X-Service-Sequence": String(delivery.sequence)
  }
  if (endpoint.secret !== undefined) headers["X-Service-Signature"] = signBody(endpoint.secret, body)
  if (delivery.redriveOf !== undefined) headers["X-Service-Redrive-Of"] = delivery.redriveOf
  if (endpoint.standardWebhooksKey !== undefined) {
    Object.assign(
      headers,
      standardWebhooksHeaders(endpoint.standardWebhooksKey, delivery.deliveryId, attemptAtMs, body)
    )
  }
  return headers
}
