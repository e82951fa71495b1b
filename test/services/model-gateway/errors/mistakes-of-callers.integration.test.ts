import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat, money, withGateway } from "../../../support/gateway.ts"
import { chatPath, type ErrorBody } from "./error-body.ts"

describe("a caller's mistake", () => {
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
    [chat("x".repeat(1_100_000)), 400, "REQUEST_TOO_LARGE"],
    [{ ...chat("x"), more: Array.from({ length: 350_000 }, () => 0) }, 400, "REQUEST_TOO_LARGE"],
    [{ ...chat("x"), more: Array.from({ length: 44_000 }, () => ({})) }, 400, "REQUEST_TOO_LARGE"]
  ] as const

  it.live("is reported before the price, with the paths of its faults", () =>
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
        const many = yield* ask(gateway, chatPath, { messages: Array.from({ length: 20_000 }, () => ({})) })
        assert.strictEqual((many.body as unknown as ErrorBody).details?.length, 50)
        assert.include(many.text, "there may be more faults")
        assert.deepStrictEqual(gateway.payments.steps, [])
        assert.strictEqual(gateway.upstream.calls.length, 0)
      })
    )
  )

  const message = (more: object) => chat("x", { model: "demo/small", max_tokens: 5, ...more })
  const input = (more: object) => ({ model: "demo/small", input: "x", ...more })
  const routes = [
    [chatPath, { ...chat("x"), messages: [] }, "EMPTY_CONVERSATION", "messages"],
    ["/v1/messages", { ...message({}), messages: [] }, "EMPTY_CONVERSATION", undefined],
    ["/v1/responses", { model: "demo/small", input: [] }, "EMPTY_CONVERSATION", "input"],
    ["/v1/responses", { model: "demo/small", input: "" }, "EMPTY_CONVERSATION", "input"],
    ["/v1/responses", { model: "demo/small", instructions: "Be brief." }, "EMPTY_CONVERSATION", "input"],
    [chatPath, chat("x".repeat(5_000), { model: "demo/small" }), "CONTEXT_LENGTH_EXCEEDED", "messages"],
    ["/v1/messages", { ...message({}), system: "x".repeat(5_000) }, "CONTEXT_LENGTH_EXCEEDED", undefined],
    ["/v1/responses", input({ instructions: "x".repeat(5_000) }), "CONTEXT_LENGTH_EXCEEDED", "input"],
    [chatPath, chat("x", { web_search_options: {} }), "INVALID_PARAMETER", "web_search_options"],
    [chatPath, chat("x", { tools: [{ type: "web_search" }] }), "INVALID_PARAMETER", "tools[0].type"],
    ["/v1/messages", message({ tools: [{ type: "web_search_20250305" }] }), "INVALID_PARAMETER", undefined],
    ["/v1/messages", message({ service_tier: "priority" }), "INVALID_PARAMETER", undefined],
    ["/v1/responses", input({ service_tier: "flex" }), "INVALID_PARAMETER", "service_tier"],
    ["/v1/responses", input({ tools: [{ type: "web_search" }] }), "INVALID_PARAMETER", "tools[0].type"]
  ] as const

  it.live("is reported on every route: an empty conversation, too long a prompt, and an unsold feature", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          for (const [path, body, code, param] of routes) {
            for (const payment of [{}, money]) {
              const answer = yield* ask(gateway, path, body, payment)
              assert.deepStrictEqual([answer.status, answer.headers.get("x-error-code")], [400, code], answer.text)
              const error = answer.body["error"] as { readonly param?: string }
              assert.strictEqual(error.param, param, answer.text)
            }
          }
          assert.deepStrictEqual(gateway.payments.steps, [])
          assert.strictEqual(gateway.upstream.calls.length, 0)

          // In any spelling: nothing beyond the quoted answer.
          const more = { max_completion_tokens: 9_000, max_tokens: 9_000, max_output_tokens: 9_000, best_of: 1 }
          const requests = {
            [chatPath]: "max_completion_tokens",
            "/v1/messages": "max_tokens",
            "/v1/responses": "max_output_tokens"
          }
          for (const [path, key] of Object.entries(requests)) {
            const body = { ...chat("x", { model: "demo/small" }), input: "x", ...more, [key]: 7 }
            assert.strictEqual((yield* ask(gateway, path, body, money)).status, 200)
          }
          const limits = gateway.upstream.calls.map(({ body }) => {
            const sent = Object.entries(body as object)
            return sent.flatMap(([key, value]) => (key.startsWith("max_") || key === "best_of" ? [[key, value]] : []))
          })
          assert.deepStrictEqual(limits, [[["max_completion_tokens", 7]], [["max_tokens", 7]], [["max_tokens", 7]]])

          const usual = { service_tier: "auto", modalities: ["text"], model: "demo/small" }
          assert.strictEqual((yield* ask(gateway, chatPath, chat("x", usual), money)).status, 200)
          const priced = chat("x", { service_tier: "priority", model: "demo/fast" })
          assert.strictEqual((yield* ask(gateway, chatPath, priced, money)).status, 200)
          const [plain, fast] = gateway.upstream.calls.slice(3).map(({ body }) => body as object)
          assert.doesNotHaveAnyKeys(plain, ["service_tier", "modalities"])
          assert.deepInclude(fast, { service_tier: "priority" })
        }),
      {
        models: () =>
          [
            { Id: "demo/echo" },
            { Id: "demo/small", ContextTokens: 1_000 },
            { Id: "demo/fast", ExtraParameters: ["service_tier"] }
          ].map((model) => ({ ...model, FlatMicroUsd: 10, Upstreams: [{ Provider: "plain", Model: "echo-1" }] }))
      }
    )
  )

  it.live("has its code in its header where no route has read it", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const { hostname, port } = new URL(gateway.url)
        const told = (bytes: string) =>
          Effect.promise(async () => {
            const socket = connect(Number(port), hostname)
            socket.write(bytes)
            let text = ""
            for await (const piece of socket) text += String(piece)
            return text
          })
        const end = "host: a\r\nconnection: close\r\n"
        for (const [bytes, status, code] of [
          [`GET / HTTP/1.1\r\n${end}x: ${"y".repeat(20_000)}\r\n\r\n`, "431", "HEADERS_TOO_LARGE"],
          ["nonsense\r\n\r\n", "400", "BAD_REQUEST"],
          [`GET /nowhere HTTP/1.1\r\n${end}\r\n`, "404", "NOT_FOUND"],
          [`PUT ${chatPath} HTTP/1.1\r\n${end}\r\n`, "405", "METHOD_NOT_ALLOWED"]
        ] as const) {
          const [head = "", body = ""] = (yield* told(bytes)).split("\r\n\r\n")
          assert.strictEqual(head.slice(9, 12), status)
          assert.include(head.toLowerCase(), `x-error-code: ${code.toLowerCase()}`)
          assert.strictEqual((JSON.parse(body) as ErrorBody).code, code)
        }
      })
    )
  )

  it.live("does not include a large body with images, up to ten mebibytes", () =>
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

  it.live("in a model's name is reported in plain words on every route", () =>
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

  it.live("is refused in the format of the route", () =>
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
