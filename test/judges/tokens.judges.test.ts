/** An OAuth 2.0 provider of others as token server: each delivery of two dispatchers at its first attempt, one token a life. */
import { createPublicKey, generateKeyPairSync, type JsonWebKey, verify } from "node:crypto"
import { createServer, type RequestListener } from "node:http"
import { createRequire } from "node:module"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { WebhookEndpoints } from "#webhooks"
import { busOn } from "../../dev/fixtures/bus.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { operator } from "../support/operator.ts"
import { startRoleProcess } from "../support/role-process.ts"
import { arrived, attemptRecords, requestsTo, setUp, steadily } from "../support/webhooks.ts"
import { installed } from "./client-packages.ts"

const by = "tester"
const provider = await installed("oidc-provider", ["oidc-provider"])
const why = typeof provider === "string" ? ` (skipped: ${provider})` : ""

interface Provided {
  readonly callback: () => RequestListener
  readonly on: (event: string, note: (context: Granted) => void) => void
}
type Granted = { readonly oidc: { readonly client: { readonly clientId: string } } }
type Provider = new (issuer: string, configuration: object) => Provided

// Half a second of a slow machine is little of it.
const lifeSeconds = 6
const methods = ["client_secret_basic", "client_secret_post", "private_key_jwt"] as const
const secret = "a-secret-of-a-client"
const keys = generateKeyPairSync("ec", { namedCurve: "P-256" })

/** Named by the way in which they prove themselves. */
const clients = methods.map((method) => ({
  client_id: method,
  token_endpoint_auth_method: method,
  ...(method === "private_key_jwt"
    ? { jwks: { keys: [{ ...keys.publicKey.export({ format: "jwk" }), use: "sig" }] } }
    : { client_secret: secret }),
  grant_types: ["client_credentials"],
  response_types: [],
  redirect_uris: []
}))

const readPart = <A>(part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as A

/** Gives tokens of a short life, and notes when it gave each to whom. */
const startProvider = Effect.gen(function* () {
  const { folder } = provider as { readonly folder: string }
  const { default: Provider } = createRequire(join(folder, "of.js"))("oidc-provider") as { readonly default: Provider }
  const port = yield* Effect.promise(freePort)
  const issuer = `http://127.0.0.1:${port}`
  const provided = new Provider(issuer, {
    clients,
    scopes: ["hooks"],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:receiver",
        getResourceServerInfo: () => ({ scope: "hooks", accessTokenFormat: "jwt" })
      }
    },
    ttl: { ClientCredentials: lifeSeconds }
  })
  const given: Array<{ readonly client: string; readonly atMs: number }> = []
  provided.on("grant.success", ({ oidc }) => given.push({ client: oidc.client.clientId, atMs: performance.now() }))
  const listener = provided.callback()
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const { keys: known } = yield* Effect.promise(async () => {
    const response = await fetch(`${issuer}/jwks`)
    return (await response.json()) as { readonly keys: ReadonlyArray<JsonWebKey> }
  })
  const isGood = (token: string) => {
    const [head = "", claims = "", signature = ""] = token.split(".")
    const { kid } = readPart<{ readonly kid?: string }>(head)
    const key = createPublicKey({ key: known.find((each) => each["kid"] === kid) ?? {}, format: "jwk" })
    const { exp, aud, scope } = readPart<Readonly<Record<string, unknown>>>(claims)
    const isOurs = aud === "urn:receiver" && scope === "hooks" && Number(exp) > Date.now() / 1_000
    return isOurs && verify("sha256", Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url"))
  }
  return { tokenUrl: `${issuer}/token`, given, isGood }
})

describe.skipIf(why !== "")(`a receiver that takes tokens of oidc-provider${why}`, () => {
  it.live(
    "takes each delivery of two dispatchers at its first attempt, with one token a life, however we prove it",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        const tokens = yield* startProvider
        const path = (method: string) => `/${method}`
        for (const method of methods) {
          receiver.answer(path(method), () => {
            const { authorization } = receiver.requests.at(-1)?.headers ?? {}
            return tokens.isGood(String(authorization).slice("Bearer ".length)) ? 204 : 401
          })
        }
        // A slow machine gets less.
        const isBehind = (newest: number) =>
          methods.some((method) => newest - requestsTo(receiver, path(method)).length > 50)
        yield* Effect.gen(function* () {
          yield* startRoleProcess(server, "webhook-dispatcher")
          yield* startRoleProcess(server, "webhook-dispatcher")
          const at = yield* WebhookEndpoints
          for (const method of methods) {
            const settings = {
              Name: method,
              Url: receiver.url(path(method)),
              MaxAttempts: 5,
              InitialBackoffSeconds: 0.2,
              OAuthTokenUrl: tokens.tokenUrl,
              OAuthClientId: method,
              OAuthMethod: method,
              OAuthScopes: ["hooks"]
            }
            const key = keys.privateKey.export({ format: "pem", type: "pkcs8" }).toString()
            const credentials = method === "private_key_jwt" ? { oauthKey: key } : { oauthSecret: secret }
            yield* at.create({ settings, credentials, by })
          }
          // With three endpoints, a hundred deliveries a second.
          const steady = yield* steadily(35, isBehind)
          for (let life = 0; life < 4; life += 1) yield* steady.after(35 * lifeSeconds)
          const last = yield* steady.stop
          for (const method of methods) yield* arrived(receiver, path(method), last)
          const log = yield* eventually(attemptRecords, { is: (all) => all.length >= last * methods.length })
          assert.isEmpty(log.filter(({ outcome, attempt }) => outcome !== "delivered" || attempt !== 1))
          const delivered = new Set(log.map(({ endpoint, sequence }) => `${endpoint} ${sequence}`))
          assert.strictEqual(delivered.size, last * methods.length)
          for (const method of methods) {
            const atMs = tokens.given.filter(({ client }) => client === method).map((each) => each.atMs)
            assert.isAtLeast(atMs.length, 4)
            const spans = atMs.slice(1).map((each, index) => each - (atMs[index] ?? 0))
            // A life is counted in whole seconds there, so that it may be a second shorter. Two that each got one would do so at once.
            assert.isAtLeast(Math.min(...spans), (lifeSeconds - 1) * 1_000 * 0.9)
          }
        }).pipe(Effect.provide(operator.pipe(Layer.provideMerge(busOn(server)))))
      })
  )
})
