/**
 * The role model-gateway.
 *
 * in: HTTP on ModelGateway.Port
 * out: calls to the providers of ModelGateway.Providers; orders about payment channels on `payments.channels`; images
 * that conversations name, through the guarded client
 * state: nothing that outlives an answer but payment channels (KV `channels`), image jobs (KV `image-jobs`, objects
 * `image-answers`), what free callers have used (KV `rate-windows`), and how the calls of each model ended (KV
 * `model-uptime`)
 * when something fails: a model's next provider is called as long as nothing has been sent; a payment is released
 * before its failure is reported; a caller that leaves cuts its provider off; no answer is sent unpaid
 *
 * It also answers refunds of payment channels: the payer gets back what was not charged.
 */
import { Effect, Layer } from "effect"
import { bodySizesOf } from "#gateway/contract"
import { CallsGroup, ChannelsGroup, EmbeddingsGroup, gatewayBases, ImagesGroup, ModelsGroup } from "#gateway/api"
import {
  Admission,
  below,
  BodyRoom,
  type CorsPolicy,
  crossOrigin,
  descriptionRoutes,
  HttpCall,
  HttpListener,
  jsonAnswer,
  type ErrorHeaders,
  type RenderError,
  routesOf
} from "#http"
import { Configuration } from "#configuration"
import { exposedHeaders } from "#payments"
import { Metrics } from "#runtime"
import { answerEmbeddings } from "./answer-embeddings.ts"
import { answerModel } from "./answer-model.ts"
import { answerTokenCount } from "./answer-token-count.ts"
import { discoveryRoutes } from "./discovery.ts"
import { gatewayDocuments } from "./documents.ts"
import { clientCalls } from "./metrics.ts"
import { ImageJobs, ImageWork } from "./images/ImageJobs.ts"
import { answerImageJob, answerImages } from "./images/answer-images.ts"
import { FreeTier } from "./models/FreeTier.ts"
import { ModelRegistry } from "./models/ModelRegistry.ts"
import { answerModelById, answerModels } from "./models/answer-models.ts"
import { configuredPaymentGate, PaymentGate } from "./payments/PaymentGate.ts"
import { FileFetcher } from "./requests/FileFetcher.ts"
import { Providers } from "./upstream/Providers.ts"
import { Upstreams } from "./upstream/Upstreams.ts"
import { Uptime } from "./upstream/Uptime.ts"
import { answering, notFound } from "./answer-refusal.ts"
import { storedResponseRoutes } from "./stored-responses.ts"
import { paymentHeaders } from "./payments/quote.ts"

/** Answers a payment channel's refund: the payer gets back what was not charged. */
const answerRefund = answering("chat")(
  Effect.gen(function* () {
    const http = yield* HttpCall
    const refunded = yield* (yield* PaymentGate).refund({ path: http.route, payment: paymentHeaders(http) })
    if (refunded === undefined) return notFound("Payment channels are not taken here")
    const { network, amount, transaction, headers } = refunded
    return jsonAnswer({ network, amount, transaction }, { headers: { ...headers, "cache-control": "no-store" } })
  })
)

const options = { bodyBytesMax: Effect.map(Configuration, ({ ModelGateway }) => bodySizesOf(ModelGateway).text) }

const routes = [
  ...routesOf(
    CallsGroup,
    {
      createChatCompletion: () => answerModel("chat"),
      createMessage: () => answerModel("messages"),
      countTokens: () => answerTokenCount,
      createResponse: () => answerModel("responses")
    },
    options
  ),
  ...routesOf(ImagesGroup, { createImage: () => answerImages, getImageJob: () => answerImageJob }, options),
  ...routesOf(EmbeddingsGroup, { createEmbedding: () => answerEmbeddings }, options),
  ...routesOf(ChannelsGroup, { refundChannel: () => answerRefund }, options),
  // A model's id contains a slash, which clients write literally or percent-encoded.
  ...routesOf(ModelsGroup, { listModels: () => answerModels, getModel: () => answerModelById }, options).map(
    (each) => ({ ...each, path: each.path.replace(/:model$/u, "*") as `/${string}` })
  ),
  ...storedResponseRoutes,
  ...discoveryRoutes,
  ...descriptionRoutes(gatewayDocuments)
] as const

