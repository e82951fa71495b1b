/**
 * The payment books over HTTP. The settlers keep them and carry out the orders about them; the console only asks.
 *
 * The settlers' payment books, as operators see them. Pure.
 */
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { jsonCodec, Kv, Requests } from "#bus"
import {
  addressKeyOf,
  BookFinding,
  BooksAnswer,
  BooksOrder,
  BookState,
  canBeMended,
  coinDecimalsOf,
  FindingId,
  type FindingKind,
  isSameAddress,
  type PaymentNetwork
} from "#payments/contract"
import { type AuditAction, isoTime, pageSizeMax, subjects } from "#base"
import { BooksGroup, type BookView, type FindingSummary } from "#console/api"
import { Caller, conflict, HttpCall, jsonAnswer, notFound, routesOf, serviceUnavailable } from "#http"
import { Configuration } from "#configuration"
import { ClaimReader } from "#payments"
import { AuditLog } from "../AuditLog.ts"
import { receiptView, tokenOf } from "../money/receipts.ts"
import { claimView } from "./money.ts"
import { apiOptions, refusing } from "./requests.ts"

type Networks = ReadonlyArray<PaymentNetwork>

interface Explained {
  readonly meaning: string
  readonly advice: string
}

/** The meaning of each finding and how to act on it. Matches the runbook of PaymentBooksDiffer. */
export const explanations: Readonly<Record<FindingKind, Explained>> = {
  TransferWithoutReceipt: {
    meaning: "Money arrived that no payment of ours explains.",
    advice:
      "With a claim: mend writes its receipt when it has ended. Without one it is a gift or a payment that nobody asked for: give it back by hand or keep it, and accept it with the reason."
  },
  ReceiptWithoutTransfer: {
    meaning: "A receipt says that a payment was collected, and the chain has no such transfer.",
    advice:
      "Look for the transaction in a block explorer. A node that was behind is found out by itself: the finding ends when the transfer comes. Where the transfer is nowhere, stop selling on that network until it is understood; then accept it."
  },
  AmountDiffers: {
    meaning: "A receipt and its transfer are of different amounts.",
    advice:
      "Look at the token: it may take a fee of transfers. Stop selling in it until it is understood; then accept it."
  },
  ReceiptsDisagree: {
    meaning: "One payment has two receipts with different ends.",
    advice: "The chain decides: look for the transaction in a block explorer, and accept it with what is true."
  },
  TransferCountedTwice: {
    meaning: "One transfer is in the receipts of two payments.",
    advice:
      "One of the two was not paid. Stop selling on that network, report it as a fault of the settlers, and accept it."
  },
  UncollectedButPaid: {
    meaning: "A payment was given up, and the chain has it after all. Its payer is served no more.",
    advice: "Mend serves the payer again. Its receipt stays as it is: the finding says what is true."
  },
  ClaimWithoutReceipt: {
    meaning: "A payment has ended without a receipt.",
    advice: "The settlers write it by themselves; mend does it now."
  },
  ChannelDiffers: {
    meaning: "What a payment channel was charged is not what its receipts, its vouchers or the chain say.",
    advice:
      "`fault` says what differs, and by how much. Receipts that are missing: was a backup of RECEIPTS restored, or of KV channels? Money that has left the channel: find out why nobody claimed within its delay. The finding ends when the difference is gone; accept it when it is explained."
  },
  SettlingOverdue: {
    meaning: "A payment's time is over, and its settlement has not ended.",
    advice:
      "The settlers look at the chain again and again; mend does it now. It stays open while the chain does not answer."
  }
}

/** The alert PaymentBooksUnread uses the same. */
const behindMs = 3_600_000

export const bookView = (
  entry: PaymentNetwork,
  state: BookState | undefined,
  { standing: open, nowMs }: { readonly standing: number; readonly nowMs: number }
): BookView => {
  const comparedAtMs = state?.comparedAtMs ?? null
  return {
    network: entry.Network,
    asset: entry.Asset,
    symbol: entry.AssetSymbol,
    decimals: entry.AssetDecimals,
    payTo: entry.PayTo,
    comparedAt: comparedAtMs === null ? null : isoTime(comparedAtMs),
    triedAt: state === undefined ? null : isoTime(state.triedAtMs),
    isBehind: comparedAtMs === null || nowMs - comparedAtMs > behindMs,
    trouble: state === undefined ? "no settler has compared it yet" : state.trouble,
    holder: state?.holder ?? null,
    standing: open,
    keys: (state?.keys ?? []).map((key) => ({ ...key, decimals: coinDecimalsOf(entry.Network) })),
    notKept: state?.notKept ?? 0
  }
}

export const findingView = (networks: Networks, finding: BookFinding): FindingSummary => {
  const { id, kind, network, payTo, transfer, receipts, channel, end } = finding
  const part = transfer ?? receipts[0] ?? channel
  const asset = part?.asset ?? networks.find(({ Network }) => Network === network)?.Asset ?? ""
  return {
    id,
    kind,
    network,
    asset,
    ...tokenOf(networks, { network, asset }),
    payTo,
    amount: part?.amount ?? null,
    payer: part?.payer ?? null,
    transaction: (transfer ?? receipts[0])?.transaction ?? null,
    channel: channel?.channelId ?? null,
    fault: channel?.fault ?? null,
    foundAt: isoTime(finding.foundAtMs),
    canBeMended: end === null && canBeMended(finding),
    end: end === null ? null : { how: end.how, at: isoTime(end.atMs), by: end.by, reason: end.reason }
  }
}

