/** `receipts`: who paid how much for what, the sums, and refunds. */
import { randomBytes } from "node:crypto"
import { Effect, Stream } from "effect"
import { Flag } from "effect/cli"
import type { ReceiptView, RefundView } from "#console/api"
import { CommandRefused, misused, note, print } from "../console.ts"
import { json, number, reason, text, toggle } from "../flags.ts"
import { writeRow } from "../screen.ts"
import { amountOrNone, amountText, readable, unitsOf } from "./amounts.ts"
import { printAct, printList, printTable } from "../answers.ts"
import { withoutUndefined } from "./client.ts"
import { flagsOf } from "./endpoint-flags.ts"
import { consoleCommand, family, operation } from "./operation.ts"

const shown = (receipt: ReceiptView) => ({
  ...readable(receipt),
  providerCost: amountOrNone({ ...receipt, amount: receipt.providerCost })
})

const columns = {
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

const list = consoleCommand(
  "list",
  {
    about: "Receipts, newest first: how each payment ended.",
    examples: ["starling receipts list --csv --since 2026-11-01T00:00:00Z > november.csv"],
    flags: {
      ...flagsOf("listReceipts"),
      csv: toggle("csv", "a table for spreadsheets, oldest first, up to 100,000 lines"),
      after: flagsOf("getReceiptsCsv").after.pipe(
        Flag.withDescription("with --csv: continue after this number, the first column of the last line")
      ),
      json
    }
  },
  (client, { json, csv, limit, cursor, after, ...filter }) =>
    Effect.gen(function* () {
      if (csv) {
        const bytes = yield* client.getReceiptsCsv({ query: withoutUndefined({ ...filter, after }) })
        const lines = Stream.splitLines(Stream.decodeText(bytes))
        return yield* Stream.runForEach(lines, (line) => Effect.sync(() => writeRow(line)))
      }
      const { items, nextCursor } = yield* client.listReceipts({
        query: withoutUndefined({ ...filter, limit, cursor })
      })
      return yield* printList({ items: json ? items : items.map(shown), nextCursor }, { json, columns })
    })
)

const sums = consoleCommand(
  "sums",
  {
    about: "Totals of the newest 50,000 receipts, for each token separately.",
    flags: { ...flagsOf("sumReceipts"), json }
  },
  (client, { json, ...query }) =>
    Effect.gen(function* () {
      const sums = yield* client.sumReceipts({ query: withoutUndefined(query) })
      if (json) return yield* print(JSON.stringify(sums))
      const rows = sums.items.map(({ settled, uncollected, refunded, ...sum }) => ({
        ...sum,
        settled: amountText({ ...sum, amount: settled }),
        refunded: amountText({ ...sum, amount: refunded }),
        uncollected: amountText({ ...sum, amount: uncollected }),
        providerCost: amountOrNone({ ...sum, amount: sum.providerCost }),
        margin: amountOrNone({ ...sum, amount: sum.margin })
      }))
      yield* printTable({ [sums.by]: "key", ...sumColumns }, rows)
      const { read, isWhole, from, leftOut } = sums
      if (leftOut > 0) yield* note(`${leftOut} smaller sums are left out`)
      if (!isWhole)
        yield* note(`of the newest ${read} receipts, since ${from}: name a shorter time with --since and --until`)
    })
)

const sumColumns = {
  network: "network",
  settled: "settled",
  payments: "settledCount",
  uncollected: "uncollected",
  lost: "uncollectedCount",
  refunded: "refunded",
  "provider cost": "providerCost",
  margin: "margin"
}

const refundText = (refund: RefundView) => {
  const { key, state, payer, transaction, fault } = refund
  if (state === "failed") return `${key} has failed, and no money moved: ${fault}`
  const back = `${amountText(refund)} to ${payer}`
  if (state === "made") return `${key} gave back ${back}, by ${transaction}`
  return `${key} gives back ${back}; the chain has not confirmed it yet: repeat the command with --key ${key} to check`
}

const refund = consoleCommand(
  "refund",
  {
    about: "Refunds a payment, fully or in part: a settler transfers it on the chain to the payer's account, once.",
    examples: ['starling receipts refund 17 --amount 0.001 --key ticket-4711 --reason "the answer was empty"'],
    flags: {
      number,
      amount: text("amount", "DECIMAL", "how much, in tokens, such as 0.01; default: all that is left"),
      key: text("key", "NAME", "your name for the refund: the same one again is the same refund. Without it a new one"),
      reason,
      json
    }
  },
  (client, { number, amount, key, reason, json }) =>
    Effect.gen(function* () {
      const params = { sequence: number }
      const { decimals } = yield* client.getReceipt({ params })
      const units = amount === undefined ? undefined : unitsOf(amount, decimals)
      if (units === null) {
        return yield* misused(`--amount ${amount}? it is whole tokens, with at most ${decimals ?? 0} decimals`)
      }
      const name = key ?? randomBytes(9).toString("hex")
      if (key === undefined) yield* note(`the refund's key is ${name}: with it the same command is the same refund`)
      const payload = { key: name, reason, ...withoutUndefined({ amount: units }) }
      const refund = yield* client.refundReceipt({ params, payload })
      if (refund.state === "failed") return yield* new CommandRefused({ reason: refundText(refund) })
      yield* printAct({ ...refund }, { json, text: refundText(refund) })
    })
)

export const receipts = family("receipts", {
  about: "Receipts: what was collected, by which transaction, and what was not.",
  examples: ["starling receipts sums --by model --since 2026-11-20T00:00:00Z"],
  commands: [
    list,
    operation("show", "getReceipt", { about: "One receipt, with its claim while that is kept.", shown }),
    sums,
    refund
  ]
})
