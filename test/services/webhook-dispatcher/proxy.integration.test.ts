import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { WebhookEndpoints } from "#webhooks"
import { whileDispatching } from "../../support/dispatcher.ts"
import { startForwardProxy } from "../../support/forward-proxy.ts"
import { operator } from "../../support/operator.ts"
import { startTokenServer } from "../../support/token-server.ts"
import { arrived, attemptRecords, publish, setUp } from "../../support/webhooks.ts"

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

describe("endpoints behind a forward proxy", () => {
  it.live("go through that of all, their own, or none, with its credentials and to judged addresses", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const tokens = yield* startTokenServer(60)
      const [shared, own] = [yield* startForwardProxy(), yield* startForwardProxy()]
      const endpoints = [
        {
          Name: "shared",
          Url: receiver.url("/shared"),
          OAuthTokenUrl: tokens.url,
          OAuthClientId: "us",
          OAuthSecretEnvVar: "CLIENT_SECRET"
        },
        { Name: "direct", Url: receiver.url("/direct"), ProxyUrl: "none" }
      ]
      const delivery = {
        ProxyUrl: shared.url,
        ProxyUsername: "all",
        ProxyPasswordEnvVar: "PROXY_PASSWORD",
        ProxyAllowCidrs: ["127.0.0.0/8"]
      }
      const environment = { PROXY_PASSWORD: "of-the-proxy", CLIENT_SECRET: "of-the-client" }
      yield* whileDispatching(
        server,
        { endpoints, delivery, environment },
        Effect.gen(function* () {
          const at = yield* WebhookEndpoints
          const settings = { Name: "own", Url: receiver.url("/own"), ProxyUrl: own.url, ProxyUsername: "one" }
          const missing = yield* Effect.flip(at.create({ settings, by: "tester" }))
          assert.include(missing.message, "/Credentials/proxyPassword: ProxyUsername needs it")
          yield* at.create({ settings, credentials: { proxyPassword: "of-its-own" }, by: "tester" })
          const last = yield* publish("work_item.merged")
          for (const path of ["/shared", "/direct", "/own"]) yield* arrived(receiver, path, last)
          const port = new URL(receiver.url("/")).port
          assert.deepStrictEqual(own.asked, [
            { authority: `127.0.0.1:${port}`, authorization: basic("one:of-its-own") }
          ])
          assert.sameMembers(
            shared.asked.map(({ authority }) => authority),
            [`127.0.0.1:${port}`, new URL(tokens.url).host]
          )
          assert.strictEqual(shared.asked[0]?.authorization, basic("all:of-the-proxy"))
          assert.notInclude(JSON.stringify(yield* attemptRecords), "of-")
        }).pipe(Effect.provide(operator))
      )
    })
  )
})
