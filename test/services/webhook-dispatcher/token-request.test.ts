import { createPublicKey, generateKeyPairSync, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeEndpointSettings } from "#webhooks/contract"
import { credentialFaults } from "#webhooks"
import {
  type AccessToken,
  isOld,
  isUsable,
  isWorthAnother,
  oauthClientOf,
  readToken,
  tokenRequest
} from "../../../services/webhook-dispatcher/token-request.ts"

const nowMs = 1_795_176_000_000
const settingsOf = (changes: object = {}) =>
  decodeEndpointSettings({
    Name: "a",
    Url: "https://a.example/",
    OAuthTokenUrl: "https://tokens.example/token",
    OAuthClientId: "us",
    ...changes
  })
const clientOf = (changes: object = {}) => {
  const client = oauthClientOf(Result.getOrThrow(settingsOf(changes)))
  if (client === undefined) throw new Error("no client")
  return client
}
const answer = (status: number, body: unknown) => ({
  status,
  headers: {},
  body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
  truncated: false
})

describe("the settings of OAuth", () => {
  const [OAuthTokenUrl, OAuthClientId] = ["https://tokens.example/token", "us"]
  it.each<readonly [object, string]>([
    [{ OAuthTokenUrl }, "OAuthTokenUrl and OAuthClientId come together"],
    [{ OAuthClientId }, "OAuthTokenUrl and OAuthClientId come together"],
    [{ OAuthAudience: "x" }, "keys of OAuth need OAuthTokenUrl"],
    [
      { OAuthTokenUrl, OAuthClientId, Headers: { authorization: "Bearer x" } },
      "with OAuthTokenUrl, Authorization is not among Headers"
    ],
    [{ OAuthTokenUrl, OAuthClientId: "two words" }, "/OAuthClientId"],
    [{ OAuthTokenUrl, OAuthClientId, OAuthScopes: ['a"b'] }, "/OAuthScopes/0"],
    [{ OAuthTokenUrl: "ftp://tokens.example", OAuthClientId }, "/OAuthTokenUrl"]
  ])("that contradict each other or break their schema are refused: %j", (oauth, fault) => {
    const settings = decodeEndpointSettings({ Name: "a", Url: "https://a.example/", ...oauth })
    const [found] = Result.isFailure(settings) ? settings.failure : []
    assert.strictEqual(found?.path === "" ? found.message : found?.path, fault)
  })
})

