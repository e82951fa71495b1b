/**
 * The gateway's whole API: every route with its shapes and refusals. Server, documents and clients follow it. Each route
 * stands below every base path.
 */
import { Context, Effect, Schema } from "effect"
import { HttpApi, HttpApiClient, OpenApi } from "effect/http-api"
import { descriptionGroup } from "../../http/declaration.ts"
import { CallsGroup } from "./endpoints/calls.ts"
import { ImagesGroup } from "./endpoints/images.ts"
import { ModelsGroup } from "./endpoints/models.ts"
import { errorShapes, refusals } from "./refusals.ts"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { PaymentPayload } from "../../payments/x402.ts"

/** The paths before each route: two that are the same, and one whose quotes are for Solana. */
export const gatewayBases = ["", "/api", "/solana/api"] as const
export type GatewayBase = (typeof gatewayBases)[number]

export const GatewayHttpApi = HttpApi.make("models")
  .add(CallsGroup, ImagesGroup, ModelsGroup, descriptionGroup(refusals("INTERNAL_ERROR")))
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling models",
      version: "1.0.0",
      description:
        "Models paid for by the call with x402. `/api/v1` and `/v1` are the same; `/solana/api/v1` quotes for Solana.",
      servers: gatewayBases.map((base) => ({ url: base === "" ? "/" : base }))
    })
  )
  .annotateMerge(Context.make(HttpApi.AdditionalSchemas, errorShapes))

/** The payment that goes with a call. Without one the client sends none. */
export const Payment = Context.Reference<PaymentPayload | undefined>("starling/contracts/Payment", {
  defaultValue: () => undefined
})

interface ClientOptions {
  readonly url: string
  readonly base?: GatewayBase
}

/** A typed client of the API. A refusal fails with its body. Needs an `HttpClient`. */
export const gatewayClient = ({ url, base = "" }: ClientOptions) =>
  HttpApiClient.make(GatewayHttpApi, {
    baseUrl: `${url}${base}`,
    transformClient: HttpClient.mapRequestEffect((request) => Effect.map(Payment, (payment) => paid(request, payment)))
  })

const toBase64 = Schema.encodeSync(Schema.StringFromBase64)

const paid = (request: HttpClientRequest.HttpClientRequest, payment: PaymentPayload | undefined) =>
  payment === undefined
    ? request
    : HttpClientRequest.setHeader(request, "payment-signature", toBase64(JSON.stringify(payment)))
