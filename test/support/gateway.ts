/** A whole model gateway of the test's own: its bus, its local upstream, and a payment gate that takes one kind of money. */
import { assert } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { ConfiguredHttp, UntrustedHttp } from "#egress"
import { gatewayBases } from "#gateway/api"
import { HttpListener } from "#http"
import { Addresses, Drain, Metrics } from "#runtime"
import { Configuration } from "#configuration"
import {
  modelResource,
  offerOf,
  paymentRequired,
  type PaymentReply,
  settlementFailed,
  verificationFailed
} from "#payments"
import { type LocalUpstream, startLocalUpstream } from "../../dev/upstream/LocalUpstream.ts"
import { modelGatewayWith } from "../../services/model-gateway/role.ts"
import { openCall } from "../../services/model-gateway/payments/paid-call.ts"
import { PaymentGate } from "../../services/model-gateway/payments/PaymentGate.ts"
import type { PayableCall } from "../../services/model-gateway/payments/quote.ts"
import { refusalOf } from "../../services/model-gateway/payments/replies.ts"
import { gatewayDocuments } from "../../services/model-gateway/documents.ts"
import { contractOf } from "./openapi-answers.ts"
import { testNetwork } from "./payments.ts"
import { busOn, natsServer } from "../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"

type Json = Readonly<Record<string, unknown>>

/** The events at the payment gate, in order. */
export interface PaymentLog {
  readonly calls: Array<PayableCall>
  readonly steps: Array<"pay" | "serve" | "release" | "abandon" | "settle">
  /** Makes the next settlement fail. */
  refusesSettlement: boolean
}

const quote = {
  resource: modelResource({ origin: "https://models.example.com", path: "/v1/chat/completions", model: "demo/echo" }),
  offers: [offerOf(testNetwork, 25_685n, { maxTimeoutSeconds: 600 })]
} as const

/** Takes `PAYMENT-SIGNATURE: good`. */
const testGate = (payments: PaymentLog) => {
  const refusal = (code: string, reply: PaymentReply) => Effect.fail(refusalOf(code, reply))
  const quoted = ({ shape }: PayableCall) => refusalOf("PAYMENT_REQUIRED", paymentRequired(quote, shape))
  const step = (name: PaymentLog["steps"][number]) => Effect.sync(() => void payments.steps.push(name))
  return Layer.succeed(PaymentGate, {
    refund: () => Effect.undefined,
    pay: (call) =>
      Effect.gen(function* () {
        const [money] = call.payment["payment-signature"]
        const refused = { code: "PAYMENT_INVALID", reason: "not good", payer: null } as const
        if (money === undefined) return yield* Effect.fail(quoted(call))
        if (money !== "good") return yield* refusal(refused.code, verificationFailed(quote, call.shape, refused))
        payments.calls.push(call)
        yield* step("pay")
        return openCall({
          release: step("release"),
          abandon: step("abandon"),
          serve: step("serve"),
          force: Effect.void,
          keep: Effect.void,
          measure: () => true,
          settle: () =>
            Effect.gen(function* () {
              yield* step("settle")
              if (payments.refusesSettlement) {
                const unfunded = { code: "PAYMENT_UNFUNDED", reason: "not enough", payer: null } as const
                const chainFacts = { network: "eip155:84532", transaction: null }
                return yield* refusal(
                  unfunded.code,
                  settlementFailed(quote, call.shape, { ...unfunded, ...chainFacts })
                )
              }
              return { headers: { "payment-response": "receipt" } }
            })
        })
      })
  })
}

export interface GatewayOptions {
  /** Over the usual ones. */
  readonly settings?: Json
  readonly models?: (upstream: string) => ReadonlyArray<Json>
  readonly providers?: (upstream: string) => ReadonlyArray<Json>
}

export interface TestGateway {
  readonly url: string
  readonly upstream: LocalUpstream
  readonly payments: PaymentLog
  readonly metrics: Effect.Effect<string>
  readonly server: TestNatsServer
}

const paid = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }
const via = (provider: string, model: string) => ({ Upstreams: [{ Provider: provider, Model: model }] })

const embedding = (provider: string) => ({ ContextTokens: 100, ...via(provider, "embedding-1") })

