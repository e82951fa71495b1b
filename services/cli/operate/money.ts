/** `receipts`, `claims` and `books`: what was paid by whom for what, payments in use, and what does not fit. */
import { randomBytes } from "node:crypto"
import { Effect, Stream } from "effect"
import type { RefundView, SumsBy } from "#contracts/console"
import { decimalAmount } from "#x402"
import { CommandRefused, misused, note, print } from "../console.ts"
import { writeRow } from "../screen.ts"
import { givenOf, type OnConsole, onConsole, printAct, printList, printWhole } from "./client.ts"

interface Filter {
  readonly network: string | undefined
  readonly payer: string | undefined
  readonly model: string | undefined
  readonly outcome: "settled" | "uncollected" | "refunded" | undefined
  readonly transaction: string | undefined
  readonly since: string | undefined
  readonly until: string | undefined
}

interface ListOrder extends OnConsole, Filter {
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
  readonly csv: boolean
  readonly after: number | undefined
}

interface Amount {
  readonly amount: string
  readonly decimals: number | null
  readonly symbol: string | null
}

/** An amount for people: whole tokens with the token's name, or the smallest unit where its decimals are not known. */
export const amountText = ({ amount, decimals, symbol }: Amount) => {
  if (decimals === null) return `${amount} units`
  const sign = amount.startsWith("-") ? "-" : ""
  return `${sign}${decimalAmount(BigInt(amount.slice(sign.length)), decimals)} ${symbol ?? ""}`.trimEnd()
}

/** For people amounts are whole tokens; for programs they stay as they came. */
const readable = <Item extends Amount>(item: Item, json: boolean) =>
  json ? item : { ...item, amount: amountText(item) }

const readableReceipt = <Item extends Amount & { readonly providerCost: string | null }>(item: Item, json: boolean) =>
  json ? item : { ...readable(item, json), providerCost: amountOrNone({ ...item, amount: item.providerCost }) }

const receiptColumns = {
  number: "sequence",
  ended: "endedAt",
  network: "network",
  amount: "amount",
  "provider cost": "providerCost",
  outcome: "outcome",
  model: "model",
  payer: "payer",
  reason: "reason"
}

export const listReceipts = ({ url, json, limit, csv, after, cursor, ...filter }: ListOrder) =>
  onConsole({ url }, (client) =>
    csv
      ? Effect.flatMap(
          client.getReceiptsCsv({
            query: givenOf({ ...filter, after: after === undefined ? undefined : String(after) })
          }),
          (bytes) =>
            Stream.runForEach(Stream.splitLines(Stream.decodeText(bytes)), (line) => Effect.sync(() => writeRow(line)))
        )
      : Effect.flatMap(
          client.listReceipts({ query: { ...givenOf({ ...filter, cursor }), limit: String(limit) } }),
          ({ items, nextCursor }) =>
            printList(
              { items: items.map((item) => readableReceipt(item, json)), nextCursor },
              { json, columns: receiptColumns }
            )
        )
  )

export interface ShowOrder extends OnConsole {
  readonly json: boolean
}

export const showReceipt = ({ url, number, json }: ShowOrder & { readonly number: string }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getReceipt({ params: { sequence: number } }), (whole) =>
      printWhole(readableReceipt(whole, json), json)
    )
  )

interface RefundOrder extends ShowOrder {
  readonly number: string
  readonly amount: string | undefined
  readonly key: string | undefined
  readonly reason: string
}

const refundText = (refund: RefundView) => {
  const { key, state, payer, transaction, fault } = refund
  if (state === "failed") return `${key} has failed, and no money moved: ${fault}`
  const back = `${amountText(refund)} to ${payer}`
  if (state === "made") return `${key} gave back ${back}, by ${transaction}`
  return `${key} gives back ${back}; the chain does not say yet: the same command with --key ${key} tells how far it is`
}

export const refundReceipt = ({ url, number, amount, key, reason, json }: RefundOrder) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const params = { sequence: number }
      const { decimals } = yield* client.getReceipt({ params })
      const units = amount === undefined ? undefined : unitsOf(amount, decimals)
      if (units === null) {
        return yield* misused(`--amount ${amount}? it is whole tokens, with at most ${decimals ?? 0} decimals`)
      }
      const name = key ?? randomBytes(9).toString("hex")
      if (key === undefined) yield* note(`the refund's key is ${name}: with it the same command is the same refund`)
      const payload = { key: name, reason, ...(units === undefined ? {} : { amount: units }) }
      const refund = yield* client.refundReceipt({ params, payload })
      if (refund.state === "failed") return yield* new CommandRefused({ reason: refundText(refund) })
      yield* printAct({ ...refund }, { json, text: refundText(refund) })
    })
  )

const decimalPattern = /^(\d{1,60})(?:\.(\d{1,18}))?$/u

/** Whole tokens in the smallest unit; null for what is no amount of it. Pure. */
export const unitsOf = (amount: string, decimals: number | null): string | null => {
  const [, whole = "", part = ""] = decimalPattern.exec(amount.trim()) ?? []
  if (whole === "" || decimals === null || part.length > decimals) return null
  return BigInt(`${whole}${part.padEnd(decimals, "0")}`).toString()
}

