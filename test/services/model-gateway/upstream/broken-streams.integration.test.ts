import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat, eventsOf, money, withGateway } from "../../../support/gateway.ts"
import { chatPath } from "../errors/error-body.ts"

describe("a stream that breaks off", () => {
  const orders = ["!drop 3", "!break 3", "!garbage 3", "!end 3"]

  it.live("after content ends with an error in the route's shape, and is not charged", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const paths = [
          [chatPath, {}],
          ["/v1/messages", { max_tokens: 50 }]
        ] as const
        for (const order of orders) {
          for (const model of ["demo/echo", "claude/echo"]) {
            for (const [path, more] of paths) {
              gateway.payments.steps.length = 0
              const answer = yield* ask(gateway, path, chat(order, { stream: true, model, ...more }), money)
              assert.strictEqual(answer.status, 200, order)
              const { data } = eventsOf(answer.text)
              const last = JSON.parse(data.at(-1) ?? "{}") as { error?: { message?: string } }
              assert.isString(last.error?.message, `${order} ${model} ${path}`)
              assert.notInclude(data, "[DONE]")
              assert.deepStrictEqual(gateway.payments.steps, ["pay", "serve", "release"], `${order} ${model} ${path}`)
            }
          }
        }
      })
    )
  )

  it.live("by a call that has no name is not charged, nor is a whole answer with one", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const order = "!nameless"
        const bodies = [
          [chatPath, chat(order)],
          ["/v1/messages", { ...chat(order), max_tokens: 50 }],
          ["/v1/responses", { model: "demo/echo", input: order }]
        ] as const
        for (const [path, body] of bodies) {
          gateway.payments.steps.length = 0
          const answer = yield* ask(gateway, path, { ...body, stream: true }, money)
          assert.strictEqual(answer.status, 200, path)
          const last = JSON.parse(eventsOf(answer.text).data.at(-1) ?? "{}") as { error?: { message?: string } }
          assert.isString(last.error?.message, path)
          assert.deepStrictEqual(gateway.payments.steps, ["pay", "serve", "release"], path)
          gateway.payments.steps.length = 0
          const whole = yield* ask(gateway, path, body, money)
          assert.strictEqual(whole.status, 500, path)
          assert.deepStrictEqual(gateway.payments.steps, ["pay", "release"], path)
        }
      })
    )
  )

  it.live("of responses ends with an error event", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const answer = yield* ask(
          gateway,
          "/v1/responses",
          { model: "demo/echo", input: "!drop 4", stream: true },
          money
        )
        const last = JSON.parse(eventsOf(answer.text).data.at(-1) ?? "{}") as { type?: string; code?: string }
        assert.deepInclude(last, { type: "error", code: "MODEL_UNAVAILABLE" })
      })
    )
  )

  it.live("by silence is cut at the limit of silence, with comments until then", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const answer = yield* ask(gateway, chatPath, chat("!stall 3", { stream: true }), money)
          const { data, comments } = eventsOf(answer.text)
          assert.include(data.at(-1) ?? "", "TIMEOUT")
          assert.include(comments, "keep-alive")
          const whole = yield* ask(gateway, chatPath, chat("!hang"), money)
          assert.deepStrictEqual([whole.status, whole.body["code"]], [504, "TIMEOUT"])
          const streamed = yield* ask(gateway, chatPath, chat("!hang", { stream: true }), money)
          assert.deepStrictEqual([streamed.status, streamed.body["code"]], [504, "TIMEOUT"])
        }),
      { settings: { FirstByteSeconds: 1.5, StallSeconds: 1.5, KeepAliveSeconds: 0.1 } }
    )
  )

  it.live("without an end is cut at its limit", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const answer = yield* ask(
            gateway,
            chatPath,
            chat("!words 100000 20ms", { stream: true, max_tokens: 8000 }),
            money
          )
          assert.include(eventsOf(answer.text).data.at(-1) ?? "", "TIMEOUT")
        }),
      { settings: { StreamSeconds: 2 } }
    )
  )
})
