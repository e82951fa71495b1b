/** Checks and reads the credentials of endpoints. A fault names a key, and repeats nothing of its value. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { Result, Schema } from "effect"
import {
  type CertificateFacts,
  Credentials,
  endpointIdOf,
  type EndpointRecord,
  type EndpointSettings
} from "#webhooks/contract"
import { type Fault, isoTime, secretFault } from "#base"
import type { SecretSeal } from "./seal.ts"

/** Credentials as used: none of them null. */
export interface OwnCredentials {
  readonly tlsCa?: string
  readonly tlsCertificate?: string
  readonly tlsKey?: string
  readonly oauthSecret?: string
  readonly oauthKey?: string
  readonly proxyPassword?: string
}

/** Adds credentials to those that an endpoint has; null removes one. */
export const withCredentials = (before: OwnCredentials, given: Credentials = {}): OwnCredentials =>
  Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, value]) => value !== null))

/** Faults of an endpoint's credentials, with the key of each as its path. `nowMs`: those that ended are faults too. */
export const credentialFaults = (all: OwnCredentials, nowMs?: number): ReadonlyArray<Fault> => {
  const ofPair =
    (all.tlsCertificate === undefined) === (all.tlsKey === undefined)
      ? []
      : [
          {
            path: all.tlsKey === undefined ? "tlsKey" : "tlsCertificate",
            message: "the certificate and its key come together"
          }
        ]
  const faults = [
    ...certificateFaults("tlsCa", all.tlsCa, nowMs),
    ...certificateFaults("tlsCertificate", all.tlsCertificate, nowMs),
    ...keyFaults("tlsKey", all.tlsKey),
    ...secretFaults("oauthSecret", all.oauthSecret),
    ...signingKeyFaults("oauthKey", all.oauthKey),
    ...secretFaults("proxyPassword", all.proxyPassword),
    ...ofPair
  ]
  return faults.length > 0 ? faults : contextFaults(all)
}

const block = /-----BEGIN ([A-Z0-9 ]{1,40})-----[A-Za-z0-9+/=\s]*-----END \1-----/gu

/** The certificates of a text, in its order. Fails with why they cannot be read. */
const certificatesOf = (pem: string): Result.Result<ReadonlyArray<X509Certificate>, string> => {
  const blocks = [...pem.matchAll(block)]
  if (blocks.length === 0 || pem.replaceAll(block, "").includes("-----")) return Result.fail("it is not PEM")
  if (blocks.some(([, label]) => label !== "CERTIFICATE")) return Result.fail("it holds more than certificates")
  return Result.try({
    try: () => blocks.map(([text]) => new X509Certificate(text)),
    catch: () => "it holds a certificate that cannot be read"
  })
}

const certificateFaults = (path: string, pem: string | undefined, nowMs: number | undefined): ReadonlyArray<Fault> => {
  if (pem === undefined) return []
  const read = certificatesOf(pem)
  if (Result.isFailure(read)) return [{ path, message: read.failure }]
  const ended = read.success.find(({ validToDate }) => nowMs !== undefined && validToDate.getTime() <= nowMs)
  return ended === undefined ? [] : [{ path, message: `the certificate of ${ended.subject} ended at ${endOf(ended)}` }]
}

const keyFaults = (path: string, pem: string | undefined): ReadonlyArray<Fault> =>
  pem === undefined || Result.isSuccess(readKey(pem))
    ? []
    : [{ path, message: "it is no private key as PEM without a password" }]

const secretFaults = (path: string, secret: string | undefined): ReadonlyArray<Fault> => {
  const fault = secret === undefined ? undefined : secretFault("password", secret)
  return fault === undefined ? [] : [{ path, message: fault.message }]
}

const signingKeyFaults = (path: string, pem: string | undefined): ReadonlyArray<Fault> => {
  const faults = keyFaults(path, pem)
  if (pem === undefined || faults.length > 0) return faults
  const key = readKey(pem)
  const isOne = Result.isSuccess(key) && jwtAlgorithm(key.success) !== undefined
  return isOne
    ? []
    : [{ path, message: "no JWT is signed with such a key: RSA of 2048 bits, P-256, P-384, P-521 or Ed25519" }]
}

