/**
 * The gateway as `pay` calls it: the call, a refusal in lines for a terminal, a successful answer with its receipt.
 * When the gateway could not use a payment for reasons of its own, the same payment is sent once more: a second
 * signature would be a second payment.
 */
import { Effect, Option, Result, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClientError, type HttpClientResponse } from "effect/http"
import { type PaymentPayload, SettleResponse } from "#payments/contract"
import { gatewayClient, Payment } from "#gateway/api"
import { CommandRefused, noFleet } from "../console.ts"
import { brokenOff, isAbsent, oneLine } from "../home-fleet.ts"
import type { PayOrder } from "./order.ts"

type Response = HttpClientResponse.HttpClientResponse

const retryAfterMaxSeconds = 10

/** An answer with any status. */
export const callGateway = Effect.fnUntraced(function* (
  gatewayUrl: string,
  order: PayOrder,
  payment: Option.Option<PaymentPayload>
) {
  const api = yield* gatewayClient({ url: gatewayUrl, base: order.chain === "solana" ? "/solana/api" : "/api" })
  const messages = [{ role: "user", content: order.prompt }] as const
  const payload = { model: order.model, messages, stream: order.isStreamed }
  return yield* api.createChatCompletion({ payload, responseMode: "response-only" }).pipe(
    Effect.provideService(Payment, Option.getOrUndefined(payment)),
    Effect.mapError((error) =>
      isAbsent(causeOf(error))
        ? noFleet(`nothing answers at ${gatewayUrl}; start a fleet with ./starling up`)
        : brokenOff(causeOf(error))
    )
  )
}, Effect.provide(FetchHttpClient.layer))

/** The first model that answers with text, in the order of the gateway's list. */
export const firstSold = Effect.fnUntraced(function* (gatewayUrl: string) {
  const api = yield* gatewayClient({ url: gatewayUrl })
  const { data } = yield* api.listModels().pipe(Effect.mapError((error) => unlisted(gatewayUrl, error)))
  const first = data.find(({ categories }) => !categories.some((kind) => kind === "image" || kind === "embedding"))
  if (first === undefined) {
    return yield* new CommandRefused({ reason: `${gatewayUrl} sells no model for text: ./starling models lists them` })
  }
  return first.id
}, Effect.provide(FetchHttpClient.layer))

const unlisted = (gatewayUrl: string, error: unknown) => {
  if (HttpClientError.isHttpClientError(error)) {
    return isAbsent(causeOf(error))
      ? noFleet(`nothing answers at ${gatewayUrl}; start a fleet with ./starling up`)
      : brokenOff(causeOf(error))
  }
  return new CommandRefused({ reason: `${gatewayUrl} does not say what it sells; name a model with --model` })
}

/** A channel's refund, or without a payment the accepted channels; an answer with any status. */
export const callRefund = Effect.fnUntraced(function* (gatewayUrl: string, payment: PaymentPayload | undefined) {
  const api = yield* gatewayClient({ url: gatewayUrl })
  return yield* api.refundChannel({ responseMode: "response-only" }).pipe(
    Effect.provideService(Payment, payment),
    Effect.mapError((error) =>
      isAbsent(causeOf(error))
        ? noFleet(`nothing answers at ${gatewayUrl}; start a fleet with ./starling up`)
        : brokenOff(causeOf(error))
    )
  )
}, Effect.provide(FetchHttpClient.layer))

/** The receipt in an answer's headers. */
export const receiptOf = ({ headers }: Response) => receiptIn(headers["payment-response"])

const causeOf = (error: HttpClientError.HttpClientError): unknown => error.cause ?? error.reason.cause ?? error

export const callPaid = Effect.fnUntraced(function* (gatewayUrl: string, order: PayOrder, payment: PaymentPayload) {
  const first = yield* callGateway(gatewayUrl, order, Option.some(payment))
  if (first.status !== 502 && first.status !== 503) return first
  const seconds = Number(first.headers["retry-after"] ?? "1")
  if (!(seconds <= retryAfterMaxSeconds)) return first
  yield* Effect.mapError(first.arrayBuffer, (error) => brokenOff(causeOf(error)))
  yield* Effect.sleep(seconds * 1_000)
  return yield* callGateway(gatewayUrl, order, Option.some(payment))
})

/** Fails with the gateway's message. */
export const refusedBy = Effect.fnUntraced(function* (response: Response, isPaid: boolean) {
  const body = yield* Effect.mapError(response.text, (error) => brokenOff(causeOf(error)))
  const retryAfter = response.headers["retry-after"] ?? null
  return yield* new CommandRefused({ reason: payRefusalLines({ status: response.status, retryAfter, body, isPaid }) })
})

const ErrorBody = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.optionalKey(
      Schema.Union([
        Schema.String,
        Schema.Struct({
          message: Schema.optionalKey(Schema.String),
          code: Schema.optionalKey(Schema.NullOr(Schema.String))
        })
      ])
    ),
    code: Schema.optionalKey(Schema.String),
    message: Schema.optionalKey(Schema.String),
    debug: Schema.optionalKey(Schema.String),
    payer: Schema.optionalKey(Schema.String)
  })
)

interface RefusedCall {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
  /** Whether a payment was sent with the call. */
  readonly isPaid: boolean
}

