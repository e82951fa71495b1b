import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Metrics } from "#runtime"
import { WebhookEndpoints } from "#webhooks"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import type { TestReceiver } from "../../support/receiver.ts"
import { startTokenServer, type TokenServer } from "../../support/token-server.ts"
import { arrived, attemptRecords, publish, publishMany, requestsTo, setUp, steadily } from "../../support/webhooks.ts"
import { operator } from "../../support/operator.ts"

const secret = "a-secret-of-the-client"
const environment = { CLIENT_SECRET: secret }
const endpointOf = (receiver: TestReceiver, server: TokenServer) => ({
  Name: "bank",
  Url: receiver.url("/bank"),
  InitialBackoffSeconds: 0.2,
  OAuthTokenUrl: server.url,
  OAuthClientId: "us",
  OAuthSecretEnvVar: "CLIENT_SECRET",
  OAuthScopes: ["hooks", "more"]
})

/** Takes what has a good token, and nothing else. */
const guard = (receiver: TestReceiver, server: TokenServer) =>
  receiver.answer("/bank", () => {
    const { authorization } = requestsTo(receiver, "/bank").at(-1)?.headers ?? {}
    return server.isGood(authorization) ? 204 : 401
  })

const attemptsOver = (count: number) => eventually(attemptRecords, { is: (log) => log.length >= count })

describe("a receiver that asks for access tokens", () => {
  it.live("gets every delivery at its first attempt while tokens end and are revoked, from two dispatchers", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const tokens = yield* startTokenServer(3)
      guard(receiver, tokens)
      const options = { endpoints: [endpointOf(receiver, tokens)], environment }
      yield* whileDispatching(
        server,
        options,
        whileDispatching(
          server,
          options,
          Effect.gen(function* () {
            yield* publishMany("work_item.merged", 50)
            yield* arrived(receiver, "/bank", 50)
            // Both need one at the same moment, and one of them gets it.
            assert.lengthOf(tokens.requests, 1)
            const steady = yield* steadily()
            yield* steady.after(800)
            tokens.revoke()
            yield* steady.after(200)
            tokens.revoke()
            yield* steady.after(200)
            const last = yield* steady.stop
            const log = yield* attemptsOver(last)
            assert.isEmpty(log.filter(({ outcome, attempt }) => outcome !== "delivered" || attempt !== 1))
            const ids = log.map(({ deliveryId }) => deliveryId)
            assert.lengthOf([...new Set(ids)], last)
            // Renewed by one of them each time, whatever the machine's pace.
            const asked = tokens.requests.length
            assert.isAbove(asked, 4)
            assert.isBelow(asked, 30)
            assert.strictEqual(
              tokens.requests[0]?.authorization,
              `Basic ${Buffer.from(`us:${secret}`).toString("base64")}`
            )
            assert.deepStrictEqual(Object.fromEntries(tokens.requests[0]?.form ?? []), {
              grant_type: "client_credentials",
              scope: "hooks more"
            })
          })
        )
      )
    })
  )

  it.live("is retried as one that is away while there is no token, and the log says why, without secrets", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const tokens = yield* startTokenServer(60)
      tokens.refusal = {
        status: 401,
        body: JSON.stringify({ error: "invalid_client", error_description: `not ${secret}` })
      }
      // It repeats what it got.
      receiver.answer("/bank", (nth) => (response) => {
        const { authorization = "" } = requestsTo(receiver, "/bank").at(-1)?.headers ?? {}
        response.writeHead(nth < 2 ? 500 : 204, { "X-Echo": authorization }).end(authorization)
      })
      yield* whileDispatching(
        server,
        { endpoints: [{ ...endpointOf(receiver, tokens), MaxAttempts: 10 }], environment },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          const [refused] = yield* attemptsOver(2)
          assert.strictEqual(
            refused?.["error"],
            `TokenUnavailable: no access token from ${tokens.url}: it answered 401 invalid_client: not <redacted>`
          )
          assert.lengthOf(requestsTo(receiver, "/bank"), 0)
          tokens.refusal = undefined
          const log = yield* eventually(attemptRecords, {
            is: (all) => all.some(({ outcome }) => outcome === "delivered")
          })
          const failed = log.find(({ status }) => status === 500)
          assert.strictEqual(failed?.["responseBody"], "Bearer <redacted>")
          assert.include(JSON.stringify(failed?.["requestHeaders"]), '"Authorization":"[configured]"')
          const written = JSON.stringify([log, yield* (yield* Metrics).text])
          for (const hidden of [secret, ...tokens.tokens]) assert.notInclude(written, hidden)
        })
      )
    })
  )

  it.live("that refuses every token has us get few, and its attempts fail", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const tokens = yield* startTokenServer(60)
      receiver.answer("/bank", () => 401)
      yield* whileDispatching(
        server,
        { endpoints: [endpointOf(receiver, tokens)], environment },
        Effect.gen(function* () {
          yield* publishMany("work_item.merged", 10)
          const log = yield* attemptsOver(30)
          assert.isTrue(log.every(({ status }) => status === 401))
          assert.isAtMost(tokens.requests.length, 2)
        })
      )
    })
  )

  it.live("is served by an endpoint made at run time, whose credentials are asked for and sealed", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const tokens = yield* startTokenServer(60)
      guard(receiver, tokens)
      yield* whileDispatching(
        server,
        { endpoints: [] },
        Effect.gen(function* () {
          const at = yield* WebhookEndpoints
          const { OAuthSecretEnvVar: _, ...settings } = endpointOf(receiver, tokens)
          const post = { ...settings, OAuthMethod: "client_secret_post", OAuthAudience: "the-bank" }
          const missing = yield* Effect.flip(at.create({ settings: post, by: "tester" }))
          assert.include(missing.message, "/Credentials/oauthSecret: OAuthTokenUrl needs it")
          yield* at.create({ settings: post, credentials: { oauthSecret: secret }, by: "tester" })
          yield* publish("work_item.merged")
          yield* arrived(receiver, "/bank", 1)
          assert.deepStrictEqual(Object.fromEntries(tokens.requests[0]?.form ?? []), {
            grant_type: "client_credentials",
            scope: "hooks more",
            audience: "the-bank",
            client_id: "us",
            client_secret: secret
          })
        }).pipe(Effect.provide(operator))
      )
    })
  )

  it.live("gets none from a token server in a network that may not be called", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const tokens = yield* startTokenServer(60)
      const endpoint = { ...endpointOf(receiver, tokens), OAuthTokenUrl: "http://10.1.2.3/token", MaxAttempts: 1 }
      yield* whileDispatching(
        server,
        { endpoints: [endpoint], environment },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          const [refused] = yield* attemptsOver(1)
          assert.include(String(refused?.["error"]), "AddressRefused: 10.1.2.3 is 10.1.2.3, in the range private")
        })
      )
    })
  )
})