const curveAlgorithms: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512"
}

/** The algorithm by which a key signs tokens (RFC 7518); undefined if by none. */
export const jwtAlgorithm = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined => {
  if (asymmetricKeyType === "ed25519") return "EdDSA"
  if (asymmetricKeyType === "ec") return curveAlgorithms[asymmetricKeyDetails?.namedCurve ?? ""]
  return asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048 ? "RS256" : undefined
}

type NeedsCredentials = Pick<EndpointSettings, "OAuthTokenUrl" | "OAuthMethod" | "ProxyUsername">

/** What the settings need and the credentials lack. */
export const lackingCredentials = (settings: NeedsCredentials, all: OwnCredentials): ReadonlyArray<Fault> => {
  const { OAuthTokenUrl, OAuthMethod, ProxyUsername } = settings
  const ofClient = OAuthMethod === "private_key_jwt" ? "oauthKey" : "oauthSecret"
  return [
    ...(OAuthTokenUrl === undefined || all[ofClient] !== undefined
      ? []
      : [{ path: ofClient, message: "OAuthTokenUrl needs it" }]),
    ...(ProxyUsername === undefined || all.proxyPassword !== undefined
      ? []
      : [{ path: "proxyPassword", message: "ProxyUsername needs it" }])
  ]
}

const readKey = (pem: string) => Result.try(() => createPrivateKey({ key: pem, format: "pem" }))

/** What only the two together show, and what TLS itself refuses, such as a key that is too short. */
const contextFaults = ({ tlsCa, tlsCertificate, tlsKey }: OwnCredentials): ReadonlyArray<Fault> => {
  const path = tlsCertificate === undefined ? "tlsCa" : "tlsCertificate"
  if (tlsCertificate !== undefined && tlsKey !== undefined) {
    const [first] = Result.getOrElse(certificatesOf(tlsCertificate), () => [])
    const key = readKey(tlsKey)
    if (Result.isSuccess(key) && first?.checkPrivateKey(key.success) === false) {
      return [{ path: "tlsKey", message: `it is not the key of the first certificate, which is of ${first.subject}` }]
    }
  }
  const made = Result.try({
    try: () => createSecureContext({ ca: tlsCa, cert: tlsCertificate, key: tlsKey }),
    catch: (cause) => (cause as NodeJS.ErrnoException).code ?? "unknown"
  })
  return Result.isSuccess(made) ? [] : [{ path, message: `TLS refuses it: ${made.failure}` }]
}

const endOf = ({ validToDate }: X509Certificate) => isoTime(validToDate.getTime())
const inOneLine = (name: string | undefined) => (name ?? "").replaceAll("\n", ", ")

/** Who the certificates are of, by whom, and until when. */
export const certificateFacts = (all: OwnCredentials): ReadonlyArray<CertificateFacts> =>
  (["tlsCertificate", "tlsCa"] as const).flatMap((credential) =>
    Result.getOrElse(certificatesOf(all[credential] ?? ""), () => []).map((one) => ({
      credential,
      subject: inOneLine(one.subject),
      issuer: inOneLine(one.issuer),
      endsAt: endOf(one)
    }))
  )

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Credentials))

/** The credentials of a record. Fails with why they cannot be opened. */
export const openCredentials = (
  { name, credentials }: EndpointRecord,
  seal: SecretSeal
): Result.Result<OwnCredentials, string> =>
  credentials === undefined || credentials === null
    ? Result.succeed({})
    : Result.flatMap(seal.open(endpointIdOf(name), credentials), (opened) =>
        Result.mapBoth(decode(opened), {
          onFailure: () => "they cannot be read",
          onSuccess: (all) => withCredentials({}, all)
        })
      )

/** Null without any. */
export const sealedCredentials = (name: string, all: OwnCredentials, seal: SecretSeal): string | null =>
  Object.keys(all).length === 0 ? null : seal.seal(endpointIdOf(name), JSON.stringify(all))
