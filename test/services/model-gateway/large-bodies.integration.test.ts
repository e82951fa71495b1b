import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { ask, chat, money, type TestGateway, withGateway } from "../../support/gateway.ts"

const path = "/v1/chat/completions"
const prices = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }

/** A body of just so many bytes, whose last message is an order to the provider. */
const filledBody = (bytes: number, order = "hello") => {
  const body = (content: string) =>
    JSON.stringify({
      model: "demo/echo",
      max_tokens: 10,
      messages: [
        { role: "system", content },
        { role: "user", content: order }
      ]
    })
  return body("x".repeat(bytes - body("").length))
}

/** Asks and does not wait for the answer; the returned function leaves. */
const begin = ({ url }: TestGateway, body: string) => {
  const leaving = new AbortController()
  const request = { method: "POST", body, headers: { ...money, "content-type": "application/json" } }
  fetch(`${url}${path}`, { ...request, signal: leaving.signal }).catch(() => undefined)
  return () => leaving.abort()
}

const heldBytes = ({ metrics }: TestGateway) =>
  Effect.map(metrics, (text) => Number(/http_body_bytes_held\{[^}]*\} (\d+)/u.exec(text)?.[1]))

const models = () => [
  { Id: "demo/echo", ContextTokens: 500_000, Upstreams: [{ Provider: "plain", Model: "echo-1" }], ...prices }
]

describe("a body of the largest size", () => {
  it.live("fills the largest window sold, and one byte more is too large", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const filled = yield* ask(gateway, path, filledBody(4 * 499_999 - 200), money)
          assert.strictEqual(filled.status, 200)
          const overflowing = yield* ask(gateway, path, filledBody(2_200_000), money)
          assert.deepStrictEqual([overflowing.status, overflowing.body["code"]], [400, "CONTEXT_LENGTH_EXCEEDED"])
          const larger = yield* ask(gateway, path, filledBody(2_200_001), money)
          assert.deepStrictEqual([larger.status, larger.body["code"]], [400, "REQUEST_TOO_LARGE"])
          assert.deepStrictEqual(gateway.payments.steps, ["pay", "settle"])
        }),
      { models }
    )
  )
})

describe("bodies of many callers at once", () => {
  const bytes = 1_048_576
  const settings = { BodyBytesMax: bytes, ImageBodyBytesMax: bytes, BodiesBytesMax: 16 * bytes }
  const isRunning = ({ upstream }: TestGateway, count: number) =>
    eventually(() => upstream.calls.filter(({ state }) => state === "running").length, { is: count })

  it.live("stay within their room: the rest is told to retry later and pays nothing, but for small ones", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const leave = Array.from({ length: 16 }, () => begin(gateway, filledBody(bytes, "!hang")))
          yield* isRunning(gateway, 16)
          assert.strictEqual(yield* heldBytes(gateway), 16 * bytes)
          const before = gateway.payments.steps.length

          const refused = yield* ask(gateway, path, filledBody(bytes), money)
          assert.deepStrictEqual([refused.status, refused.body["code"]], [503, "MODEL_UNAVAILABLE"])
          assert.strictEqual(refused.headers.get("retry-after"), "1")
          const count = filledBody(100_000)
          assert.strictEqual((yield* ask(gateway, "/v1/messages/count_tokens", count)).status, 503)
          assert.strictEqual(gateway.payments.steps.length, before)
          assert.strictEqual((yield* ask(gateway, path, chat("hello"), money)).status, 200)

          leave.pop()?.()
          yield* eventually(heldBytes(gateway), { is: (held) => held === 15 * bytes })
          assert.strictEqual((yield* ask(gateway, path, filledBody(bytes), money)).status, 200)
          for (const each of leave) each()
          yield* eventually(heldBytes(gateway), { is: (held) => held === 0 })
        }),
      { settings, models }
    )
  )

  it.live("that announce no length take room as they come, and are told to retry later where it ends", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const leave = Array.from({ length: 15 }, () => begin(gateway, filledBody(bytes, "!hang")))
          leave.push(begin(gateway, filledBody(bytes / 2, "!hang")))
          yield* isRunning(gateway, 16)
          const sent = (body: string) =>
            Effect.promise(async () => {
              const options = { method: "POST", headers: money, duplex: "half" as const }
              const { status } = await fetch(`${gateway.url}${path}`, { ...options, body: new Blob([body]).stream() })
              return status
            })
          assert.strictEqual(yield* sent(filledBody(bytes / 2)), 200)
          assert.strictEqual(yield* sent(filledBody(bytes / 2 + 1)), 503)
          for (const each of leave) each()
          yield* eventually(heldBytes(gateway), { is: (held) => held === 0 })
        }),
      { settings, models }
    )
  )
})
