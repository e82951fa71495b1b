/**
 * The headers of one attempt, signatures included. Five are fixed or configured. The others are additive: the sequence
 * of the event, the delivery that a redrive repeats, and the opt-in Standard Webhooks trio.
 */
import { createHmac } from "node:crypto"
import type { DueDelivery } from "#webhooks"
import type { EndpointSettings } from "./endpoints.ts"

export const requestHeaders = (
  endpoint: EndpointSettings,
  { delivery, body }: DueDelivery,
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
      standardWebhooksHeaders(endpoint.standardWebhooksKey, { deliveryId: delivery.deliveryId, attemptAtMs, body })
    )
  }
  return headers
}

/** HMAC-SHA256 over the exact bytes that are sent: `sha256=<lower-case hex>`. */
export const signBody = (secret: string, body: Uint8Array): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`

/** The key bytes of a Standard Webhooks secret: base64 after `whsec_`, else the text itself. */
export const standardWebhooksKey = (secret: string): Uint8Array =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret, "utf8")

interface SignedAttempt {
  readonly deliveryId: string
  /** Epoch milliseconds. */
  readonly attemptAtMs: number
  readonly body: Uint8Array
}

/**
 * The three headers of Standard Webhooks 1.0. They also cover the delivery id and the time of the attempt, so that a
 * receiver can refuse an old copy.
 */
export const standardWebhooksHeaders = (
  key: Uint8Array,
  { deliveryId, attemptAtMs, body }: SignedAttempt
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(attemptAtMs / 1_000))
  const digest = createHmac("sha256", key).update(`${deliveryId}.${timestamp}.`).update(body).digest("base64")
  return { "webhook-id": deliveryId, "webhook-timestamp": timestamp, "webhook-signature": `v1,${digest}` }
}
