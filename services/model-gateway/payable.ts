/** A call as the payment gate sees it. Pure. */
import { Option } from "effect"
import type { HttpCall } from "#http"
import type { PaymentHeaders } from "#x402"
import type { ImageCall } from "./images/routes.ts"
import type { RegisteredModel } from "./models/ModelRegistry.ts"
import type { ModelCall } from "./requests/read-call.ts"
import type { PayableCall } from "./payments/quote.ts"

/** Node joins the values of a repeated header; base64 has no commas of its own. */
const valuesOf = (call: HttpCall["Service"], name: string) =>
  Option.match(call.header(name), {
    onNone: (): ReadonlyArray<string> => [],
    onSome: (value) => value.split(",").map((part) => part.trim())
  })

const paymentHeaders = (call: HttpCall["Service"]): PaymentHeaders => ({
  "payment-signature": valuesOf(call, "payment-signature"),
  "x-payment": valuesOf(call, "x-payment")
})

const pricesOf = ({ entry }: RegisteredModel): PayableCall["prices"] => ({
  inputMicroUsdPerMillionTokens: entry.InputMicroUsdPerMillionTokens,
  outputMicroUsdPerMillionTokens: entry.OutputMicroUsdPerMillionTokens,
  flatMicroUsd: entry.FlatMicroUsd
})

const common = (http: HttpCall["Service"], model: RegisteredModel) => ({
  method: "POST" as const,
  path: http.route,
  chain: http.route.startsWith("/solana/") ? ("solana" as const) : ("evm" as const),
  model: model.entry.Id,
  prices: pricesOf(model),
  payment: paymentHeaders(http)
})

export const payable = (call: ModelCall, http: HttpCall["Service"]): PayableCall => ({
  ...common(http, call.model),
  prompt: call.prompt,
  outputTokens: call.outputTokens.effective * call.answers,
  count: 1,
  body: call.bytes,
  kind: call.isStreamed ? "stream" : "whole",
  shape: call.dialect
})

export const payableImages = (call: ImageCall, http: HttpCall["Service"], jobId: string): PayableCall => ({
  ...common(http, call.model),
  prompt: { textBytes: Buffer.byteLength(call.prompt), messages: 1, images: 0 },
  outputTokens: 0,
  count: call.count,
  body: call.bytes,
  kind: "whole",
  shape: "chat",
  jobId
})
