/**
 * The gateway as `pay` calls it. A payment that the gateway could not use for reasons of its own is sent once more,
 * the same one: a second signature would be a second payment.
 */
import { Effect, Option } from "effect"
import type { PaymentPayload } from "#contracts"
import { CommandRefused } from "./connect.ts"
import type { PayOrder } from "./pay-parameters.ts"
import { payRefusalLines } from "./pay-refusal.ts"
import { brokenOff } from "./say-client.ts"
import { noFleet } from "./say-stopped.ts"

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
