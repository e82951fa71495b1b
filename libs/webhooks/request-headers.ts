/**
 * The headers of one attempt, signatures included. Five are fixed or configured. The others are additive: the sequence
 * of the event, the gap in an ordered key, the mark of a test, the delivery that a redrive repeats, the signature by the
 * previous secret, those of a CloudEvent, the opt-in Standard Webhooks trio, and the receiver's own.
 */
import { createHmac } from "node:crypto"
import type { DueDelivery } from "./deliveries.ts"
import type { Formatted } from "./delivery-format.ts"

/** An endpoint's signing settings: the newest key of each kind first. */
export interface Signing {
  readonly secrets: ReadonlyArray<SigningKey<string>>
  readonly standardWebhooksKeys: ReadonlyArray<SigningKey<Uint8Array>>
  /** The receiver's own. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

export const requestHeaders = (
  endpoint: Signing,
  { delivery, body, gap, contentHeaders }: Formatted<DueDelivery>,
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
  if (contentHeaders !== undefined) Object.assign(headers, contentHeaders)
  const [newest, previous] = endpoint.secrets
  if (newest !== undefined) headers["X-Service-Signature"] = signBody(newest.key, body)
  // The contract's header holds one value, so the previous secret signs in a header of its own.
  if (previous !== undefined && isValid(previous, attemptAtMs)) {
    headers["X-Service-Signature-Previous"] = signBody(previous.key, body)
  }
  if (gap !== undefined) headers["X-Service-Gap"] = String(gap)
  if (delivery.isTest === true) headers["X-Service-Test"] = "true"
  if (delivery.redriveOf !== undefined) headers["X-Service-Redrive-Of"] = delivery.redriveOf
  if (endpoint.standardWebhooksKeys.length > 0) {
    const keys = endpoint.standardWebhooksKeys.filter((key) => isValid(key, attemptAtMs)).map(({ key }) => key)
    Object.assign(headers, standardWebhooksHeaders(keys, { deliveryId: delivery.deliveryId, attemptAtMs, body }))
  }
  return endpoint.headers === undefined ? headers : Object.assign(headers, endpoint.headers)
}

/** A key, and how long it signs: the newest forever, the previous one until it expires. */
export interface SigningKey<A> {
  readonly key: A
  /** Epoch milliseconds; null for the newest. */
  readonly notAfterMs: number | null
}

const isValid = ({ notAfterMs }: SigningKey<unknown>, nowMs: number) => notAfterMs === null || nowMs < notAfterMs

/** HMAC-SHA256 over the exact bytes sent: `sha256=<lower-case hex>`. */
export const signBody = (secret: string, body: Uint8Array): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`

/** The key bytes of a Standard Webhooks secret: base64 after `whsec_`, otherwise the text itself. */
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
 * receiver can refuse a stale copy. Each key adds one signature to the list.
 */
export const standardWebhooksHeaders = (
  keys: ReadonlyArray<Uint8Array>,
  { deliveryId, attemptAtMs, body }: SignedAttempt
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(attemptAtMs / 1_000))
  const sign = (key: Uint8Array) =>
    `v1,${createHmac("sha256", key).update(`${deliveryId}.${timestamp}.`).update(body).digest("base64")}`
  return { "webhook-id": deliveryId, "webhook-timestamp": timestamp, "webhook-signature": keys.map(sign).join(" ") }
}
