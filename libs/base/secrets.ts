/**
 * The requirements for a text to be a secret: one rule for each kind, for those from variables and files as well as
 * those in a request. No fault contains any part of the secret. Pure.
 */

/**
 * `signature` is the key of X-Service-Signature, `standardWebhooks` that of Standard Webhooks, `sealing` encrypts
 * stored data, `provider` and `proof` travel in a header. `password` belongs to another system, and `checked` has a
 * reader of its own.
 */
export type SecretKind = keyof typeof rules

export interface SecretFault {
  readonly message: string
  /** It cannot work, or is publicly known: nothing may start with it. Any other works today but is a bad secret. */
  readonly isNoSecret: boolean
}

/** Why a text is not a good secret of its kind; undefined for a good one. */
export const secretFault = (kind: SecretKind, secret: string): SecretFault | undefined => {
  if (secret.trim() === "") return { message: "it is empty", isNoSecret: true }
  if (kind !== "checked" && /[\r\n]$/u.test(secret)) {
    const without = secretFault(kind, secret.trimEnd())
    return without?.isNoSecret === true ? without : { message: "it ends with a line break", isNoSecret: false }
  }
  return rules[kind](secret)
}

const rules = {
  signature: (secret: string) =>
    isVisible(secret) && secret.length >= 16 && secret.length <= 256
      ? undefined
      : weak("a secret has 16 to 256 visible characters"),
  standardWebhooks: (secret: string) => {
    if (secret.startsWith("v1,")) return weak("v1, belongs to a signature: the secret begins with whsec_")
    if (!secret.startsWith(encodedPrefix)) {
      return isVisible(secret) && secret.length >= 24 && secret.length <= 64 ? undefined : weak(standard)
    }
    const encoded = secret.slice(encodedPrefix.length)
    const bytes = base64Bytes(encoded)
    if (bytes !== undefined && bytes >= 24 && bytes <= 64) return undefined
    return { message: standard, isNoSecret: !hasBytes(encoded) }
  },
  sealing: (secret: string) =>
    secret.length >= 16 ? undefined : weak("a key of fewer than 16 characters can be guessed"),
  provider: (secret: string) => (isSendable(secret) ? undefined : weak("no header can carry it: visible ASCII alone")),
  proof: (secret: string): SecretFault | undefined => {
    // Unguessable, however many tries an address is allowed.
    if (secret.length < 32) {
      return { message: "fewer than 32 characters: who guesses it is whoever they want", isNoSecret: true }
    }
    return isSendable(secret) ? undefined : weak("no header can carry it: visible ASCII alone")
  },
  password: (): SecretFault | undefined => undefined,
  checked: (): SecretFault | undefined => undefined
}

const encodedPrefix = "whsec_"
const standard = "neither whsec_ and 24 to 64 bytes in base64, nor 24 to 64 characters"

const weak = (message: string): SecretFault => ({ message, isNoSecret: false })
const isVisible = (text: string) => /^[\x21-\x7e]+$/u.test(text)
const isSendable = (text: string) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u.test(text)

/** How many bytes a text encodes as base64, in encoders' canonical form; undefined if it is not base64. */
const base64Bytes = (text: string): number | undefined => {
  try {
    const bytes = atob(text)
    return btoa(bytes) === text ? bytes.length : undefined
  } catch {
    return undefined
  }
}

// A decoder that skips what it cannot read finds a byte in two characters of either alphabet, and ends at the padding.
const hasBytes = (text: string) => (text.split("=", 1)[0] ?? "").replace(/[^A-Za-z0-9+/_-]/gu, "").length >= 2
