/**
 * Operators' orders about findings. An order repeats what settlers do by themselves: a payment is settled by the path
 * that checks the chain before it sends, and a missing receipt is written once. No order moves money twice.
 */
import { Effect, Layer, Option } from "effect"
import { type BusError, jsonCodec, Requests } from "#bus"
import { type BookFinding, BooksAnswer, BooksOrder, canBeMended, type FindingEnd } from "#payments/contract"
import { subjects } from "#base"
import { Claims } from "#payments"
import type { Ledger } from "../ledger.ts"
import { Settler } from "../settler.ts"
import { Books } from "./Books.ts"
import { complete } from "./reconciler.ts"

export const booksOrderCodec = jsonCodec(BooksOrder)
export const booksAnswerCodec = jsonCodec(BooksAnswer)

// An operator sends one at a time.
const ordersAtOnce = 4
const ordersWaitingMax = 16

export const bookOrders = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* (yield* Requests).answer({
      subject: subjects.paymentsBooks,
      queueGroup: "payment-settler",
      question: booksOrderCodec,
      answer: booksAnswerCodec,
      concurrency: ordersAtOnce,
      waitingMax: ordersWaitingMax,
      handler: (order) => Effect.catch(obey(order), (error) => Effect.succeed(postponed(error.message)))
    })
  })
)

const whyMax = 1_000
const postponed = (why: string): BooksAnswer => ({ _tag: "Later", why: why.slice(0, whyMax) })
const refused = (why: string): BooksAnswer => ({ _tag: "Refused", why })
const done = (finding: BookFinding): BooksAnswer => ({ _tag: "Done", finding })

const obey = Effect.fn("Books.obey")(function* (
  order: BooksOrder
): Effect.fn.Return<BooksAnswer, BusError, Books | Claims | Ledger | Settler> {
  const found = yield* (yield* Books).find(order.id)
  if (Option.isNone(found)) return { _tag: "Unknown" }
  const { value: finding } = found.value
  // A repeated order has already been carried out.
  if (finding.end !== null) return done(finding)
  if (order._tag === "Accept") return yield* ended(order, "accepted")
  const mended = yield* mend(finding)
  return mended._tag === "Mended" ? yield* ended(order, mended.how) : mended
})

const ended = Effect.fnUntraced(function* ({ id, by, reason }: BooksOrder, how: FindingEnd) {
  return Option.match(yield* (yield* Books).end(id, { how, by, reason }), {
    onNone: (): BooksAnswer => ({ _tag: "Unknown" }),
    onSome: done
  })
})

type Mended = { readonly _tag: "Mended"; readonly how: FindingEnd } | BooksAnswer
const mendedBy = (how: FindingEnd): Mended => ({ _tag: "Mended", how })

const mend = Effect.fnUntraced(function* (
  finding: BookFinding
): Effect.fn.Return<Mended, BusError, Claims | Ledger | Settler> {
  const [claimKey] = finding.claimKeys
  if (!canBeMended(finding) || claimKey === undefined) return refused(onlyToAccept)
  if (finding.kind === "SettlingOverdue") return yield* settleAgain(finding, claimKey)
  if (finding.kind === "UncollectedButPaid") return yield* serveAgain(finding, claimKey)
  return yield* writeReceipt(claimKey)
})

const onlyToAccept = "nothing here can be mended without a person's knowledge: accept it once it is explained"

const settleAgain = Effect.fnUntraced(function* ({ network }: BookFinding, claimKey: string) {
  const claim = Option.getOrUndefined(yield* (yield* Claims).read(claimKey))
  if (claim === undefined) return mendedBy("resolved")
  const { requestedAtMs, claimedAtMs } = claim.record
  const settling = yield* (yield* Settler).settle({ claimKey, network, requestedAtMs: requestedAtMs ?? claimedAtMs })
  if (settling._tag === "Undecided") return postponed(`its end is not known yet: ${settling.detail}`)
  if (settling._tag === "Superseded") return mendedBy("resolved")
  return mendedBy(settling.how)
})

/** The payer was denied because of this payment, and the chain has it. */
const serveAgain = Effect.fnUntraced(function* ({ transfer }: BookFinding, claimKey: string) {
  if (transfer === null) return refused(onlyToAccept)
  yield* (yield* Claims).pardon(transfer, claimKey)
  return mendedBy("payer-served")
})

const writeReceipt = Effect.fnUntraced(function* (claimKey: string) {
  const isWritten = yield* complete(claimKey)
  return isWritten
    ? mendedBy("receipt-written")
    : refused("its claim has not ended, is gone, or has a receipt already: accept it once it is explained")
})
