import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { ask, chat, money, type TestGateway, withGateway } from "../../support/gateway.ts"

const path = "/v1/chat/completions"

/** Asks, waits until so many bytes have come, and leaves. */
const askAndLeave = ({ url }: TestGateway, body: unknown, afterBytes: number, until: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const leaving = new AbortController()
    const request = { method: "POST", body: JSON.stringify(body), headers: { ...money }, signal: leaving.signal }
    const answer = fetch(`${url}${path}`, request)
    answer.catch(() => undefined)
    if (afterBytes > 0) {
      yield* Effect.promise(async () => {
        const reader = (await answer).body?.getReader()
        let bytes = 0
        while (bytes < afterBytes) bytes += (await reader?.read())?.value?.length ?? afterBytes
      })
    }
    yield* until
    leaving.abort()
  })

const isCancelled = ({ upstream }: TestGateway) => Effect.sync(() => upstream.calls[0]?.state === "cancelled")

describe("a leaving caller", () => {
  it.live("in the middle of a stream cuts the provider off and pays for the delivered part", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const body = chat("!words 5000 20ms", { stream: true, max_tokens: 8000 })
        yield* askAndLeave(gateway, body, 200, Effect.void)
        yield* eventually(isCancelled(gateway))
        yield* eventually(() => gateway.payments.steps.length, { is: 3 })
        assert.deepStrictEqual(gateway.payments.steps, ["pay", "serve", "settle"])
      })
    )
  )

  it.live("before the first byte cuts the provider off and pays nothing, streamed or not", () =>
    Effect.forEach([true, false], (stream) =>
      withGateway((gateway) =>
        Effect.gen(function* () {
          const isCalled = eventually(() => gateway.upstream.calls.length, { is: 1 })
          yield* askAndLeave(gateway, chat("!hang", { stream }), 0, isCalled)
          yield* eventually(isCancelled(gateway))
          yield* eventually(() => gateway.payments.steps.length, { is: 2 })
          assert.deepStrictEqual(gateway.payments.steps, ["pay", "abandon"])
        })
      )
    )
  )
})

describe("a slow reader", () => {
  it.live("holds the provider back instead of filling the gateway's memory", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const answer = yield* Effect.promise(() =>
            fetch(`${gateway.url}${path}`, {
              method: "POST",
              body: JSON.stringify(chat("!words 200000", { stream: true, max_tokens: 10_000_000, model: "demo/long" })),
              headers: money
            })
          )
          assert.strictEqual(answer.status, 200)
          // The sockets' and streams' buffers fill at once; then the sending stops although the provider has more.
          let before = -1
          const standsStill = Effect.promise(async () => {
            await new Promise((resolve) => setTimeout(resolve, 300))
            const now = process.memoryUsage().external
            const still = Math.abs(now - before) < 1_000_000
            before = now
            return still
          })
          yield* eventually(standsStill)
          assert.strictEqual(gateway.upstream.calls[0]?.state, "running")
          yield* Effect.promise(() => answer.body?.cancel() ?? Promise.resolve())
          yield* eventually(isCancelled(gateway))
        }),
      {
        models: () => [
          {
            Id: "demo/long",
            Upstreams: [{ Provider: "plain", Model: "long" }],
            OutputTokensMax: 10_000_000,
            FlatMicroUsd: 1
          }
        ]
      }
    )
  )
})

describe("a free model", () => {
  it.live("has a limit per minute for each address, and says when it is open again", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const from = (address: string) =>
            ask(gateway, path, chat("hello", { model: "demo/free" }), { "x-forwarded-for": address })
          for (let nth = 0; nth < 3; nth++) {
            const answer = yield* from("203.0.113.7")
            assert.strictEqual(answer.status, 200)
            assert.strictEqual(answer.headers.get("x-free-model"), "true")
          }
          const refused = yield* from("203.0.113.7")
          assert.strictEqual(refused.status, 429)
          assert.deepInclude(refused.body, { code: "FREE_TIER_RATE_LIMITED", source: "demo" })
          assert.strictEqual(refused.headers.get("x-ratelimit-limit"), "3")
          assert.strictEqual(refused.headers.get("x-ratelimit-remaining"), "0")
          const resetInMs = Number(refused.headers.get("x-ratelimit-reset")) - (yield* Clock.currentTimeMillis)
          assert.isTrue(resetInMs > 50_000 && resetInMs <= 60_000, String(resetInMs))
          assert.isAtMost(Number(refused.body["retry_after_seconds"]), 60)
          // A caller's own entries stand left of the proxy's.
          assert.strictEqual((yield* from("198.51.100.1, 203.0.113.7")).status, 429)
          assert.strictEqual((yield* from("203.0.113.8")).status, 200)
          // A paying caller is not counted.
          const paid = yield* ask(gateway, path, chat("hello"), { ...money, "x-forwarded-for": "203.0.113.7" })
          assert.strictEqual(paid.status, 200)
        }),
      { settings: { FreeTier: { PerMinute: 3, PerHour: 10 }, TrustedProxies: ["127.0.0.0/8"] } }
    )
  )

  it.live("has a limit per hour on its listing", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const listed = yield* ask(gateway, "/v1/models", undefined)
          const [first] = listed.body["data"] as ReadonlyArray<Readonly<Record<string, unknown>>>
          assert.deepInclude(first ?? {}, { id: "demo/echo", billing_mode: "paid", pricing: { input: 1, output: 2 } })
          assert.strictEqual((yield* ask(gateway, "/api/v1/models", undefined)).status, 200)
          const refused = yield* ask(gateway, "/solana/api/v1/models", undefined)
          assert.strictEqual(refused.status, 429)
          assert.deepStrictEqual(refused.body, { error: "Rate limit exceeded" })
          assert.strictEqual(refused.headers.get("x-error-code"), "RATE_LIMITED")
        }),
      { settings: { MetadataPerHour: 2 } }
    )
  )
})
