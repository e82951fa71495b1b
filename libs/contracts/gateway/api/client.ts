/** A typed client of the gateway's API, made from its declaration. A refusal fails with its body. */
import { Context, Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { PaymentPayload } from "../../payments/x402.ts"
import { type GatewayBase, GatewayHttpApi } from "./GatewayHttpApi.ts"

/** The payment that goes with a call. Without one the client sends none. */
export const Payment = Context.Reference<PaymentPayload | undefined>("starling/contracts/Payment", {
  defaultValue: () => undefined
})

interface ClientOptions {
  readonly url: string
  readonly base?: GatewayBase
}

/** Needs an `HttpClient`. */
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
