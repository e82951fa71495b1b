/**
 * The payer's calls: each is forwarded to the gateway; if that requires a payment, it is signed within the limits and
 * sent again, once. The answer is streamed through unchanged; its receipt shows the charge.
 */
import type { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Layer, Ref, Result, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import type { PaymentPayload } from "#payments/contract"
import { ConfiguredHttp, type EgressClient, type EgressStream } from "#egress"
import {
  HttpListener,
  type Method,
  relayedAnswer,
  type RelayedCall,
  relayedCall,
  notFound,
  route,
  urlBelow
} from "#http"
import { Drain, Health, Metrics } from "#runtime"
import { type PayQuote, usdText, type Wallet } from "#payments"
import { receiptIn } from "../pay/gateway.ts"
import { callerFault } from "./admission.ts"
import { chooseOffer, type PayerTerms } from "./choose-offer.ts"
import type { Call, Ledger } from "./Ledger.ts"
import { chargedBy, receiptReader } from "./receipt.ts"
import { gatewayAway, lostAfterSignature, renderRefusal, unpaid } from "./refusals.ts"

export interface Payer {
  readonly gatewayUrl: string
  /** 0 takes any free port. */
  readonly port: number
  readonly token: string
  readonly terms: PayerTerms
  readonly perCall: bigint
  readonly wallet: Pick<Wallet, "sign">
  readonly ledger: Ledger
}

// As much as the gateway accepts with pictures; each is kept for the second try.
const bodyBytesMax = 10_485_760
const connectionsMax = 64
const connectTimeoutMs = 10_000
// A model that answers in one piece takes minutes until its head, and then the chain is waited for.
const headersMs = 900_000
// A gateway sends a sign of life every ten seconds.
const stallMs = 180_000
const deadlineMs = 3_600_000
const answerBytesMax = 1_073_741_824

// The caller's token is only for the payer, and so are payments.
const headersLeft = ["x-api-key", "payment-signature", "x-payment"]

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** Listens only on this machine. */
export const payerListener = (payer: Payer) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const client = yield* (yield* ConfiguredHttp).open({
        use: "payer",
        connectionsPerLaneMax: connectionsMax,
        lanesMax: 1,
        connectTimeoutMs
      })
      const handler = answerCall({ ...payer, client })
      return HttpListener.layer({
        name: "payer",
        host: "127.0.0.1",
        port: payer.port,
        routes: methods.map((method) => route(method, "/*", handler)),
        renderError: renderRefusal,
        limits: { connectionsMax, headerBytesMax: 65_536 }
      })
    })
  ).pipe(
    Layer.provide(ConfiguredHttp.layer),
    Layer.provide(Drain.layer),
    Layer.provide(Layer.merge(Health.layer, Metrics.layerTest))
  )

interface Serving extends Payer {
  readonly client: EgressClient
}

const answerCall = (payer: Serving) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const fault = callerFault({ headers: request.headers, port: socket.localPort }, payer.token)
    if (fault !== undefined) return yield* fault
    const call = yield* relayedCall({ prefix: "", bodyBytesMax, headersLeft })
    const entry = yield* openEntry(payer, call)
    return yield* Effect.tapError(passOn(payer, call, entry), ({ status, message }) =>
      note(entry, `${status} ${message}`)
    )
  })

const passOn = Effect.fnUntraced(function* (payer: Serving, call: RelayedCall, entry: Entry) {
  const first = yield* Effect.mapError(send(payer, call), ({ message }) => gatewayAway(payer.gatewayUrl, message))
  if (first.status !== 402) {
    yield* note(entry, String(first.status))
    return relayedAnswer(first)
  }
  // Read to its end, so that the paid call can reuse its connection.
  yield* Effect.ignore(Stream.runDrain(first.body))
  const reserved = yield* reserve(payer, first.headers["payment-required"])
  return yield* payFor(payer, call, { entry, ...reserved })
})

type Entry = Ref.Ref<Call>

/** Its line is written when the call has ended, on either side. */
const openEntry = (payer: Serving, { target, body }: RelayedCall) => {
  const path = target.split("?", 1).join()
  const entry: Call = { path, model: modelIn(body), said: "broken off" }
  return Effect.acquireRelease(Ref.make(entry), (opened) => Effect.flatMap(Ref.get(opened), payer.ledger.end))
}

const modelCharactersMax = 128