/** Each model by each kind of provider, and one with a broken provider before a good one. */
const usualModels: ReadonlyArray<Json> = [
  { Id: "demo/echo", ...via("plain", "echo-1"), ...paid },
  { Id: "demo/free", ...via("plain", "free-1"), Free: true },
  { Id: "demo/nostream", ...via("plain", "nostream-1"), ...paid, Streams: false },
  { Id: "claude/echo", ...via("other", "echo-1"), ...paid },
  { Id: "claude/free", ...via("other", "free-1"), Free: true },
  { Id: "claude/counted", ...via("other", "echo-1"), ...paid, CountMicroUsd: 50 },
  {
    Id: "demo/twice",
    Upstreams: [
      { Provider: "away", Model: "echo-1" },
      { Provider: "plain", Model: "echo-1" }
    ],
    ...paid
  },
  { Id: "demo/picture", Kind: "image", ...via("plain", "picture-1"), FlatMicroUsd: 20_000 },
  { Id: "demo/embedding", Kind: "embedding", ...embedding("plain"), InputMicroUsdPerMillionTokens: 1_000_000 },
  { Id: "free/embedding", Kind: "embedding", ...embedding("plain"), Free: true }
]

/** Runs a test against a gateway. */
export const withGateway = <A, E>(
  test: (gateway: TestGateway) => Effect.Effect<A, E, Scope.Scope>,
  options: GatewayOptions = {}
) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    const upstream = yield* startLocalUpstream()
    const payments: PaymentLog = { calls: [], steps: [], refusesSettlement: false }
    const configuration = Configuration.layerOf({
      ModelGateway: {
        Port: 0,
        FreeTier: { PerMinute: 300, PerHour: 300 },
        Providers: options.providers?.(upstream.url) ?? [
          { Name: "plain", BaseUrl: `${upstream.url}/v1` },
          { Name: "other", Kind: "anthropic", BaseUrl: `${upstream.url}/v1` },
          // Nothing listens on it.
          { Name: "away", BaseUrl: "http://127.0.0.1:9/v1" }
        ],
        Models: options.models?.(upstream.url) ?? usualModels,
        ...options.settings
      }
    })
    const gateway = modelGatewayWith.pipe(
      Layer.provideMerge(testGate(payments)),
      Layer.provideMerge(Layer.mergeAll(ConfiguredHttp.layer, UntrustedHttp.layer)),
      Layer.provideMerge(Drain.layer),
      Layer.provideMerge(busOn(server)),
      Layer.provideMerge(Addresses.layer),
      Layer.provideMerge(configuration)
    )
    return yield* Effect.gen(function* () {
      const { url } = yield* HttpListener
      const { text } = yield* Metrics
      return yield* test({ url, upstream, payments, metrics: text, server })
    }).pipe(Effect.provide(gateway))
  }).pipe(Effect.scoped)

export interface GatewayAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Json
}

/** A call as any client makes it. Its answer is as the API's own document describes it. */
export const ask = (
  { url }: Pick<TestGateway, "url">,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<GatewayAnswer> =>
  Effect.promise(async () => {
    const method = body === undefined ? "GET" : "POST"
    const isText = typeof body === "string"
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
      headers: { "content-type": "application/json", ...headers }
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? (JSON.parse(text) as Json) : {}
    }
    assert.deepStrictEqual(breachesOf(method, path, answer), [], `${method} ${path}: ${text}`)
    return answer
  })

const document = JSON.parse(JSON.stringify(gatewayDocuments.openApi())) as Record<string, unknown>
const { breaches } = contractOf(document)
const templates = Object.entries(document["paths"] as Readonly<Record<string, object>>)

/** Every place where an answer differs from the document; none for a path or a method that is not in it. */
const breachesOf = (method: string, path: string, answer: GatewayAnswer): ReadonlyArray<string> => {
  const base = gatewayBases.findLast((each) => path.startsWith(`${each}/`)) ?? ""
  const plain = path.slice(base.length).split("?")[0] ?? ""
  const [template] =
    templates.find(([each]) => new RegExp(`^${each.replaceAll(/\{\w+\}/gu, ".+")}$`, "u").test(plain)) ?? []
  const isDescribed = templates.some(([each, methods]) => each === template && method.toLowerCase() in methods)
  if (template === undefined || !isDescribed) return []
  const contentType = answer.headers.get("content-type") ?? ""
  const isStream = contentType.startsWith("text/event-stream")
  return breaches(method, template, {
    ...answer,
    contentType,
    body: isStream ? eventsOf(answer.text).data : answer.body
  })
}

export const money = { "payment-signature": "good" }

/** A question to a model, streamed or not. */
export const chat = (content: string, more: Json = {}) => ({
  model: "demo/echo",
  messages: [{ role: "user", content }],
  ...more
})

/** The data of every server-sent event, and the comments. */
export const eventsOf = (text: string) => {
  const lines = text.split("\n")
  return {
    data: lines.flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : [])),
    comments: lines.flatMap((line) => (line.startsWith(": ") ? [line.slice(2)] : []))
  }
}