const bucket = "payment-books"
// Sixteen networks with two thousand each.
const findingsMax = 32_000

const networksOf = Effect.map(Configuration, ({ Payments }) => Payments.Networks)
const isId = Schema.is(FindingId)

const findings = Effect.flatMap(Kv, (kv) => kv.open(bucket, BookFinding))

export const allFindings = refusing(
  Effect.flatMap(findings, (opened) =>
    opened.scan("finding.>").pipe(
      Stream.map(({ value }) => value),
      Stream.take(findingsMax),
      Stream.runCollect
    )
  )
)

const foundFinding = Effect.gen(function* () {
  const { finding: id = "" } = (yield* HttpCall).params
  const opened = yield* refusing(findings)
  const found = isId(id) ? yield* refusing(Stream.runHead(opened.scan(`finding.*.*.${id}`))) : Option.none()
  if (Option.isNone(found)) return yield* notFound("no such finding, or it has expired")
  return found.value.value
})

const order = { question: jsonCodec(BooksOrder), answer: jsonCodec(BooksAnswer) }
// A settler waits for a block or two; its result then is in the finding.
const orderTimeoutMs = 25_000
const soonSeconds = 2

/** Records the action, and has a settler carry it out. */
const ordered = Effect.fnUntraced(function* <E, R>(
  body: Effect.Effect<{ readonly reason: string }, E, R>,
  { action, tag }: { readonly action: AuditAction; readonly tag: BooksOrder["_tag"] }
) {
  const { reason } = yield* body
  const { id } = yield* foundFinding
  yield* (yield* AuditLog).write({ action, target: id, reason })
  const { tokenId: by } = yield* Caller
  const asking = (yield* Requests).ask(
    { subject: subjects.paymentsBooks, ...order, timeoutMs: orderTimeoutMs },
    { _tag: tag, id, by, reason }
  )
  const answer = yield* asking.pipe(
    Effect.catchTag("BusUnavailable", () =>
      Effect.fail(serviceUnavailable(soonSeconds, "no settler answers; check the finding before you retry"))
    ),
    refusing
  )
  switch (answer._tag) {
    case "Done":
      return jsonAnswer(findingView(yield* networksOf, answer.finding))
    case "Unknown":
      return yield* notFound("no such finding, or it has expired")
    case "Refused":
      return yield* conflict(answer.why)
    case "Later":
      return yield* serviceUnavailable(soonSeconds, answer.why)
  }
})

export const bookRoutes = routesOf(
  BooksGroup,
  {
    getBooks: ({ query }) =>
      Effect.gen(function* () {
        const { ended } = yield* query
        const networks = yield* networksOf
        const nowMs = yield* Clock.currentTimeMillis
        const kept = yield* allFindings
        const open = kept.filter(({ end }) => end === null)
        const states = yield* refusing(Effect.flatMap(Kv, (kv) => kv.open(bucket, BookState)))
        const books = yield* Effect.forEach(networks, (entry) =>
          Effect.map(refusing(states.get(`state.${addressKeyOf(entry.Network, entry.PayTo)}`)), (state) => {
            const own = open.filter(
              ({ network, payTo }) => network === entry.Network && isSameAddress(network, payTo, entry.PayTo)
            )
            const known = Option.map(state, ({ value }) => value)
            return bookView(entry, Option.getOrUndefined(known), { standing: own.length, nowMs })
          })
        )
        const wanted =
          ended === "true"
            ? kept
                .filter(({ end }) => end !== null)
                .toSorted((left, right) => (right.end?.atMs ?? 0) - (left.end?.atMs ?? 0))
            : open.toSorted((left, right) => left.foundAtMs - right.foundAtMs)
        return jsonAnswer({
          books,
          findings: wanted.slice(0, pageSizeMax).map((finding) => findingView(networks, finding)),
          leftOut: Math.max(0, wanted.length - pageSizeMax)
        })
      }),

    getFinding: () =>
      Effect.gen(function* () {
        const finding = yield* foundFinding
        const networks = yield* networksOf
        const claims = yield* ClaimReader
        const found = yield* refusing(Effect.forEach(finding.claimKeys, claims.read, { concurrency: 4 }))
        return jsonAnswer({
          ...findingView(networks, finding),
          ...explanations[finding.kind],
          transferAmount: finding.transfer?.amount ?? null,
          receipts: finding.receipts.map((receipt) => {
            const { sequence: _sequence, ...view } = receiptView(networks, { sequence: 0, receipt })
            return view
          }),
          claims: found.flatMap(Option.toArray).map((seen) => claimView(networks, seen))
        })
      }),

    mendFinding: ({ body }) => ordered(body, { action: "book-mend", tag: "Mend" }),

    acceptFinding: ({ body }) => ordered(body, { action: "book-accept", tag: "Accept" })
  },
  apiOptions
)
