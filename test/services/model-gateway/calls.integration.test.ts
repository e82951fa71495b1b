import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat, eventsOf, money, withGateway } from "../../support/gateway.ts"

const chatPath = "/v1/chat/completions"

const textOf = (text: string) =>
  eventsOf(text)
    .data.filter((data) => data !== "[DONE]")
    .map((data) => {
      const { choices } = JSON.parse(data) as { choices: ReadonlyArray<{ delta: { content?: string } }> }
      return choices[0]?.delta.content ?? ""
    })
    .join("")

describe("a call to a paid model", () => {
  it.live("is answered with a quote, then with the answer for a payment, under every base path", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const base of ["", "/api", "/solana/api"]) {
          const unpaid = yield* ask(gateway, `${base}${chatPath}`, chat("one two three"))
          assert.strictEqual(unpaid.status, 402)
          assert.isNotEmpty(unpaid.headers.get("payment-required"))

          const paid = yield* ask(gateway, `${base}${chatPath}`, chat("one two three"), money)
          assert.strictEqual(paid.status, 200)
          assert.strictEqual(paid.headers.get("payment-response"), "receipt")
          const [choice] = paid.body["choices"] as ReadonlyArray<{ message: { content: string } }>
          assert.strictEqual(choice?.message.content, "one two three")
          assert.strictEqual(paid.body["model"], "demo/echo")
        }
        assert.deepStrictEqual(gateway.payments.steps.slice(0, 2), ["pay", "settle"])
        assert.deepStrictEqual(
          gateway.payments.calls.map(({ chain }) => chain),
          ["evm", "evm", "solana"]
        )
        // The unpaid calls have reached no provider.
        assert.strictEqual(gateway.upstream.calls.length, 3)
      })
    )
  )

  it.live("streams the answer word by word, and reports the payment before the end", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const answer = yield* ask(gateway, chatPath, chat("one two three", { stream: true }), money)
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers.get("content-type"), "text/event-stream")
        const { data, comments } = eventsOf(answer.text)
        assert.strictEqual(textOf(answer.text), "one two three")
        assert.deepStrictEqual(comments, ["payment-response receipt"])
        assert.isTrue(answer.text.endsWith("}\n\n: payment-response receipt\n\ndata: [DONE]\n\n"), answer.text)
        assert.isFalse(
          data.some((line) => line.includes("usage")),
          "usage that nobody asked for"
        )
        assert.deepStrictEqual(gateway.payments.steps, ["pay", "serve", "settle"])
        const [call] = gateway.upstream.calls
        assert.deepInclude(call?.body as object, { stream_options: { include_usage: true }, model: "echo-1" })
      })
    )
  )

  it.live("reports a stream's cost on request", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const wanted = { stream: true, stream_options: { include_usage: true } }
        const answer = yield* ask(gateway, chatPath, chat("one two three", wanted), money)
        const usage = eventsOf(answer.text).data.find((data) => data.includes('"prompt_tokens":3'))
        assert.include(usage ?? "", '"completion_tokens":3')
      })
    )
  )

  it.live("is not charged when the model fails, nor answered when the payment does", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const failed = yield* ask(gateway, chatPath, chat("!status 503"), money)
        assert.strictEqual(failed.status, 503)
        assert.deepStrictEqual(gateway.payments.steps, ["pay", "release"])

        gateway.payments.steps.length = 0
        gateway.payments.refusesSettlement = true
        const unsettled = yield* ask(gateway, chatPath, chat("secret words"), money)
        assert.strictEqual(unsettled.status, 402)
        assert.notInclude(unsettled.text, "secret words")
        assert.deepStrictEqual(gateway.payments.steps, ["pay", "settle"])
      })
    )
  )

  it.live("continues with another provider when the first is down", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const whole = yield* ask(gateway, chatPath, chat("hello", { model: "demo/twice" }), money)
        assert.strictEqual(whole.status, 200)
        const streamed = yield* ask(gateway, chatPath, chat("hello", { model: "demo/twice", stream: true }), money)
        assert.strictEqual(textOf(streamed.text), "hello")
        assert.match(yield* gateway.metrics, /gateway_fallbacks_total\{[^}]*provider="away"[^}]*\} 2/u)
      })
    )
  )

  it.live("is passed on by the provider's list of keys, and names what was left out", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const more = { top_k: 3, client_metadata: { a: "b" }, "odd key\u00e9": 1, unset: null }
        const input = "x"
        const routes = [
          [chatPath, chat("hello", more)],
          ["/v1/messages", chat("hello", { ...more, max_tokens: 9 })],
          ["/v1/responses", { model: "demo/echo", input, ...more }],
          ["/v1/embeddings", { model: "demo/embedding", input, ...more }],
          ["/v1/images/generations", { model: "demo/picture", prompt: "x", ...more }]
        ] as const
        for (const [path, body] of routes) {
          const answer = yield* ask(gateway, path, body, money)
          assert.strictEqual(answer.status, 200, answer.text)
          const { body: given } = gateway.upstream.calls.at(-1) ?? assert.fail("no call")
          assert.doesNotHaveAnyKeys(given, ["client_metadata", "odd key\u00e9", "unset"], path)
          assert.match(answer.headers.get("x-starling-left-out") ?? "", /client_metadata, odd_key_$/u)
          if (path.startsWith("/v1/chat")) assert.deepInclude(given as object, { top_k: 3 })
          // What stands for more than its bytes show is not sold.
          const refused = yield* ask(gateway, path, { ...body, service_tier: "priority" })
          assert.strictEqual(refused.headers.get("x-error-code"), "INVALID_PARAMETER", path)
        }
        const plain = yield* ask(gateway, chatPath, chat("hello"), money)
        assert.isNull(plain.headers.get("x-starling-left-out"))
        const streamed = yield* ask(gateway, chatPath, chat("hello", { ...more, stream: true }), money)
        assert.strictEqual(streamed.headers.get("x-starling-left-out"), "client_metadata, odd_key_")
        const documents = yield* ask(gateway, chatPath, chat("hello", { documents: [{ text: "x" }] }), money)
        assert.deepInclude(documents.body["error"], { code: "INVALID_PARAMETER", param: "documents" })
      })
    )
  )

  it.live("is capped at the model's longest answer, and says so", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const capped = yield* ask(gateway, chatPath, chat("hello", { max_tokens: 100_000, seed: 7 }), money)
        assert.strictEqual(capped.headers.get("x-max-tokens-capped"), "true")
        assert.strictEqual(capped.headers.get("x-max-tokens-effective"), "8192")
        assert.deepInclude(gateway.upstream.calls[0]?.body as object, { max_tokens: 8192, seed: 7 })
        const own = yield* ask(gateway, chatPath, chat("hello", { max_completion_tokens: 5 }), money)
        assert.isNull(own.headers.get("x-max-tokens-capped"))
        assert.deepInclude(gateway.upstream.calls[1]?.body as object, { max_completion_tokens: 5 })
        assert.notProperty(gateway.upstream.calls[1]?.body, "max_tokens")
      })
    )
  )

  it.live(
    "is counted by its program, by the keys that its provider was not given, and by the key that was refused",
    () =>
      withGateway((gateway) =>
        Effect.gen(function* () {
          const codex = { ...money, "user-agent": "codex_exec/0.171.0 (Debian 12.0.0; x86_64)" }
          yield* ask(gateway, chatPath, chat("hello", { client_metadata: { a: "b" }, "my key": 1 }), codex)
          yield* ask(gateway, chatPath, chat("hello"), { "user-agent": "Mozilla/5.0" })
          yield* ask(gateway, chatPath, { model: "demo/echo" }, codex)
          yield* ask(gateway, chatPath, { model: "no/such", messages: [] })
          assert.strictEqual((yield* ask(gateway, "/v1/models/no/such", undefined)).status, 404)
          yield* ask(gateway, chatPath, chat("hello", { service_tier: "priority" }))
          const metrics = yield* gateway.metrics
          for (const line of [
            'gateway_client_calls_total{client="codex",outcome="ok"} 1',
            'gateway_client_calls_total{client="codex",outcome="refused"} 1',
            'gateway_client_calls_total{client="other",outcome="quoted"} 1',
            'gateway_keys_left_out_total{key="client_metadata"} 1',
            'gateway_keys_left_out_total{key="other"} 1',
            'gateway_refusals_total{code="INVALID_REQUEST_BODY",key="messages"} 1',
            'gateway_refusals_total{code="UNKNOWN_MODEL",key="model"} 2',
            'gateway_requests_total{route="/v1/models/*",status="404",code="UNKNOWN_MODEL"} 1',
            'gateway_refusals_total{code="INVALID_PARAMETER",key="service_tier"} 1'
          ]) {
            assert.include(metrics.replaceAll(/role="[^"]*",/gu, ""), line)
          }
        })
      )
  )
})

