/**
 * The books' records for operators, in the bucket `payment-books`: what the reconciliation found, how each finding
 * ended, and how far it has read. A finding is kept until it has ended, and for thirty more days.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { type BusError, kept, Kv, type KvEntry, records, replaced } from "#bus"
import {
  addressKeyOf,
  BookFinding,
  BookState,
  type FindingEnd,
  findingPartsMax,
  type PaymentNetwork
} from "#payments/contract"
import type { ChainTransfer } from "#payments"
import type { Finding } from "./findings.ts"
import { findingName } from "./open-entries.ts"

export type Receiver = Pick<PaymentNetwork, "Network" | "PayTo">
export type KeptFinding = KvEntry<BookFinding>

/** Per account, including ended ones. Beyond it a finding is only counted and logged. */
const keptMax = 2_000
/** The half available to findings that the settlers mended at once. */
const keptMendedMax = 1_000
const endedKeptMs = 30 * 86_400_000

interface End {
  readonly how: FindingEnd
  readonly by?: string
  readonly reason?: string
}

export class Books extends Context.Service<
  Books,
  {
    readonly all: (receiver: Receiver) => Effect.Effect<ReadonlyArray<KeptFinding>, BusError>
    readonly find: (id: string) => Effect.Effect<Option.Option<KeptFinding>, BusError>
    /**
     * Stores a new finding, or one that had ended by itself and is found again. False if there is no room. `others`:
     * how many the account has.
     */
    readonly keep: (finding: BookFinding, others: number) => Effect.Effect<boolean, BusError>
    /** Ends a finding; an ended one stays as it is. */
    readonly end: (id: string, end: End) => Effect.Effect<Option.Option<BookFinding>, BusError>
    readonly state: (receiver: Receiver) => Effect.Effect<Option.Option<BookState>, BusError>
    readonly note: (state: BookState) => Effect.Effect<void, BusError>
  }
>()("starling/payment-settler/Books") {
  static readonly layer = Layer.effect(
    Books,
    Effect.gen(function* () {
      const kv = yield* Kv
      const findings = yield* kv.open("payment-books", BookFinding)
      const states = yield* kv.open("payment-books", BookState)
      const keptMs = ({ end }: BookFinding) => (end === null ? undefined : endedKeptMs)
      const finding = records(findings, { keptMs })
      const state = records(states)

      const find = (id: string) => Stream.runHead(findings.scan(`finding.*.*.${id}`))

      const keep = Effect.fn("Books.keep")(function* (found: BookFinding, others: number) {
        if (others >= (found.end === null ? keptMax : keptMendedMax)) return false
        yield* finding.change(findingKey(found), (before) =>
          before === undefined || (before.end !== null && before.end.how !== "accepted")
            ? replaced(found)
            : kept(before)
        )
        return true
      })

      const end = Effect.fn("Books.end")(function* (id: string, { how, by, reason }: End) {
        const found = yield* find(id)
        if (Option.isNone(found)) return Option.none<BookFinding>()
        const { value } = yield* finding.change(found.value.key, (before, { nowMs: atMs }) =>
          before === undefined || before.end !== null
            ? kept(before)
            : replaced({ ...before, end: { how, atMs, by: by ?? null, reason: reason ?? null } })
        )
        return Option.fromUndefinedOr(value)
      })

      return Books.of({
        all: (receiver) =>
          Stream.runCollect(findings.scan(`finding.${addressKeyOf(receiver.Network, receiver.PayTo)}.*`)),
        find,
        keep,
        end,
        state: (receiver) =>
          Effect.map(
            states.get(stateKey(receiver)),
            Option.map(({ value }) => value)
          ),
        note: (noted) =>
          Effect.asVoid(state.change(stateKey({ Network: noted.network, PayTo: noted.payTo }), () => replaced(noted)))
      })
    })
  )
}

const stateKey = ({ Network, PayTo }: Receiver) => `state.${addressKeyOf(Network, PayTo)}`
const findingKey = ({ network, payTo, id }: BookFinding) => `finding.${addressKeyOf(network, payTo)}.${id}`

export const findingId = ({ Network, PayTo }: Receiver, finding: Finding): string =>
  createHash("sha256")
    .update(`${addressKeyOf(Network, PayTo)} ${findingName(finding)}`)
    .digest("hex")
    .slice(0, 32)

/** A finding in its stored form. Pure. */
export const bookFinding = (receiver: Receiver, finding: Finding, foundAtMs: number): BookFinding => ({
  id: findingId(receiver, finding),
  network: receiver.Network,
  payTo: receiver.PayTo,
  kind: finding._tag,
  foundAtMs,
  claimKeys: claimKeysOf(finding).slice(0, findingPartsMax),
  transfer: "transfer" in finding ? bookTransfer(finding.transfer) : null,
  receipts: ("receipts" in finding ? finding.receipts : "receipt" in finding ? [finding.receipt] : []).slice(
    0,
    findingPartsMax
  ),
  end: null
})

const claimKeysOf = (finding: Finding): ReadonlyArray<string> => {
  if ("claimKeys" in finding) return finding.claimKeys
  if ("claim" in finding) return [finding.claim.key]
  if ("receipt" in finding) return [finding.receipt.claimKey]
  return finding.claimKey === null ? [] : [finding.claimKey]
}

const bookTransfer = (transfer: ChainTransfer) => ({ ...transfer, amount: String(transfer.amount) })

/** The halves of stored findings, which are compared again with later entries. Pure. */
export const carriedOf = (kept: ReadonlyArray<BookFinding>) => ({
  transfers: kept.flatMap(({ kind, transfer }): ReadonlyArray<ChainTransfer> =>
    kind === "TransferWithoutReceipt" && transfer !== null ? [{ ...transfer, amount: BigInt(transfer.amount) }] : []
  ),
  receipts: kept.flatMap(({ kind, receipts }) => (kind === "ReceiptWithoutTransfer" ? receipts : []))
})

/** Kinds for which a later comparison shows whether they are still open. */
const recheckedKinds: ReadonlyArray<BookFinding["kind"]> = [
  "TransferWithoutReceipt",
  "ReceiptWithoutTransfer",
  "SettlingOverdue"
]

/** The ids of stored findings that are no longer open, if these are all that the comparison finds. Pure. */
export const resolvedIds = (kept: ReadonlyArray<BookFinding>, open: ReadonlySet<string>): ReadonlyArray<string> =>
  kept.flatMap(({ id, kind, end }) => (end === null && recheckedKinds.includes(kind) && !open.has(id) ? [id] : []))
