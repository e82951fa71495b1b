/**
 * A third party's facilitator, asked over HTTP. The unknown cases matter most: a missing answer is never a refusal. A
 * verification without an answer may be asked again; a settlement without one may have happened, so it is pending until
 * the chain is asked. Only `success: true` with a transaction means paid.
 */
import { Clock, Effect, Result, Schema, type Scope } from "effect"
import {
  type FacilitatorRequest,
  type PaymentPayload,
  type PaymentRequirements,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
  x402Version
} from "#contracts"
import { ConfiguredHttp, type EgressError, type EgressResponse, type EgressClient } from "#egress"
import { Metrics } from "#runtime"
import { ChainUnavailable, type PaymentRefused, SettlementPending, type SettlementRefused } from "../errors.ts"
import { facilitatorCalls, facilitatorSeconds } from "../metrics.ts"
import type { Settlement } from "../scheme.ts"
import { hiddenOf, readSettlement, readVerification } from "./remote-scheme.ts"

export interface FacilitatorOptions {
  /** The URL before the operation: `https://facilitator.example.com/v2`. */
  readonly url: string
  readonly timeoutMs: number
  readonly connectionsMax: number
}

export interface Facilitator {
  /** The payer, when the payment is valid. */
  readonly verify: (
    payload: PaymentPayload,
    requirements: PaymentRequirements
  ) => Effect.Effect<string | null, PaymentRefused | ChainUnavailable>
  /** `ChainUnavailable` only when nothing can have been sent. */
  readonly settle: (
    payload: PaymentPayload,
    requirements: PaymentRequirements
  ) => Effect.Effect<Settlement, SettlementRefused | SettlementPending | ChainUnavailable>
  readonly supported: Effect.Effect<SupportedResponse, ChainUnavailable>
}

const answerBytesMax = 65_536
const connectTimeoutMs = 5_000

type Operation = "verify" | "settle" | "supported"
type Outcome = "accepted" | "refused" | "pending" | "unavailable"

export const openFacilitator = Effect.fn("openFacilitator")(function* (
  options: FacilitatorOptions
): Effect.fn.Return<Facilitator, never, ConfiguredHttp | Metrics | Scope.Scope> {
  const client = yield* (yield* ConfiguredHttp).open({
    use: "facilitator",
    connectionsPerLaneMax: options.connectionsMax,
    lanesMax: 1,
    connectTimeoutMs: Math.min(connectTimeoutMs, options.timeoutMs)
  })
  const counted = yield* counting
  const hidden = hiddenOf(options.url)
  const post = (operation: Operation, payload: PaymentPayload, paymentRequirements: PaymentRequirements) =>
    ask(client, options, operation, { x402Version, paymentPayload: payload, paymentRequirements })
  const verify: Facilitator["verify"] = (payload, requirements) =>
    post("verify", payload, requirements).pipe(
      Effect.mapError((error) => unavailable("verify", error.message)),
      Effect.flatMap((answer) => readVerification(answer.status, readAs(VerifyResponse, answer), hidden))
    )
  const settle: Facilitator["settle"] = (payload, requirements) =>
    post("settle", payload, requirements).pipe(
      Effect.mapError(afterSettle),
      Effect.flatMap((answer) => readSettlement(answer.status, readAs(SettleResponse, answer), requirements, hidden))
    )
  const supported: Facilitator["supported"] = ask(client, options, "supported", null).pipe(
    Effect.mapError((error) => unavailable("supported", error.message)),
    Effect.flatMap((answer) => {
      const read = answer.status === 200 ? readAs(SupportedResponse, answer) : undefined
      return read === undefined
        ? Effect.fail(unavailable("supported", `status ${answer.status}`))
        : Effect.succeed(read)
    })
  )
  return {
    verify: (...asked) => counted("verify", verify(...asked)),
    settle: (...asked) => counted("settle", settle(...asked)),
    supported: counted("supported", supported)
  }
})

const unavailable = (operation: Operation, detail: string) =>
  new ChainUnavailable({ operation: `ask the facilitator to ${operation}`, detail })

const ask = (
  client: EgressClient,
  { url, timeoutMs }: FacilitatorOptions,
  operation: Operation,
  body: FacilitatorRequest | null
) =>
  client.request({
    method: body === null ? "GET" : "POST",
    url: `${url.replace(/\/+$/u, "")}/${operation}`,
    headers: { accept: "application/json", ...(body === null ? {} : { "content-type": "application/json" }) },
    body: body === null ? null : Buffer.from(JSON.stringify(body)),
    deadlineMs: timeoutMs,
    responseBytesMax: answerBytesMax
  })

// Without a connection nothing was sent; in every other case it may have been.
const afterSettle = (error: EgressError) => {
  const isUnsent =
    error._tag === "AddressRefused" ||
    error._tag === "InvalidUrl" ||
    (error._tag === "DeadlineExceeded" && error.phase === "connect") ||
    (error._tag === "Unreachable" && (error.reason === "dns" || error.reason === "connect" || error.reason === "tls"))
  return isUnsent
    ? unavailable("settle", error.message)
    : new SettlementPending({ transaction: null, detail: error.message })
}

const readAs = <A>(schema: Schema.Codec<A, A>, answer: EgressResponse): A | undefined => {
  if (answer.truncated) return undefined
  const json = Result.try((): unknown => JSON.parse(Buffer.from(answer.body).toString("utf8")))
  if (Result.isFailure(json)) return undefined
  return Result.getOrUndefined(Schema.decodeUnknownResult(schema)(json.success))
}

const outcomes: Readonly<Record<string, Outcome>> = {
  PaymentRefused: "refused",
  SettlementRefused: "refused",
  SettlementPending: "pending",
  ChainUnavailable: "unavailable"
}

const counting = Effect.gen(function* () {
  const metrics = yield* Metrics
  const calls = metrics.counter(facilitatorCalls)
  const seconds = metrics.histogram(facilitatorSeconds)
  return Effect.fnUntraced(function* <A, E extends { readonly _tag: string }>(
    operation: Operation,
    call: Effect.Effect<A, E>
  ) {
    const startedMs = yield* Clock.currentTimeMillis
    const count = (outcome: Outcome) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        calls.inc({ operation, outcome })
        seconds.observe({ operation }, (nowMs - startedMs) / 1_000)
      })
    return yield* call.pipe(
      Effect.tap(() => count("accepted")),
      Effect.tapError(({ _tag }) => count(outcomes[_tag] ?? "unavailable"))
    )
  })
})
