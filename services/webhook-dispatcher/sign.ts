/**
 * Signatures of a body. The main one is HMAC-SHA256 over the raw bytes, `sha256=` and lower-case hex. The
 * second one, opt-in per endpoint, follows Standard Webhooks 1.0: it also covers the delivery id and the
 * time of the attempt, so that a receiver can refuse an old copy.
 */
import { createHmac } from "node:crypto"

/** `sha256=<lower-case hex>` over the exact bytes that are sent. */
export const signBody = (secret: string, body: Uint8Array): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`

/** The key bytes of a Standard Webhooks secret: base64 after `whsec_`, else the text itself. */
export const standardWebhooksKey = (secret: string): Uint8Array =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret, "utf8")

/** The three Standard Webhooks headers for one attempt. `attemptAtMs` is epoch milliseconds. */
export const standardWebhooksHeaders = (
  key: Uint8Array,
  deliveryId: string,
  attemptAtMs: number,
  body: Uint8Array
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(attemptAtMs / 1_000))
  const digest = createHmac("sha256", key).update(`${deliveryId}.${timestamp}.`).update(body).digest("base64")
  return { "webhook-id": deliveryId, "webhook-timestamp": timestamp, "webhook-signature": `v1,${digest}` }
}
