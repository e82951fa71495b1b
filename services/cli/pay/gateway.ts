/**
 * The gateway as `pay` calls it: the call, its refusal in lines for a terminal. A payment that the gateway could not use
 * for reasons of its own is sent once more, the same one: a second signature would be a second payment.
 */
import { Effect, Option, Result, Schema } from "effect"
import type { PaymentPayload } from "#contracts"
import { CommandRefused, noFleet } from "../refusals.ts"
import { brokenOff } from "../say/client.ts"
import type { PayOrder } from "./order.ts"

const retryAfterMaxSeconds = 10

/** An answer of any status. It ends with the scope. */
export const callGateway = Effect.fnUntraced(function* (
  gatewayUrl: string,
  order: PayOrder,
  payment: Option.Option<PaymentPayload>
) {
  const controller = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  const base = order.chain === "solana" ? "/solana/api" : "/api"
  const header = Option.map(payment, (payload) => Buffer.from(JSON.stringify(payload)).toString("base64"))
  return yield* Effect.tryPromise({
    try: () =>
      fetch(`${gatewayUrl}${base}/v1/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(Option.isSome(header) ? { "payment-signature": header.value } : {})
        },
        body: JSON.stringify({
          model: order.model,
          messages: [{ role: "user", content: order.prompt }],
          stream: order.isStreamed
        }),
        signal: controller.signal
      }),
    catch: (cause) =>
      isAbsent(cause) ? noFleet(`nothing answers at ${gatewayUrl}; start a fleet with ./starling up`) : brokenOff(cause)
  })
})

/** The answer that is paid for. */
export const callPaid = Effect.fnUntraced(function* (gatewayUrl: string, order: PayOrder, payment: PaymentPayload) {
  const first = yield* callGateway(gatewayUrl, order, Option.some(payment))
  if (first.status !== 502 && first.status !== 503) return first
  const seconds = Number(first.headers.get("retry-after") ?? "1")
  if (!(seconds <= retryAfterMaxSeconds)) return first
  yield* Effect.tryPromise({ try: () => first.arrayBuffer(), catch: brokenOff })
  yield* Effect.sleep(seconds * 1_000)
  return yield* callGateway(gatewayUrl, order, Option.some(payment))
})

/** Fails with what the gateway says. */
export const refusedBy = Effect.fnUntraced(function* (response: Response, isPaid: boolean) {
  const body = yield* Effect.tryPromise({ try: () => response.text(), catch: brokenOff })
  const retryAfter = response.headers.get("retry-after")
  return yield* new CommandRefused({ reason: payRefusalLines({ status: response.status, retryAfter, body, isPaid }) })
})

const isAbsent = (cause: unknown) =>
  cause instanceof Error && cause.cause instanceof Error && "code" in cause.cause && cause.cause.code === "ECONNREFUSED"

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

export interface RefusedCall {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
  /** A payment was sent with the call. */
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

// Only a settlement that was refused has been near the chain, and even that moved nothing.
const moneyLine = ({ isPaid, status }: RefusedCall, said: string) => {
  if (!isPaid) return "nothing was paid"
  if (status === 402 && said.includes("settlement")) return "the chain refused the payment, nothing was paid"
  return "the payment was not used, nothing was paid"
}

const oneLine = (text: string) => text.replaceAll(/\s+/gu, " ").trim().slice(0, 500)