describe("a response", () => {
  it.live.each([
    ["GET", "/v1/responses/resp_1"],
    ["HEAD", "/v1/responses/resp_1"],
    ["DELETE", "/v1/responses/resp_1"],
    ["GET", "/v1/responses/resp_1/input_items"],
    ["POST", "/v1/responses/resp_1/cancel"],
    ["GET", "/api/v1/responses/resp_1/input_items"]
  ] as const)("is not to be had by its id, by %s %s: its caller hears what to send instead", ([method, path]) =>
    withGateway(({ url }) =>
      Effect.gen(function* () {
        const answer = yield* Effect.promise(() => fetch(`${url}${path}`, { method }))
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(answer.headers.get("x-error-code"), "NOT_FOUND")
        const text = yield* Effect.promise(() => answer.text())
        if (method === "HEAD") return assert.strictEqual(text, "")
        const { error } = JSON.parse(text) as { readonly error: Readonly<Record<string, unknown>> }
        assert.deepInclude(error, { type: "invalid_request_error", code: "NOT_FOUND" })
        assert.include(String(error["message"]), "send the whole conversation as input")
      })
    )
  )
})

describe("a method that a route does not have", () => {
  it.live.each([
    ["HEAD", "/v1/models", 200, null],
    ["HEAD", "/v1/models/demo/echo", 200, null],
    ["HEAD", "/v1/messages", 405, "POST"],
    ["GET", "/v1/responses", 405, "POST"],
    ["OPTIONS", "/v1/chat/completions", 405, "POST"],
    ["HEAD", "/no/such", 404, null]
  ] as const)("is answered with those that it has: %s %s", ([method, path, status, allow]) =>
    withGateway(({ url }) =>
      Effect.gen(function* () {
        const answer = yield* Effect.promise(() => fetch(`${url}${path}`, { method }))
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.headers.get("allow"), allow)
      })
    )
  )
})
