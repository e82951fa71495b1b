/** `books`: the progress of comparing chain and receipts, the differences, and resolving them. */
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { note, print } from "../console.ts"
import { json, toggle } from "../flags.ts"
import { amountOrNone } from "./amounts.ts"
import { printTable } from "../answers.ts"
import { consoleCommand, family, operation } from "./operation.ts"

const bookColumns = {
  network: "network",
  "paid to": "payTo",
  compared: "comparedAt",
  behind: "isBehind",
  standing: "standing",
  trouble: "trouble"
}
const keyColumns = { network: "network", key: "address", "holds for fees": "balance" }
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

const list = consoleCommand(
  "list",
  {
    about: "The progress of each network's comparison, and its open findings.",
    flags: { ended: toggle("ended", "the findings that have ended, of thirty days"), json }
  },
  (client, { ended, json }) =>
    Effect.gen(function* () {
      const seen = yield* client.getBooks({ query: ended ? { ended: "true" } : {} })
      if (json) return yield* print(JSON.stringify(seen))
      yield* printTable(bookColumns, seen.books)
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
        yield* printTable(keyColumns, keys)
      }
      if (seen.findings.length === 0) return yield* note(ended ? "no finding has ended" : "no open findings")
      yield* print("")
      const findings = seen.findings.map((finding) => ({ ...finding, amount: amountOrNone(finding), ...finding.end }))
      const columns = ended ? { ...findingColumns, ended: "how", reason: "reason" } : findingColumns
      yield* printTable(columns, findings, ["transaction", "channel", "fault"])
      if (seen.leftOut > 0) yield* note(`${seen.leftOut} more are left out`)
    })
)

export const books = family("books", {
  about: "The payment books: what the comparison of chain, claims and receipts found.",
  examples: ["starling books list"],
  commands: [
    list,
    operation("show", "getFinding", {
      about: "One finding: its transfer, receipts and claims, what it means and what to do.",
      shown: (finding) => ({ ...finding, amount: amountOrNone(finding) })
    }),
    operation("mend", "mendFinding", {
      about:
        "Has a settler do what is safe: settle an overdue payment, write a missing receipt, serve a payer again who has paid after all.",
      text: ({ finding }, { end }) => `${finding} is mended: ${end?.how ?? "it is still open"}`
    }),
    operation("accept", "acceptFinding", {
      about: "Marks a finding as explained. No money moves.",
      flags: { reason: Flag.String("reason").pipe(Flag.withMetavar("TEXT"), Flag.withDescription("what explains it")) },
      text: ({ finding }) => `${finding} is accepted`
    })
  ]
})
