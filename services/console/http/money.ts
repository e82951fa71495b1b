/**
 * Receipts and claims over HTTP, and payments of trials, which the payers of the local chains sign. A payment's payee
 * and purpose are shown; its signature is not.
 */
import { Context, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { jsonCodec, Kv, Requests } from "#bus"
import {
  chainFamilyOf,
  ClaimKey,
  type PaymentNetwork,
  type PaymentPayload,
  type Receipt,
  type Refund,
  RefundAnswer,
  RefundedPayment,
  RefundOrder
} from "#payments/contract"
import { isoTime, subjects } from "#base"
import {
  ClaimsGroup,
  type ClaimSummary,
  csvLinesMax,
  csvReadMax,
  ReceiptsGroup,
  type RefundView,
  sumsReadMax,
  TrialsGroup
} from "#console/api"
import {
  Admission,
  Caller,
  conflict,
  HttpCall,
  jsonAnswer,
  notFound,
  routesOf,
  serviceUnavailable,
  streamAnswer,
  validationFailed,
  type WireError
} from "#http"
import { Configuration } from "#configuration"
import {
  type CannotPay,
  ClaimReader,
  openWallet,
  type PayQuote,
  readQuote,
  type SeenClaim,
  TrialPayers,
  usdText
} from "#payments"
import {
  csvHead,
  csvLine,
  newestReceipts,
  rangeOf,
  readForOneMax,
  type ReceiptFilter,
  receiptsIn,
  receiptsOfClaim,
  receiptView,
  storedOf,
  sumsOf,
  tokenOf
} from "../money/receipts.ts"
import { AuditLog } from "../AuditLog.ts"
import { apiOptions, cursorText, messageOf, placeOf, refusing, timesOf } from "./requests.ts"

type Networks = ReadonlyArray<PaymentNetwork>

export const claimView = (networks: Networks, { key, record }: SeenClaim): ClaimSummary => ({
  key,
  state: record.state,
  network: record.network,
  asset: record.asset,
  ...tokenOf(networks, record),
  amount: record.amount,
  payer: record.payer,
  payTo: record.payTo,
  model: record.model ?? null,
  kind: record.kind,
  holder: record.holder,
  claimedAt: isoTime(record.claimedAtMs),
  requestedAt: record.requestedAtMs === null ? null : isoTime(record.requestedAtMs),
  asked: record.asked,
  validBefore: isoTime(record.validBeforeMs),
  transactions: record.transactions,
  reason: record.reason
})

const networksOf = Effect.map(Configuration, ({ Payments }) => Payments.Networks)
const isKey = Schema.is(ClaimKey)

export const claimRoutes = routesOf(
  ClaimsGroup,
  {
    listClaims: ({ query }) =>
      Effect.gen(function* () {
        const { state, network, payer, ...asked } = yield* query
        const { before, limit } = yield* placeOf(asked)
        const from = asked.cursor === undefined ? undefined : before
        const found = yield* refusing((yield* ClaimReader).list({ state, network, payer }, { from, limit }))
        const networks = yield* networksOf
        return jsonAnswer({
          items: found.claims.map((claim) => claimView(networks, claim)),
          nextCursor: found.next === undefined ? null : cursorText(String(found.next))
        })
      }),

    getClaim: () =>
      Effect.gen(function* () {
        const { key = "" } = (yield* HttpCall).params
        const claims = yield* ClaimReader
        const claim = isKey(key) ? yield* refusing(claims.read(key)) : Option.none<SeenClaim>()
        if (Option.isNone(claim)) return yield* notFound("no such claim, or it has expired")
        const { record } = claim.value
        const payer = Option.getOrUndefined(yield* refusing(claims.payer(record)))
        const { found, next } = yield* refusing(receiptsOfClaim(claim.value))
        const networks = yield* networksOf
        const denied = payer?.denied ?? null
        return jsonAnswer({
          ...claimView(networks, claim.value),
          receipts: found.map((stored) => receiptView(networks, stored)),
          hasAllReceipts: next === undefined,
          payerPlaces: payer?.places.length ?? 0,
          payerDenied:
            denied === null
              ? null
              : { claimKey: denied.claimKey, reason: denied.reason, since: isoTime(denied.sinceMs) }
        })
      })
  },
  apiOptions
)

const refundOrder = { question: jsonCodec(RefundOrder), answer: jsonCodec(RefundAnswer) }
// A settler answers within 15 s, whatever the chain does.
const refundTimeoutMs = 25_000
const soonSeconds = 2

const refundView = (networks: Networks, receipt: Receipt, refund: Refund): RefundView => {
  const { key, amount, state, from, reason, by, orderedAtMs, endedAtMs, transaction, fault } = refund
  const { network, asset, payer } = receipt
  return {
    key,
    network,
    asset,
    ...tokenOf(networks, receipt),
    amount,
    state,
    payer,
    from,
    reason,
    by,
    orderedAt: isoTime(orderedAtMs),
    endedAt: endedAtMs === null ? null : isoTime(endedAtMs),
    transaction,
    fault
  }
}

const refundsOf = Effect.fnUntraced(function* (networks: Networks, claimKey: string) {
  const bucket = yield* refusing(Effect.flatMap(Kv, (kv) => kv.open("payment-refunds", RefundedPayment)))
  const found = Option.getOrUndefined(yield* refusing(bucket.get(claimKey)))?.value
  return found === undefined ? [] : found.refunds.map((refund) => refundView(networks, found.receipt, refund))
})

/** A page reads no more than this; with few matches it takes several pages. */
const readMax = 4_096

type Asked = Omit<ReceiptFilter, "sinceMs" | "untilMs"> & {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const filterOf = Effect.fnUntraced(function* (asked: Asked) {
  const { network, payer, model, outcome, transaction } = asked
  const filter: ReceiptFilter = { network, payer, model, outcome, transaction, ...(yield* timesOf(asked)) }
  return filter
})

/** Takes a slot among this process's long-running requests. */
const admitted = Effect.gen(function* () {
  yield* (yield* Admission).enter((yield* Caller).workspace)
})

const utf8 = new TextEncoder()

export const receiptRoutes = routesOf(
  ReceiptsGroup,
  {
    listReceipts: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const place = yield* placeOf(asked)
        const filter = yield* filterOf(asked)
        const most = asked.transaction === undefined ? readMax : readForOneMax
        const { found, next } = yield* refusing(newestReceipts({ ...filter, ...place, readMax: most }))
        const networks = yield* networksOf
        return jsonAnswer({
          items: found.map((stored) => receiptView(networks, stored)),
          nextCursor: next === undefined ? null : cursorText(String(next))
        })
      }),

    getReceiptsCsv: ({ query }) =>
      Effect.gen(function* () {
        const { after = "0", ...asked } = yield* query
        const filter = yield* filterOf(asked)
        const range = yield* refusing(rangeOf(filter, Number(after)))
        if (range.count > csvReadMax) {
          return yield* validationFailed({
            since: `has ${range.count} receipts after it, ${csvReadMax} at most are read`
          })
        }
        yield* admitted
        const networks = yield* networksOf
        const lines = receiptsIn(filter, range).pipe(
          Stream.take(csvLinesMax),
          Stream.map((stored) => csvLine(receiptView(networks, stored)))
        )
        const bytes = Stream.map(Stream.concat(Stream.make(csvHead), lines), (line) => utf8.encode(line))
        const headers = { "content-disposition": 'attachment; filename="receipts.csv"' }
        return yield* refusing(streamAnswer(bytes, { contentType: "text/csv; charset=utf-8", headers }))
      }),

    sumReceipts: ({ query }) =>
      Effect.gen(function* () {
        const { by = "day", ...asked } = yield* query
        const filter = yield* filterOf(asked)
        yield* admitted
        const everything = { before: Number.MAX_SAFE_INTEGER, limit: sumsReadMax, readMax: sumsReadMax }
        const { found, read, next } = yield* refusing(newestReceipts({ ...filter, ...everything }))
        const networks = yield* networksOf
        const receipts = found.map(({ receipt }) => receipt)
        const timeOf = (at: number) =>
          Option.map(Option.fromNullishOr(receipts.at(at)), (one) => isoTime(one.settledAtMs))
        return jsonAnswer({
          by,
          ...sumsOf(by, receipts, (receipt) => tokenOf(networks, receipt)),
          read,
          isWhole: next === undefined,
          from: Option.getOrNull(timeOf(-1)),
          to: Option.getOrNull(timeOf(0))
        })
      }),

    getReceipt: () =>
      Effect.gen(function* () {
        const stored = storedOf(yield* messageOf("RECEIPTS", "receipt"))
        if (Option.isNone(stored)) return yield* notFound("this receipt cannot be read")
        const networks = yield* networksOf
        const claim = yield* refusing((yield* ClaimReader).read(stored.value.receipt.claimKey))
        return jsonAnswer({
          ...receiptView(networks, stored.value),
          refunds: yield* refundsOf(networks, stored.value.receipt.claimKey),
          claim: Option.getOrNull(Option.map(claim, (seen) => claimView(networks, seen)))
        })
      }),

    refundReceipt: ({ body }) =>
      Effect.gen(function* () {
        const { key, amount = null, reason } = yield* body
        const stored = storedOf(yield* messageOf("RECEIPTS", "receipt"))
        if (Option.isNone(stored)) return yield* notFound("this receipt cannot be read")
        const { receipt, sequence } = stored.value
        const target = `${sequence} ${key}: ${amount ?? "all"}`
        yield* (yield* AuditLog).write({ action: "payment-refund", target, reason })
        const { tokenId: by } = yield* Caller
        const asking = (yield* Requests).ask(
          { subject: subjects.paymentsRefunds, ...refundOrder, timeoutMs: refundTimeoutMs },
          { sequence, claimKey: receipt.claimKey, key, amount, reason, by }
        )
        const answer = yield* asking.pipe(
          Effect.catchTag("BusUnavailable", () =>
            Effect.fail(serviceUnavailable(soonSeconds, "no settler answers; send the same request again"))
          ),
          refusing
        )
        if (answer._tag === "Refused") return yield* conflict(answer.why)
        if (answer._tag === "Later") return yield* serviceUnavailable(soonSeconds, answer.why)
        return jsonAnswer(refundView(yield* networksOf, receipt, answer.refund))
      })
  },
  apiOptions
)

