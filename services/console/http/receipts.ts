/** Receipts over HTTP. */
import { Effect, Option, Stream } from "effect"
import { isoTime } from "#contracts"
import { csvLinesMax, csvReadMax, ReceiptsGroup, sumsReadMax } from "#contracts/console"
import { Admission, Caller, jsonAnswer, notFound, routesOf, streamAnswer, validationFailed } from "#http"
import { Configuration } from "#runtime"
import { ClaimReader } from "#x402"
import {
  csvHead,
  csvLine,
  newestReceipts,
  rangeOf,
  type ReceiptFilter,
  receiptsIn,
  receiptView,
  storedOf,
  tokenOf
} from "../money/receipts.ts"
import { sumsOf } from "../money/sums.ts"
import { claimView } from "./claims.ts"
import { apiOptions, cursorText, messageOf, placeOf, refusing, timesOf } from "./requests.ts"

/** A page looks at no more than this; where few match it takes several pages. */
const readMax = 4_096
// Nothing but reading finds a transaction: some eighty questions to the broker.
const readForTransactionMax = 20_480

type Asked = Omit<ReceiptFilter, "sinceMs" | "untilMs"> & {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const filterOf = Effect.fnUntraced(function* (asked: Asked) {
  const { network, payer, model, outcome, transaction } = asked
  const filter: ReceiptFilter = { network, payer, model, outcome, transaction, ...(yield* timesOf(asked)) }
  return filter
})

const networksOf = Effect.map(Configuration, ({ Payments }) => Payments.Networks)

/** Takes a place among what this process serves at length. */
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
        const most = asked.transaction === undefined ? readMax : readForTransactionMax
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
          claim: Option.getOrNull(Option.map(claim, (seen) => claimView(networks, seen)))
        })
      })
  },
  apiOptions
)
