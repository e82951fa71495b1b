/**
 * Verifies a webhook by the headers of Standard Webhooks. Needs Web Crypto alone, which Node, Deno, Bun, browsers and
 * workers have; it compares in constant time.
 */

const toleranceSeconds = 300
const signaturesMax = 8
const keyBytesMin = 24
const keyBytesMax = 64
const textBytesMin = 16

/** Names in lower case, as Node gives them; or those of a Fetch request. */
export type WebhookHeaders =
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  | { readonly get: (name: string) => string | null }

/**
 * True when the body, exactly as it came, is from who holds the secret and was sent within five minutes of `nowSeconds`
 * (epoch). Nothing is, by a secret that is no key: `whsec_` without 24 to 64 bytes in base64 after it, or a text of fewer
 * than 16 bytes.
 */
export const verify = async (
  secret: string,
  headers: WebhookHeaders,
  body: Uint8Array | string,
  nowSeconds: number = Date.now() / 1_000
): Promise<boolean> => {
  const [id, timestamp] = [headerOf(headers, "webhook-id"), headerOf(headers, "webhook-timestamp")]
  if (id === "" || !/^\d{1,12}$/u.test(timestamp)) return false
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) return false
  const bytes = keyOf(secret)
  if (bytes === undefined) return false
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
  const signed = await new Blob([`${id}.${timestamp}.`, copyOf(body)]).arrayBuffer()
  // While a secret is rotated the header holds a signature by each, with a space between them.
  for (const one of headerOf(headers, "webhook-signature").split(" ").slice(0, signaturesMax)) {
    const given = one.startsWith("v1,") ? fromBase64(one.slice(3)) : undefined
    if (given !== undefined && (await crypto.subtle.verify("HMAC", key, given, signed))) return true
  }
  return false
}

const headerOf = (headers: WebhookHeaders, name: string): string => {
  const value = typeof headers.get === "function" ? headers.get(name) : (headers as Record<string, unknown>)[name]
  return typeof value === "string" ? value : ""
}

const keyOf = (secret: string) => {
  const isEncoded = secret.startsWith("whsec_")
  const key = isEncoded ? fromBase64(secret.slice("whsec_".length)) : copyOf(secret)
  if (key === undefined || secret.startsWith("v1,")) return undefined
  const isLongEnough = isEncoded ? key.length >= keyBytesMin && key.length <= keyBytesMax : key.length >= textBytesMin
  return isLongEnough ? key : undefined
}

const copyOf = (body: Uint8Array | string): Uint8Array<ArrayBuffer> =>
  typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body)

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    const bytes = atob(text)
    // Decoders skip what they cannot read, or stop there.
    return btoa(bytes) === text ? Uint8Array.from(bytes, (character) => character.charCodeAt(0)) : undefined
  } catch {
    return undefined
  }
}