// The most expensive call of a trial; a page that asks for more is faulty.
const microUsdMax = 1_000_000n
const families = ["evm", "solana"] as const

export class Trials extends Context.Service<
  Trials,
  {
    readonly isPayer: boolean
    /** The quote in a header, if this fleet would pay it. */
    readonly read: (header: string) => Effect.Effect<PayQuote, WireError>
    readonly sign: (quote: PayQuote) => Effect.Effect<PaymentPayload, WireError>
  }
>()("starling/console/Trials") {
  static readonly layer = Layer.effect(
    Trials,
    Effect.gen(function* () {
      const payers = yield* TrialPayers
      const isPayer = families.some((family) => payers[family] !== undefined)

      const read = Effect.fnUntraced(function* (header: string) {
        if (!isPayer) return yield* conflict("this fleet pays for no trials: ./starling up alone has a worthless key")
        const found = families.map((chain) => readQuote(header, { chain, microUsdMax, limitName: "a trial" }))
        const [quote] = found.flatMap((each) => (Result.isSuccess(each) ? [each.success] : []))
        if (quote !== undefined) return quote
        const reasons = found.flatMap((each) => (Result.isFailure(each) ? [each.failure] : []))
        return yield* validationFailed({ quote: [...new Set(reasons)].join("; ") })
      })

      const sign = Effect.fn("Trials.sign")(function* (quote: PayQuote) {
        const chain = chainFamilyOf(quote.requirements.network) === "solana" ? "solana" : "evm"
        const payer = payers[chain]
        if (payer === undefined) return yield* conflict(`no payer of the chain ${chain} is here`)
        const signed = Effect.flatMap(openWallet(chain, payer), (wallet) => wallet.sign(quote))
        return yield* Effect.mapError(signed, refusalOf)
      })
      return Trials.of({ isPayer, read, sign })
    })
  )
}

const refusalOf = ({ what, reason }: CannotPay) =>
  what === "quote" ? validationFailed({ quote: reason }) : serviceUnavailable(1, reason)

export const trialRoutes = routesOf(
  TrialsGroup,
  {
    signTrialPayment: ({ body }) =>
      Effect.gen(function* () {
        const trials = yield* Trials
        const quote = yield* trials.read((yield* body).quote)
        const { network } = quote.requirements
        const reason = `${usdText(quote.microUsd)} USD of a local chain`
        yield* (yield* AuditLog).write({ action: "trial-pay", target: network, reason })
        const payment = yield* trials.sign(quote)
        return jsonAnswer({ payment: Buffer.from(JSON.stringify(payment)).toString("base64") })
      })
  },
  apiOptions
)