export const gatewayRoutes = gatewayBases.flatMap((base) => below(base, routes))

/** The answer if no route matched: unknown paths, wrong methods, and input that is not HTTP. */
export const renderGatewayError: RenderError = ({ status, code, message }) => ({
  error: {
    message,
    type: status >= 500 ? "api_error" : status === 429 ? "rate_limit_error" : "invalid_request_error",
    code: code.toUpperCase(),
    param: null
  },
  message,
  code: code.toUpperCase()
})

const gatewayErrorHeaders: ErrorHeaders = ({ code }) => ({
  "cache-control": "no-store",
  "x-error-code": code.toUpperCase()
})

/** Checks the configuration before the broker is needed. */
export { configuredModels as checkModelGateway } from "./models/ModelRegistry.ts"

const admission = Layer.unwrap(
  Effect.map(Configuration, ({ ModelGateway }) =>
    Admission.layer({ runningMax: ModelGateway.RunningMax, perWorkspaceMax: ModelGateway.RunningMax })
  )
)

const bodyRoom = Layer.unwrap(
  Effect.map(Configuration, ({ ModelGateway }) =>
    BodyRoom.layer({ api: "model-gateway", bytesMax: bodySizesOf(ModelGateway).together })
  )
)

/** Its series begin with the process: the first answers of each are seen by `increase` too. */
const clientCounts = Layer.effectDiscard(Effect.map(Metrics, ({ counter }) => counter(clientCalls)))

const parts = ImageWork.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Upstreams.layer, ImageJobs.layer)),
  Layer.provideMerge(Layer.mergeAll(Providers.layer, Uptime.layer)),
  Layer.provideMerge(
    Layer.mergeAll(ModelRegistry.layer, FreeTier.layer, FileFetcher.layer, admission, bodyRoom, clientCounts)
  )
)

const listener = Layer.unwrap(
  Effect.map(Configuration, ({ ModelGateway }) =>
    HttpListener.layer({
      name: "model-gateway",
      host: ModelGateway.Host,
      port: ModelGateway.Port,
      routes: crossOrigin(gatewayRoutes),
      cors: gatewayCors(ModelGateway.AllowedOrigins),
      renderError: renderGatewayError,
      errorHeaders: gatewayErrorHeaders,
      requestIdHeaders: ["Request-Id"]
    })
  )
)

const address = HttpListener.announced("model-gateway")

/** The role with its listener exposed. Needs the bus, the egress, the runtime, and a payment gate. */
export const modelGatewayWith = address.pipe(Layer.provideMerge(listener), Layer.provide(parts))

export const modelGateway = address.pipe(
  Layer.provide(listener),
  Layer.provide(parts),
  Layer.provide(configuredPaymentGate)
)

/**
 * What pages of other origins may send to the gateway and read from its answers, because wallets run in browsers. Pure.
 */
const gatewayCors = (origins: CorsPolicy["origins"]): CorsPolicy => ({
  origins,
  requestHeaders: [
    "PAYMENT-SIGNATURE",
    "X-PAYMENT",
    "Content-Type",
    "Accept",
    "Authorization",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "traceparent",
    "X-Request-Id",
    // Although it is a response header, x402's client libraries send it with paid requests.
    "Access-Control-Expose-Headers"
  ],
  // Headers of the official libraries of both API families.
  requestHeaderPrefixes: ["x-stainless-", "openai-"],
  exposedHeaders: [
    exposedHeaders,
    "X-Payment-Settle-Error-Class",
    "Retry-After",
    "Location",
    "X-Image-Job",
    "X-Should-Retry",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Source",
    "X-Free-Model",
    "X-Token-Count",
    "X-Starling-Left-Out",
    "X-Max-Tokens-Capped",
    "X-Max-Tokens-Requested",
    "X-Max-Tokens-Effective",
    "Request-Id",
    "X-Request-Id"
  ]
})
