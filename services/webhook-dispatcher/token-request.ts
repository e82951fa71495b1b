/**
 * The request for an access token by client credentials (RFC 6749, 4.4), and its answer. A client proves itself with a
 * secret (RFC 6749, 2.3.1) or with a token that it signs (RFC 7523). Pure but for the signature's time and id.
 */
import { createHash, createPrivateKey, randomUUID, sign } from "node:crypto"
import { Result, Schema } from "effect"
import type { EgressResponse } from "#egress"
import { jwtAlgorithm, type OwnCredentials } from "#webhooks"
import type { EndpointSettings } from "#webhooks/contract"

/** Who we are to a token server, and what we ask it for. */
export interface OAuthClient {
  readonly tokenUrl: string
  readonly clientId: string
  readonly method: NonNullable<EndpointSettings["OAuthMethod"]>
  readonly keyId: string | undefined
  readonly scopes: ReadonlyArray<string>
  readonly audience: string | undefined
  /** The same for all that get the same tokens. */
  readonly fingerprint: string
}

export const oauthClientOf = (settings: EndpointSettings): OAuthClient | undefined => {
  const {
    OAuthTokenUrl: tokenUrl,
    OAuthClientId: clientId,
    OAuthScopes: scopes = [],
    OAuthAudience: audience
  } = settings
  if (tokenUrl === undefined || clientId === undefined) return undefined
  const asked = JSON.stringify([tokenUrl, clientId, scopes, audience])
  return {
    tokenUrl,
    clientId,
    method: settings.OAuthMethod ?? "client_secret_basic",
    keyId: settings.OAuthKid,
    scopes,
    audience,
    fingerprint: createHash("sha256").update(asked).digest("base64url")
  }
}

export const tokenRequest = (client: OAuthClient, credentials: OwnCredentials, nowMs: number) => {
  const { clientId, method, scopes, audience } = client
  const { oauthSecret = "", oauthKey = "" } = credentials
  const form = new URLSearchParams({ grant_type: "client_credentials" })
  if (scopes.length > 0) form.set("scope", scopes.join(" "))
  if (audience !== undefined) form.set("audience", audience)
  const headers: Record<string, string> = {
    "Content-Type": "application/x-www-form-urlencoded",
    Accept: "application/json"
  }
  if (method === "client_secret_basic") {
    headers["Authorization"] = `Basic ${btoa(`${formEncoded(clientId)}:${formEncoded(oauthSecret)}`)}`
  } else {
    form.set("client_id", clientId)
    if (method === "client_secret_post") form.set("client_secret", oauthSecret)
    else {
      form.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      form.set("client_assertion", assertion(client, oauthKey, nowMs))
    }
  }
  return { headers, body: Buffer.from(form.toString()) }
}

const formEncoded = (text: string) => new URLSearchParams({ text }).toString().slice("text=".length)

// Long enough for clocks that differ, short enough to be of no use to who finds it.
const assertionSeconds = 60

const hashes: Readonly<Record<string, string>> = { RS256: "sha256", ES256: "sha256", ES384: "sha384", ES512: "sha512" }

const assertion = ({ clientId, tokenUrl, keyId }: OAuthClient, pem: string, nowMs: number): string => {
  const key = createPrivateKey(pem)
  const alg = jwtAlgorithm(key) ?? ""
  const nowSeconds = Math.floor(nowMs / 1_000)
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: tokenUrl,
    jti: randomUUID(),
    iat: nowSeconds,
    exp: nowSeconds + assertionSeconds
  }
  const head = { alg, typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) }
  const signed = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  const signature = sign(hashes[alg], Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" })
  return `${signed}.${signature.toString("base64url")}`
}

export interface AccessToken {
  /** Ours, to tell one from the next. */
  readonly id: string
  readonly token: string
  readonly gotAtMs: number
  readonly endsAtMs: number
}

const Answer = Schema.fromJsonString(
  Schema.Struct({
    access_token: Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,16384}$/u)),
    token_type: Schema.optionalKey(Schema.String),
    expires_in: Schema.optionalKey(Schema.Union([Schema.Finite, Schema.FiniteFromString]))
  })
)
const decodeAnswer = Schema.decodeUnknownResult(Answer)

const Refusal = Schema.fromJsonString(
  Schema.Struct({ error: Schema.String, error_description: Schema.optionalKey(Schema.String) })
)
const decodeRefusal = Schema.decodeUnknownResult(Refusal)

// A server that does not say how long a token lives is asked again soon.
const lifeSecondsDefault = 300
const lifeSecondsMax = 86_400
const refusalCharactersMax = 200

/** The token of an answer, or why there is none, without what the answer repeats of the request. */
export const readToken = (
  { status, body, truncated }: EgressResponse,
  gotAtMs: number
): Result.Result<AccessToken, string> => {
  const text = new TextDecoder().decode(body)
  if (status !== 200) {
    const refusal = Result.getOrUndefined(decodeRefusal(text))
    const why = refusal === undefined ? "" : [refusal.error, refusal.error_description].filter(Boolean).join(": ")
    return Result.fail(`it answered ${status} ${why}`.trim().slice(0, refusalCharactersMax))
  }
  if (truncated) return Result.fail("its answer is too long")
  const answer = decodeAnswer(text)
  if (Result.isFailure(answer)) return Result.fail("its answer has no access_token that a header can carry")
  const { access_token: token, token_type: type = "Bearer", expires_in: given = lifeSecondsDefault } = answer.success
  if (type.toLowerCase() !== "bearer") return Result.fail("its token is no bearer token")
  const lifeSeconds = given > 0 ? Math.min(given, lifeSecondsMax) : lifeSecondsDefault
  return Result.succeed({ id: randomUUID(), token, gotAtMs, endsAtMs: gotAtMs + Math.floor(lifeSeconds * 1_000) })
}

const renewedBeforeMsMax = 60_000
const renewedBeforeShare = 0.25
const unusedBeforeMsMax = 1_000
const unusedBeforeShare = 0.1

const lifeMs = ({ gotAtMs, endsAtMs }: AccessToken) => endsAtMs - gotAtMs

/** Whether it can be sent; a little before its end it may end on the way. */
export const isUsable = (token: AccessToken, nowMs: number) =>
  nowMs < token.endsAtMs - Math.min(unusedBeforeMsMax, lifeMs(token) * unusedBeforeShare)

/** Whether the next one is to be got, while this one is used. */
export const isOld = (token: AccessToken, nowMs: number) =>
  nowMs >= token.endsAtMs - Math.min(renewedBeforeMsMax, lifeMs(token) * renewedBeforeShare)

// A receiver that refuses every token has us get no more than one in this time.
const refusedAgainMs = 5_000

/** Whether a token that a receiver refused is worth another. */
export const isWorthAnother = (token: AccessToken, nowMs: number) =>
  nowMs - token.gotAtMs >= Math.min(refusedAgainMs, lifeMs(token) / 2)