const modelIn = (body: Uint8Array | null): string => {
  const read = Result.try(
    () => JSON.parse(Buffer.from(body ?? []).toString("utf8")) as { readonly model?: unknown } | null
  )
  const model = Result.isSuccess(read) ? read.success?.model : undefined
  return typeof model === "string" ? model.slice(0, modelCharactersMax) : ""
}

const note = (entry: Entry, said: string) => Ref.update(entry, (before) => ({ ...before, said }))

const send = Effect.fnUntraced(function* (payer: Serving, call: RelayedCall, payment?: PaymentPayload) {
  const url = urlBelow(payer.gatewayUrl, call.target)
  if (url === undefined) return yield* notFound("there is nothing at this path")
  const { method, body } = call
  const paid = payment && { "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64") }
  const headers = { ...call.headers, ...paid }
  const request = { method, url, headers, body, headersMs, stallMs, deadlineMs, responseBytesMax: answerBytesMax }
  return yield* payer.client.stream(request)
})

/** What is signed, once its price is reserved from the budget. */
const reserve = Effect.fnUntraced(function* ({ terms, perCall, ledger }: Serving, header: string | undefined) {
  const chosen = chooseOffer(header, terms)
  if (Result.isFailure(chosen)) return yield* unpaid("no_way_to_pay", chosen.failure)
  const quote = chosen.success
  const price = `the price of this call is ${usdText(quote.microUsd)} USD`
  if (quote.microUsd > perCall) {
    return yield* unpaid("price_above_limit", `${price}, more than the ${usdText(perCall)} of --per-call`)
  }
  const id = yield* ledger.reserve(quote.microUsd)
  if (id !== undefined) return { quote, id }
  const left = usdText(yield* ledger.left)
  return yield* unpaid("budget_exhausted", `${price}, and of --per-hour ${left} USD are left for this hour`)
})

interface Signing {
  readonly entry: Entry
  readonly quote: PayQuote
  readonly id: number
}

const payFor = Effect.fnUntraced(function* (payer: Serving, call: RelayedCall, signing: Signing) {
  const { entry, quote, id } = signing
  const { ledger, wallet, gatewayUrl } = payer
  const unsigned = ledger.settle(id, 0n)
  const signed = yield* wallet.sign(quote).pipe(
    Effect.onInterrupt(() => unsigned),
    Effect.catch(({ reason }) => Effect.andThen(unsigned, unpaid("cannot_sign", reason)))
  )
  // From here on it counts as spent, until the gateway proves otherwise.
  yield* Ref.update(entry, (before) => ({ ...before, signed: { id, microUsd: quote.microUsd } }))
  const answer = yield* Effect.mapError(send(payer, call, signed), ({ message }) =>
    lostAfterSignature(gatewayUrl, message)
  )
  yield* note(entry, String(answer.status))
  const conclude = Effect.fnUntraced(function* (charged: bigint) {
    yield* ledger.settle(id, charged)
    yield* Ref.update(entry, (before) => ({ ...before, charged }))
  })
  const charged = chargedByHead(answer, quote)
  if (charged === undefined) return relayedAnswer({ ...answer, body: yield* watched(answer.body, quote, conclude) })
  yield* conclude(charged)
  return relayedAnswer(answer)
})

/** Undefined if the head does not show it. A refusal is believed to be unpaid only if it is the gateway's own. */
const chargedByHead = ({ status, headers }: EgressStream, { requirements }: PayQuote): bigint | undefined => {
  const charged = chargedBy(receiptIn(headers["payment-response"]), requirements)
  const isRefused = status >= 400 && headers["x-request-id"] !== undefined
  return charged ?? (isRefused ? 0n : undefined)
}

// A gateway waits as long for its chain.
const receiptMs = 15_000

/**
 * The same bytes; a receipt among them is reported before they are passed on. Many clients disconnect at the last
 * event, and the receipt follows it: the rest is then read without them.
 */
const watched = Effect.fnUntraced(function* (
  body: EgressStream["body"],
  { requirements }: PayQuote,
  conclude: (charged: bigint) => Effect.Effect<void>
) {
  const receipt = receiptReader()
  const read = Stream.tap(body, (bytes) => {
    const charged = chargedBy(receipt.read(bytes), requirements)
    return charged === undefined ? Effect.void : conclude(charged)
  })
  const rest = Effect.timeoutOption(Effect.interruptible(Effect.ignore(Stream.runDrain(read))), receiptMs)
  yield* Effect.addFinalizer(() => (receipt.isDue() ? rest : Effect.void))
  return read
})
