import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat, eventsOf, money, withGateway } from "../../support/gateway.ts"

const chatPath = "/v1/chat/completions"

/** What a provider says, as an order to the local one, and what a caller gets. */
const refusals = [
  ["!reject temperature", 400, "INVALID_PARAMETER"],
  ["!context-length", 400, "CONTEXT_LENGTH_EXCEEDED"],
  ["!content-filter", 400, "CONTENT_FILTERED"],
  ["!tool-id", 400, "TOOL_ID_FORMAT_ERROR"],
  ["!reasoning", 400, "REASONING_FORMAT_ERROR"],
  ["!message-order", 400, "INVALID_REQUEST"],
  ["!too-large", 400, "REQUEST_TOO_LARGE"],
  ["!image-url", 400, "INVALID_IMAGE_URL"],
  ["!rate-limit 7", 429, "RATE_LIMITED"],
  ["!quota", 503, "PROVIDER_CONFIG_ERROR"],
  ["!credential", 503, "PROVIDER_CONFIG_ERROR"],
  ["!balance", 503, "PROVIDER_CONFIG_ERROR"],
  ["!forbidden", 503, "PROVIDER_CONFIG_ERROR"],
  ["!model-missing", 503, "MODEL_UNAVAILABLE"],
  ["!overloaded", 503, "MODEL_UNAVAILABLE"],
  ["!status 503", 503, "MODEL_UNAVAILABLE"],
  ["!html", 503, "MODEL_UNAVAILABLE"],
  ["!reset", 503, "MODEL_UNAVAILABLE"],
  ["!server-error", 500, "INTERNAL_ERROR"],
  ["!bad-json", 500, "INTERNAL_ERROR"],
  ["!content-type", 500, "INTERNAL_ERROR"],
  ["!empty", 500, "INTERNAL_ERROR"],
  ["!gateway-timeout", 504, "TIMEOUT"],
  ["!status 422", 400, "INVALID_REQUEST"]
] as const

interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly code: string
    readonly param: string | null
  }
  readonly message: string
  readonly code: string
  readonly debug?: string
  readonly source?: string
  readonly retry_after_seconds?: number
  readonly details?: ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly message: string }>
}

describe("what a provider refuses", () => {
  for (const model of ["demo/echo", "claude/echo"]) {
    for (const stream of [false, true]) {
      it.live(`is told by its code and never charged: ${model}${stream ? ", streamed" : ""}`, () =>
        withGateway((gateway) =>
          Effect.gen(function* () {
            for (const [order, status, code] of refusals) {
              gateway.book.steps.length = 0
              const answer = yield* ask(gateway, chatPath, chat(order, { model, stream }), money)
              const body = answer.body as unknown as ErrorBody
              assert.deepStrictEqual([answer.status, body.code], [status, code], order)
              assert.strictEqual(body.error.code, code)
              assert.strictEqual(body.message, body.error.message)
              assert.notMatch(answer.text, /sk-proj|10\.0\.3\.7|echo-1|https?:|platform\.example/u, order)
              assert.deepStrictEqual(gateway.book.steps, ["pay", "release"], order)
            }
          })
        )
      )
    }
  }

  it.live("names the parameter, the wait, and whose limit it is", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const rejected = (yield* ask(gateway, chatPath, chat("!reject top_p"), money)).body as unknown as ErrorBody
        assert.strictEqual(rejected.error.param, "top_p")
        assert.strictEqual(rejected.error.type, "invalid_request_error")
        assert.include(rejected.debug ?? "", "top_p")

        const limited = yield* ask(gateway, chatPath, chat("!rate-limit 9"), money)
        assert.strictEqual(limited.headers.get("retry-after"), "9")
        assert.strictEqual(limited.headers.get("x-ratelimit-source"), "demo")
        const body = limited.body as unknown as ErrorBody
        assert.deepInclude(body, { source: "demo", retry_after_seconds: 9 })
        assert.strictEqual(body.error.type, "rate_limit_error")
      })
    )
  )

  it.live("is a matter of capacity where the model is free", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const [stream, code] of [
          [false, "FREE_MODEL_FAILED"],
          [true, "STREAM_FAILED"]
        ] as const) {
          const answer = yield* ask(gateway, chatPath, chat("!overloaded", { model: "demo/free", stream }))
          assert.strictEqual(answer.status, 429)
          assert.deepInclude(answer.body, { code, retry_after_seconds: 30, source: "demo" })
          assert.strictEqual(answer.headers.get("retry-after"), "30")
        }
        const rejected = yield* ask(gateway, chatPath, chat("!reject seed", { model: "demo/free" }))
        assert.strictEqual(rejected.status, 400)
      })
    )
  )
})