describe("a request for a token", () => {
  it("encodes what basic authentication would break, as RFC 6749 says", () => {
    const { headers, body } = tokenRequest(clientOf({ OAuthClientId: "us&them" }), { oauthSecret: "a:b %+" }, nowMs)
    assert.strictEqual(atob(String(headers["Authorization"]).slice("Basic ".length)), "us%26them:a%3Ab+%25%2B")
    assert.strictEqual(body.toString(), "grant_type=client_credentials")
  })

  const keys = [
    ["RS256", generateKeyPairSync("rsa", { modulusLength: 2_048 }), "sha256"],
    ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" }), "sha256"],
    ["ES384", generateKeyPairSync("ec", { namedCurve: "P-384" }), "sha384"],
    ["ES512", generateKeyPairSync("ec", { namedCurve: "P-521" }), "sha512"],
    ["EdDSA", generateKeyPairSync("ed25519"), undefined]
  ] as const
  it.each(keys)("is signed with %s", (alg, { privateKey, publicKey }, hash) => {
    const oauthKey = privateKey.export({ type: "pkcs8", format: "pem" }) as string
    assert.isEmpty(credentialFaults({ oauthKey }))
    const client = clientOf({
      OAuthClientId: "us",
      OAuthMethod: "private_key_jwt",
      OAuthKid: "k1",
      OAuthScopes: ["s"]
    })
    const form = new URLSearchParams(tokenRequest(client, { oauthKey }, nowMs).body.toString())
    assert.strictEqual(form.get("client_assertion_type"), "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    const [head = "", claims = "", signature = ""] = (form.get("client_assertion") ?? "").split(".")
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>
    assert.deepStrictEqual(read(head), { alg, typ: "JWT", kid: "k1" })
    const { jti, ...rest } = read(claims)
    assert.isString(jti)
    const seconds = nowMs / 1_000
    const aud = "https://tokens.example/token"
    assert.deepStrictEqual(rest, { iss: "us", sub: "us", aud, iat: seconds, exp: seconds + 60 })
    const key = {
      key: createPublicKey(publicKey.export({ type: "spki", format: "pem" })),
      dsaEncoding: "ieee-p1363" as const
    }
    assert.isTrue(verify(hash, Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url")))
  })

  it.each([
    ["of a curve that no JWT has", generateKeyPairSync("ec", { namedCurve: "secp256k1" })],
    ["that is too short", generateKeyPairSync("rsa", { modulusLength: 1_024 })],
    ["that signs nothing", generateKeyPairSync("x25519")]
  ])("is made with no key %s", (_what, { privateKey }) => {
    const oauthKey = privateKey.export({ type: "pkcs8", format: "pem" }) as string
    assert.deepStrictEqual(
      credentialFaults({ oauthKey }).map(({ path }) => path),
      ["oauthKey"]
    )
  })
})

describe("a token server's answer", () => {
  it.each([
    [{ access_token: "t", token_type: "bearer", expires_in: 60 }, 60_000],
    [{ access_token: "t", expires_in: "60" }, 60_000],
    [{ access_token: "t", token_type: "Bearer" }, 300_000],
    [{ access_token: "t", expires_in: 0 }, 300_000],
    [{ access_token: "t", expires_in: 1e12 }, 86_400_000]
  ])("%j is a token for so long", (body, lifeMs) => {
    const token = Result.getOrThrow(readToken(answer(200, body), nowMs))
    assert.deepInclude(token, { token: "t", gotAtMs: nowMs, endsAtMs: nowMs + lifeMs })
  })

  it.each([
    [
      200,
      { access_token: "two\r\nlines", token_type: "bearer" },
      "its answer has no access_token that a header can carry"
    ],
    [200, { access_token: "", token_type: "bearer" }, "its answer has no access_token that a header can carry"],
    [200, { access_token: "t", token_type: "mac" }, "its token is no bearer token"],
    [200, "<html>", "its answer has no access_token that a header can carry"],
    [400, { error: "invalid_scope" }, "it answered 400 invalid_scope"],
    [
      401,
      { error: "invalid_client", error_description: "no such client" },
      "it answered 401 invalid_client: no such client"
    ],
    [503, "busy", "it answered 503"]
  ])("%i %j is none", (status, body, why) => {
    const read = readToken(answer(status, body), nowMs)
    assert.strictEqual(Result.isFailure(read) ? read.failure : "a token", why)
  })
})

describe("a token", () => {
  const of = (lifeMs: number): AccessToken => ({ id: "1", token: "t", gotAtMs: nowMs, endsAtMs: nowMs + lifeMs })
  it.each([
    [3_600_000, 3_540_000, 3_599_000, 5_000],
    [60_000, 45_000, 59_000, 5_000],
    [2_000, 1_500, 1_800, 1_000]
  ])("of %i ms is old after %i, unused after %i, and worth another after %i", (lifeMs, oldMs, unusedMs, worthMs) => {
    const token = of(lifeMs)
    assert.deepStrictEqual([isOld(token, nowMs + oldMs - 1), isOld(token, nowMs + oldMs)], [false, true])
    assert.deepStrictEqual([isUsable(token, nowMs + unusedMs - 1), isUsable(token, nowMs + unusedMs)], [true, false])
    assert.deepStrictEqual(
      [isWorthAnother(token, nowMs + worthMs - 1), isWorthAnother(token, nowMs + worthMs)],
      [false, true]
    )
  })
})
