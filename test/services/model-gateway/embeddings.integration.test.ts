import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat, money, withGateway } from "../../support/gateway.ts"

const path = "/v1/embeddings"
const texts = (input: unknown, more = {}) => ({ model: "demo/embedding", input, ...more })
const free = (input: unknown, more = {}) => ({ model: "free/embedding", input, ...more })
type Vectors = ReadonlyArray<{ readonly index: number; readonly embedding: ReadonlyArray<number> | string }>
const vectorsOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) => body["data"] as Vectors

describe("embeddings", () => {
  it.live("come as a vector for each input, texts and tokens alike, under the caller's name of the model", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const [input, count] of [
          ["a bird", 1] as const,
          [["a bird", "a gate"], 2] as const,
          [[1, 2], 1] as const,
          [[[1], [2]], 2] as const
        ]) {
          const answer = yield* ask(gateway, path, free(input, { user: "someone", dimensions: 5 }))
          assert.strictEqual(answer.status, 200, answer.text)
          assert.strictEqual(answer.body["model"], "free/embedding")
          assert.deepStrictEqual(
            vectorsOf(answer).map(({ index, embedding }) => [index, embedding.length]),
            Array.from({ length: count }, (_, index) => [index, 5])
          )
          assert.strictEqual(answer.headers.get("x-free-model"), "true")
          assert.isNull(answer.headers.get("x-max-tokens-capped"))
        }
        const [call] = gateway.upstream.calls
        assert.strictEqual(call?.path, "/v1/embeddings")
        assert.deepStrictEqual(call?.body, { model: "embedding-1", input: "a bird", user: "someone", dimensions: 5 })
        assert.include(yield* gateway.metrics, 'model="free/embedding",kind="input"} 10')
        assert.deepStrictEqual(gateway.payments.steps, [])
      })
    )
  )

  it.live("are priced by the tokens of their inputs, paid for, and settled once made", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const quote = yield* ask(gateway, path, texts("a bird"))
        assert.strictEqual(quote.status, 402)
        const answer = yield* ask(gateway, path, texts(["a bird", "12345678"]), money)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual(answer.headers.get("payment-response"), "receipt")
        assert.deepStrictEqual(gateway.payments.steps, ["pay", "settle"])
        const [call] = gateway.payments.calls
        assert.deepInclude({ ...call }, { model: "demo/embedding", outputTokens: 0, count: 1, kind: "whole", path })
        assert.deepStrictEqual(call?.prompt, { textBytes: 16, images: 0 })
      })
    )
  )

  it.live("come in the encoding that was asked for, also from a provider that knows only lists", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const floats = vectorsOf(yield* ask(gateway, path, free("!floats a bird")))[0]?.embedding ?? []
        const written = Buffer.from(Float32Array.from(floats as ReadonlyArray<number>).buffer).toString("base64")
        const converted = yield* ask(gateway, path, free("!floats a bird", { encoding_format: "base64" }))
        assert.strictEqual(vectorsOf(converted)[0]?.embedding, written)
        const own = yield* ask(gateway, path, free("a bird", { encoding_format: "base64" }))
        assert.match(String(vectorsOf(own)[0]?.embedding), /^[A-Za-z0-9+/]{42,44}={0,2}$/u)
      })
    )
  )

  it.live("are not charged for when the provider fails, or answers with a vector too few", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const [input, status, code] of [
          ["!overloaded", 503, "MODEL_UNAVAILABLE"] as const,
          ["!drop 1", 500, "INTERNAL_ERROR"] as const,
          ["!reject dimensions", 400, "INVALID_PARAMETER"] as const
        ]) {
          const answer = yield* ask(gateway, path, texts(input), money)
          assert.deepInclude(answer.body, { code }, input)
          assert.strictEqual(answer.status, status)
        }
        assert.deepStrictEqual(gateway.payments.steps, ["pay", "release", "pay", "release", "pay", "release"])
      })
    )
  )

  it.live("are refused before their price for inputs and parameters that cannot be sold", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const [body, code, param] of [
          [texts(""), "INVALID_REQUEST_BODY", "input"] as const,
          [{ model: "demo/embedding" }, "INVALID_REQUEST_BODY", "input"] as const,
          [texts(["a", 1]), "INVALID_REQUEST_BODY", "input.1"] as const,
          [texts("a", { encoding_format: "int8" }), "INVALID_REQUEST_BODY", "encoding_format"] as const,
          [texts("a", { dimensions: 0 }), "INVALID_REQUEST_BODY", "dimensions"] as const,
          [texts("a", { stream: true }), "STREAM_UNSUPPORTED", "stream"] as const,
          [texts("a", { service_tier: "priority" }), "INVALID_PARAMETER", "service_tier"] as const,
          [texts("a".repeat(801)), "CONTEXT_LENGTH_EXCEEDED", "input"] as const
        ]) {
          const answer = yield* ask(gateway, path, body)
          assert.strictEqual(answer.status, 400, answer.text)
          assert.deepInclude(answer.body, { code })
          assert.deepInclude(answer.body["error"], { param })
        }
        const broken = yield* ask(gateway, path, '{"model":')
        assert.deepInclude(broken.body, { code: "INVALID_JSON" })
        assert.lengthOf(gateway.upstream.calls, 0)
      })
    )
  )

  it.live("are had from embedding models alone, and conversations and images from no embedding model", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const answers = [
          [
            path,
            { ...texts("a"), model: "demo/echo" },
            "demo/echo is a chat model, for POST /v1/chat/completions"
          ] as const,
          [
            "/v1/chat/completions",
            chat("a", { model: "demo/embedding" }),
            "demo/embedding is an embedding model, for POST /v1/embeddings"
          ] as const,
          [
            "/v1/images/generations",
            { model: "demo/embedding", prompt: "a" },
            "demo/embedding is an embedding model"
          ] as const,
          [
            path,
            { ...texts("a"), model: "demo/embeding" },
            "Unknown model: demo/embeding. Try one of: demo/embedding"
          ] as const
        ]
        for (const [route, body, words] of answers) {
          const answer = yield* ask(gateway, route, body)
          assert.strictEqual(answer.status, 400)
          assert.include(String(answer.body["error"]), words)
        }
        const listed = yield* ask(gateway, "/v1/models/demo/embedding", undefined)
        assert.deepInclude(listed.body, { max_output: 0, categories: ["embedding"], streaming: false })
        assert.deepInclude(listed.body, { context_window: 100, pricing: { input: 1, output: 0 } })
      })
    )
  )
})