describe("what a caller gets wrong", () => {
  const wrong = [
    ["{", 400, "INVALID_JSON"],
    ["", 400, "INVALID_JSON"],
    [{ messages: [] }, 400, "INVALID_REQUEST_BODY"],
    [{ model: "demo/echo", messages: [{ role: "king", content: "x" }] }, 400, "INVALID_REQUEST_BODY"],
    [{ model: "demo/echo", messages: [{ role: "system", content: "x" }] }, 400, "EMPTY_CONVERSATION"],
    [chat("x", { model: "demo/nostream", stream: true }), 400, "STREAM_UNSUPPORTED"],
    [
      { model: "demo/echo", messages: [{ role: "tool", tool_call_id: "call_9", content: "x" }] },
      400,
      "TOOL_ID_FORMAT_ERROR"
    ],
    [
      { model: "demo/echo", messages: [{ role: "assistant", content: "x", reasoning_content: {} }] },
      400,
      "REASONING_FORMAT_ERROR"
    ],
    [chat("x".repeat(1_100_000)), 400, "REQUEST_TOO_LARGE"]
  ] as const

  it.live("is told before the price, with the paths of what is wrong", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const [body, status, code] of wrong) {
          const answer = yield* ask(gateway, chatPath, body, money)
          assert.deepStrictEqual([answer.status, answer.body["code"]], [status, code])
        }
        const answer = yield* ask(gateway, chatPath, { messages: [{ role: "user", content: 7 }] })
        const { details } = answer.body as unknown as ErrorBody
        const paths = (details ?? []).map(({ path }) => path.join("."))
        assert.include(paths, "model")
        assert.isTrue(paths.some((path) => path.startsWith("messages.0.content")))
        assert.deepStrictEqual(gateway.book.steps, [])
        assert.strictEqual(gateway.upstream.calls.length, 0)
      })
    )
  )

  it.live("may be large when it holds images, up to ten mebibytes", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const picture = (bytes: number) => ({
          model: "demo/echo",
          messages: [
            {
              role: "user",
              content: [
                { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(bytes)}` } },
                { type: "text", text: "look" }
              ]
            }
          ]
        })
        assert.strictEqual((yield* ask(gateway, chatPath, picture(3_000_000), money)).status, 200)
        const large = yield* ask(gateway, chatPath, picture(10_500_000), money)
        assert.deepStrictEqual([large.status, large.body["code"]], [400, "REQUEST_TOO_LARGE"])
      })
    )
  )

  it.live("names a model that there is not, in plain words on every route", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const bodies = [
          [chatPath, chat("x", { model: "demo/ecco" })],
          ["/v1/messages", chat("x", { model: "demo/ecco", max_tokens: 5 })],
          ["/v1/responses", { model: "demo/ecco", input: "x" }]
        ] as const
        for (const [path, body] of bodies) {
          const answer = yield* ask(gateway, path, body)
          assert.strictEqual(answer.status, 400)
          assert.deepStrictEqual(Object.keys(answer.body), ["error"])
          assert.match(
            String(answer.body["error"]),
            /^Unknown model: demo\/ecco\. Try one of: demo\/echo, .*GET \/v1\/models$/u
          )
        }
      })
    )
  )

  it.live("is refused in the shape of the route", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const message = yield* ask(gateway, "/v1/messages", chat("!context-length", { max_tokens: 5 }), money)
        assert.strictEqual(message.status, 400)
        assert.deepStrictEqual(Object.keys(message.body), ["type", "error"])
        assert.deepInclude(message.body, { type: "error" })
        assert.deepInclude(message.body["error"] as object, { type: "invalid_request_error" })
        assert.isNotNull(message.headers.get("request-id"))

        const response = yield* ask(gateway, "/v1/responses", { model: "demo/echo", input: "!overloaded" }, money)
        assert.strictEqual(response.status, 503)
        assert.deepStrictEqual(Object.keys(response.body), ["error"])
        assert.deepInclude(response.body["error"] as object, {
          type: "api_error",
          code: "MODEL_UNAVAILABLE",
          param: null
        })

        for (const key of ["previous_response_id", "conversation", "prompt", "store", "background"]) {
          const value = key === "store" || key === "background" ? true : "x"
          const refused = yield* ask(gateway, "/v1/responses", { model: "demo/echo", input: "hi", [key]: value }, money)
          assert.strictEqual(refused.status, 400, key)
          assert.deepInclude(refused.body["error"] as object, { param: key })
        }
        const nowhere = yield* ask(gateway, "/v1/nowhere", {})
        assert.strictEqual(nowhere.status, 404)
        assert.deepInclude(nowhere.body["error"] as object, { type: "invalid_request_error" })
      })
    )
  )
})

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
              gateway.book.steps.length = 0
              const answer = yield* ask(gateway, path, chat(order, { stream: true, model, ...more }), money)
              assert.strictEqual(answer.status, 200, order)
              const { data } = eventsOf(answer.text)
              const last = JSON.parse(data.at(-1) ?? "{}") as { error?: { message?: string } }
              assert.isString(last.error?.message, `${order} ${model} ${path}`)
              assert.notInclude(data, "[DONE]")
              assert.deepStrictEqual(gateway.book.steps, ["pay", "serve", "release"], `${order} ${model} ${path}`)
            }
          }
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

  it.live("by silence is cut after the time that silence may last, with comments until then", () =>
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

  it.live("for being endless is cut in the end", () =>
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