export const sumReceipts = ({ url, json, by, ...filter }: ShowOrder & Filter & { readonly by: SumsBy }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.sumReceipts({ query: { ...givenOf(filter), by } }), (sums) =>
      Effect.gen(function* () {
        if (json) return yield* print(JSON.stringify(sums))
        const items = sums.items.map(({ settled, uncollected, refunded, ...sum }) => ({
          ...sum,
          settled: amountText({ ...sum, amount: settled }),
          refunded: amountText({ ...sum, amount: refunded }),
          uncollected: amountText({ ...sum, amount: uncollected }),
          providerCost: amountOrNone({ ...sum, amount: sum.providerCost }),
          margin: amountOrNone({ ...sum, amount: sum.margin })
        }))
        const columns = {
          [by]: "key",
          network: "network",
          settled: "settled",
          payments: "settledCount",
          uncollected: "uncollected",
          lost: "uncollectedCount",
          refunded: "refunded",
          "provider cost": "providerCost",
          margin: "margin"
        }
        yield* printList({ items, nextCursor: null }, { json, columns })
        const { read, isWhole, from, leftOut } = sums
        if (leftOut > 0) yield* note(`${leftOut} smaller sums are left out`)
        if (!isWhole)
          yield* note(`of the newest ${read} receipts, since ${from}: name a shorter time with --since and --until`)
      })
    )
  )

const claimColumns = {
  state: "state",
  claimed: "claimedAt",
  asked: "asked",
  amount: "amount",
  model: "model",
  payer: "payer",
  key: "key"
}

interface ClaimsOrder extends ShowOrder {
  readonly state: "CLAIMED" | "SERVING" | "SETTLING" | "SETTLED" | "UNCOLLECTED" | "RELEASED" | undefined
  readonly network: string | undefined
  readonly payer: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
}

export const listClaims = ({ url, json, limit, ...filter }: ClaimsOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(
      client.listClaims({ query: { ...givenOf(filter), limit: String(limit) } }),
      ({ items, nextCursor }) =>
        // A claim's key is longer than a cell.
        printList(
          { items: items.map((item) => readable(item, json)), nextCursor },
          { json, columns: claimColumns, whole: ["key"] }
        )
    )
  )

export const showClaim = ({ url, key, json }: ShowOrder & { readonly key: string }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getClaim({ params: { key } }), (whole) => printWhole(readable(whole, json), json))
  )

const bookColumns = {
  network: "network",
  "paid to": "payTo",
  compared: "comparedAt",
  behind: "isBehind",
  standing: "standing",
  trouble: "trouble"
}
const findingColumns = {
  finding: "id",
  kind: "kind",
  found: "foundAt",
  amount: "amount",
  payer: "payer",
  transaction: "transaction",
  channel: "channel",
  fault: "fault",
  mend: "canBeMended"
}

export const showBooks = ({ url, json, ended }: ShowOrder & { readonly ended: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getBooks({ query: ended ? { ended: "true" } : {} }), (seen) =>
      Effect.gen(function* () {
        if (json) return yield* print(JSON.stringify(seen))
        yield* printList({ items: seen.books, nextCursor: null }, { json, columns: bookColumns })
        if (seen.books.length === 0) yield* note("no network is configured: nothing is sold, and there are no books")
        const keys = seen.books.flatMap(({ network, keys }) =>
          keys.map(({ address, balance, decimals }) => ({
            network,
            address,
            balance: amountOrNone({ amount: balance, decimals, symbol: null })
          }))
        )
        if (keys.length > 0) {
          yield* print("")
          const columns = { network: "network", key: "address", "holds for fees": "balance" }
          yield* printList({ items: keys, nextCursor: null }, { json, columns })
        }
        if (seen.findings.length === 0) return yield* note(ended ? "no finding has ended" : "no finding stands")
        yield* print("")
        const items = seen.findings.map((finding) => ({ ...finding, amount: amountOrNone(finding), ...finding.end }))
        const columns = ended ? { ...findingColumns, ended: "how", reason: "reason" } : findingColumns
        yield* printList({ items, nextCursor: null }, { json, columns, whole: ["transaction", "channel", "fault"] })
        if (seen.leftOut > 0) yield* note(`${seen.leftOut} more are left out`)
      })
    )
  )

const amountOrNone = ({ amount, ...token }: Omit<Amount, "amount"> & { readonly amount: string | null }) =>
  amount === null ? null : amountText({ ...token, amount })

export interface OnFinding extends OnConsole {
  readonly id: string
}

export const showFinding = ({ url, id, json }: OnFinding & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getFinding({ params: { finding: id } }), (whole) =>
      printWhole(json ? whole : { ...whole, amount: amountOrNone(whole) }, json)
    )
  )

interface ActOrder extends OnFinding {
  readonly reason: string
  readonly json: boolean
}

export const mendFinding = ({ url, id, reason, json }: ActOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.mendFinding({ params: { finding: id }, payload: { reason } }), (finding) =>
      printAct({ ...finding }, { json, text: `${id} is mended: ${finding.end?.how ?? "it still stands"}` })
    )
  )

export const acceptFinding = ({ url, id, reason, json }: ActOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.acceptFinding({ params: { finding: id }, payload: { reason } }), (finding) =>
      printAct({ ...finding }, { json, text: `${id} is accepted` })
    )
  )
