/**
 * How endpoints' secrets are kept on the bus: sealed with AES-256-GCM when the configuration names a key, otherwise
 * only encoded, so that they are not read by accident. A seal is bound to its endpoint.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { Result } from "effect"

export interface SecretSeal {
  readonly seal: (endpointId: string, secret: string) => string
  /** Fails with why it cannot be opened. */
  readonly open: (endpointId: string, sealed: string) => Result.Result<string, string>
  /** Whether it is sealed as a new one would be. */
  readonly isCurrent: (endpointId: string, sealed: string) => boolean
}

const algorithm = "aes-256-gcm"
const ivBytes = 12
const tagBytes = 16
const plain = "plain:"
const encrypted = "aes-256-gcm:"

/** Whether a value of the bus is only encoded. */
export const isPlain = (sealed: string) => sealed.startsWith(plain)

/** `previousKey` opens what was sealed before the key was changed. */
export const secretSeal = (secretKey: string | undefined, previousKey?: string): SecretSeal => {
  const keys = [secretKey, previousKey].flatMap((one) => (one === undefined ? [] : [keyOf(one)]))
  const key = secretKey === undefined ? undefined : keys[0]
  const openBy = (by: Buffer, id: string, sealed: string) =>
    Result.try({
      try: () => decrypt(by, id, sealed.slice(encrypted.length)),
      catch: () => "it is sealed with another key"
    })
  return {
    seal: (id, secret) =>
      key === undefined ? plain + encode(Buffer.from(secret)) : encrypted + encrypt(key, id, secret),
    open: (id, sealed) => {
      if (isPlain(sealed)) return Result.succeed(decode(sealed.slice(plain.length)).toString("utf8"))
      if (!sealed.startsWith(encrypted)) return Result.fail("it is sealed in an unknown way")
      const [first, ...others] = keys
      if (first === undefined) return Result.fail("it is sealed, and SecretsKeyEnvVar names no key")
      return others.reduce(
        (opened, by) => (Result.isSuccess(opened) ? opened : openBy(by, id, sealed)),
        openBy(first, id, sealed)
      )
    },
    isCurrent: (id, sealed) =>
      key === undefined ? isPlain(sealed) : !isPlain(sealed) && Result.isSuccess(openBy(key, id, sealed))
  }
}

const keyOf = (secretKey: string) => Buffer.from(hkdfSync("sha256", secretKey, "", "starling webhook secrets", 32))

const encode = (bytes: Buffer) => bytes.toString("base64url")
const decode = (text: string) => Buffer.from(text, "base64url")

const encrypt = (key: Buffer, endpointId: string, secret: string) => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(endpointId))
  const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()])
  return encode(Buffer.concat([iv, cipher.getAuthTag(), body]))
}

const decrypt = (key: Buffer, endpointId: string, sealed: string) => {
  const bytes = decode(sealed)
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(endpointId)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString("utf8")
}