export const payRefusalLines = (refused: RefusedCall): string => {
  const { status, retryAfter, body } = refused
  const read = Schema.decodeResult(ErrorBody)(body)
  if (Result.isFailure(read)) return `the gateway answered ${status}: ${oneLine(body)}`
  const { error, debug, payer } = read.success
  const inner = typeof error === "string" ? { message: error } : error
  const code = read.success.code ?? (typeof error === "string" ? undefined : (error?.code ?? undefined))
  const said = [...new Set([inner?.message, read.success.message])].filter((text) => text !== undefined)
  const marks = [String(status), code, payer === undefined ? undefined : `payer ${payer}`]
  const again = retryAfter === null ? "" : `; try again in ${retryAfter} s`
  const head = `${oneLine(said.join(": "))} (${marks.filter((mark) => mark !== undefined).join(", ")})${again}`
  const reason = debug === undefined ? [] : [`  ${oneLine(debug)}`]
  return [head, ...reason, `  ${moneyLine(refused, said[0] ?? "")}`].join("\n")
}

// Only a refused settlement has reached the chain, and even that moved no money.
const moneyLine = ({ isPaid, status }: RefusedCall, said: string) => {
  if (!isPaid) return "nothing was paid"
  if (status === 402 && said.includes("settlement")) return "the chain refused the payment, nothing was paid"
  return "the payment was not used, nothing was paid"
}

export interface PaidAnswer {
  readonly text: string
  /** Absent when nothing is owed, or the chain has not confirmed it yet. */
  readonly receipt: SettleResponse | undefined
}

const CompleteAnswer = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({ message: Schema.Struct({ content: Schema.optionalKey(Schema.NullOr(Schema.String)) }) })
  )
})
const decodeReceipt = Schema.decodeUnknownResult(Schema.fromJsonString(SettleResponse))

export const takeAnswer = Effect.fnUntraced(function* (response: Response, show: (text: string) => void) {
  const isStream = response.headers["content-type"]?.startsWith("text/event-stream") === true
  const answer = yield* isStream ? streamed(response, show) : whole(response, show)
  return { ...answer, receipt: answer.receipt ?? receiptIn(response.headers["payment-response"]) }
})

const whole = Effect.fnUntraced(function* (response: Response, show: (text: string) => void) {
  const body = yield* Effect.mapError(response.json, (error) => brokenOff(causeOf(error)))
  const read = yield* Effect.mapError(
    Schema.decodeUnknownEffect(CompleteAnswer)(body),
    (error) => new CommandRefused({ reason: `the gateway's answer is not understood: ${error.message}` })
  )
  const text = read.choices[0]?.message.content ?? ""
  show(text)
  const answer: PaidAnswer = { text, receipt: undefined }
  return answer
})

const streamed = Effect.fnUntraced(function* (response: Response, show: (text: string) => void) {
  const read = chatReader()
  const found = { text: "", receipt: undefined as SettleResponse | undefined, isDone: false }
  const take = (event: ChatEvent) => {
    switch (event.type) {
      case "words":
        found.text += event.text
        return Effect.sync(() => show(event.text))
      case "receipt":
        found.receipt = receiptIn(event.header)
        return Effect.void
      case "done":
        found.isDone = true
        return Effect.void
      case "failed":
        return Effect.fail(new CommandRefused({ reason: `the answer broke off: ${event.reason}; nothing was paid` }))
    }
  }
  const bytes = Stream.mapError(response.stream, (error) => brokenOff(causeOf(error)))
  yield* Stream.runForEach(bytes, (part: Uint8Array) => Effect.forEach(read(part), take, { discard: true }))
  if (!found.isDone) return yield* new CommandRefused({ reason: "the answer broke off before its end" })
  const answer: PaidAnswer = { text: found.text, receipt: found.receipt }
  return answer
})

export const receiptIn = (header: string | undefined): SettleResponse | undefined => {
  if (header === undefined) return undefined
  return Result.getOrUndefined(decodeReceipt(Buffer.from(header, "base64").toString("utf8")))
}

export type ChatEvent =
  | { readonly type: "words"; readonly text: string }
  /** The value of PAYMENT-RESPONSE, which a stream carries as a comment. */
  | { readonly type: "receipt"; readonly header: string }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly reason: string }

const Chunk = Schema.fromJsonString(
  Schema.Struct({
    choices: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          delta: Schema.optionalKey(Schema.Struct({ content: Schema.optionalKey(Schema.NullOr(Schema.String)) }))
        })
      )
    ),
    error: Schema.optionalKey(
      Schema.Struct({ message: Schema.String, code: Schema.optionalKey(Schema.NullOr(Schema.String)) })
    )
  })
)
const decode = Schema.decodeResult(Chunk)
export const receiptPattern = /^: ?payment-response ([A-Za-z0-9+/=]{1,8192})$/u

/** Reads a streamed chat from bytes in chunks of any size: its words, its receipt, its end. Pure. */
export const chatReader = () => {
  const utf8 = new TextDecoder()
  let rest = ""
  return (bytes: Uint8Array): ReadonlyArray<ChatEvent> => {
    const lines = (rest + utf8.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    return lines.flatMap(eventsOf)
  }
}

const eventsOf = (line: string): ReadonlyArray<ChatEvent> => {
  const receipt = receiptPattern.exec(line)?.[1]
  if (receipt !== undefined) return [{ type: "receipt", header: receipt }]
  if (!line.startsWith("data: ")) return []
  const data = line.slice("data: ".length)
  if (data === "[DONE]") return [{ type: "done" }]
  const read = decode(data)
  if (Result.isFailure(read)) return [{ type: "failed", reason: `a chunk cannot be read: ${read.failure.message}` }]
  const { choices = [], error } = read.success
  if (error !== undefined) return [{ type: "failed", reason: `${error.message} (${error.code ?? "no code"})` }]
  const text = choices.map(({ delta }) => delta?.content ?? "").join("")
  return text === "" ? [] : [{ type: "words", text }]
}
