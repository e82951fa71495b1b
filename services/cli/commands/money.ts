/** `receipts`, `claims` and `books`: money, as operators see it through the console. `keys`: files with settlers' keys. */
import { Command, Flag } from "effect/cli"
import {
  choice,
  cursor,
  file,
  json,
  limit,
  number,
  orUndefined,
  reason,
  running,
  since,
  text,
  toggle,
  until,
  url,
  wholeNumber,
  word
} from "../flags.ts"

const network = text("network", "CHAIN", "those on this chain, such as eip155:8453")
const payer = text("payer", "ACCOUNT", "those of this account")

const filter = {
  network,
  payer,
  model: text("model", "ID", "those of this model"),
  outcome: choice("outcome", ["settled", "uncollected", "refunded"], "those that ended so; refunded: what went back"),
  transaction: text("transaction", "ID", "those of this transaction"),
  since,
  until
}

const loadMoney = () => import("../operate/money.ts")

const receiptsList = Command.make(
  "list",
  {
    ...filter,
    limit,
    cursor,
    csv: toggle("csv", "a table for spreadsheets, oldest first, up to 100,000 lines"),
    after: wholeNumber("after", {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      description: "with --csv: go on after this number, the first column of the last line"
    }).pipe(orUndefined),
    json,
    url
  },
  (given) => running(loadMoney, ({ listReceipts }) => listReceipts(given))
).pipe(
  Command.withDescription("The ends of payments, newest first."),
  Command.withExamples([{ command: "starling receipts list --csv --since 2026-11-01T00:00:00Z > november.csv" }])
)

const receiptsShow = Command.make("show", { number, json, url }, (given) =>
  running(loadMoney, ({ showReceipt }) => showReceipt(given))
).pipe(Command.withDescription("One receipt, with its claim while that is kept."))

const receiptsSums = Command.make(
  "sums",
  {
    by: choice("by", ["day", "model", "payer"], "what the sums are of (day)").pipe(Flag.map((by) => by ?? "day")),
    ...filter,
    json,
    url
  },
  (given) => running(loadMoney, ({ sumReceipts }) => sumReceipts(given))
).pipe(Command.withDescription("Sums of the newest 50,000 receipts of a time, each token by itself."))

const receiptsRefund = Command.make(
  "refund",
  {
    number,
    amount: text("amount", "DECIMAL", "how much, in whole tokens, such as 0.01; without it all that is left"),
    key: text("key", "NAME", "your name for the refund: the same one again is the same refund. Without it a new one"),
    reason,
    json,
    url
  },
  (given) => running(loadMoney, ({ refundReceipt }) => refundReceipt(given))
).pipe(
  Command.withDescription(
    "Gives a payment back, whole or in part: a settler transfers it on the chain to the account that had paid, once."
  ),
  Command.withExamples([
    { command: 'starling receipts refund 17 --amount 0.001 --key ticket-4711 --reason "the answer was empty"' }
  ])
)

export const receipts = Command.make("receipts").pipe(
  Command.withShortDescription("list receipts, look at one, sum them up, give a payment back"),
  Command.withDescription("The ends of payments: what was collected by which transaction, and what never was."),
  Command.withExamples([{ command: "starling receipts sums --by model --since 2026-11-20T00:00:00Z" }]),
  Command.withSubcommands([receiptsList, receiptsShow, receiptsSums, receiptsRefund])
)

const states = ["CLAIMED", "SERVING", "SETTLING", "SETTLED", "UNCOLLECTED", "RELEASED"] as const

const claimsList = Command.make(
  "list",
  {
    state: choice("state", states, "those in this state; without it, those that have not ended"),
    network,
    payer,
    limit,
    cursor,
    json,
    url
  },
  (given) => running(loadMoney, ({ listClaims }) => listClaims(given))
).pipe(Command.withDescription("Payments in use for a call, the one that has not moved for longest first."))

const claimsShow = Command.make("show", { key: word("key", "its key in the list"), json, url }, (given) =>
  running(loadMoney, ({ showClaim }) => showClaim(given))
).pipe(Command.withDescription("One claim, with its receipts and what holds of its payer."))

export const claims = Command.make("claims").pipe(
  Command.withShortDescription("list payments that are in use, look at one"),
  Command.withDescription("Payments in use for a call, and how far each is."),
  Command.withExamples([{ command: "starling claims list --state SETTLING" }]),
  Command.withSubcommands([claimsList, claimsShow])
)

const finding = word("id", "a finding, as the list has it")

const booksShow = Command.make("show", { id: finding, json, url }, (given) =>
  running(loadMoney, ({ showFinding }) => showFinding(given))
).pipe(Command.withDescription("One finding: its transfer, receipts and claims, what it means and what to do."))

const booksMend = Command.make("mend", { id: finding, reason, json, url }, (given) =>
  running(loadMoney, ({ mendFinding }) => mendFinding(given))
).pipe(
  Command.withDescription(
    "Has a settler do what is safe: settle an overdue payment, write a missing receipt, serve a payer again who has paid after all."
  )
)

const booksAccept = Command.make(
  "accept",
  {
    id: finding,
    reason: Flag.String("reason").pipe(Flag.withMetavar("TEXT"), Flag.withDescription("what explains it")),
    json,
    url
  },
  (given) => running(loadMoney, ({ acceptFinding }) => acceptFinding(given))
).pipe(Command.withDescription("Says that a finding is explained. No money moves."))

const booksList = Command.make(
  "list",
  { ended: toggle("ended", "the findings that have ended, of thirty days"), json, url },
  (given) => running(loadMoney, ({ showBooks }) => showBooks(given))
).pipe(Command.withDescription("How far the comparison of each network is, and the findings that stand."))

export const books = Command.make("books").pipe(
  Command.withShortDescription("what the comparison of chain and receipts found, and mending it"),
  Command.withDescription("The payment books: what the comparison of chain, claims and receipts found."),
  Command.withExamples([{ command: "starling books list" }]),
  Command.withSubcommands([booksList, booksShow, booksMend, booksAccept])
)

const keystore = word("file", "the keystore")
const passwordFile = file(
  "password-file",
  "the password; - for standard input. Else by the variable STARLING_KEYSTORE_PASSWORD"
)

const loadKeys = () => import("../keys.ts")

const keysNew = Command.make("new", { file: keystore, passwordFile }, (given) =>
  running(loadKeys, ({ newKeystore }) => newKeystore(given))
).pipe(
  Command.withDescription("Makes a new key, and a new file with it, encrypted by the password. Prints its address."),
  Command.withExamples([{ command: "starling keys new settler.json --password-file settler.password" }])
)

const keysImport = Command.make(
  "import",
  {
    file: keystore,
    keyFile: Flag.File("key-file").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("the key, 32 bytes in hex; - for standard input (-)"),
      Flag.withDefault("-")
    ),
    passwordFile
  },
  (given) => running(loadKeys, ({ importKey }) => importKey(given))
).pipe(
  Command.withDescription("Puts a key that exists into a new file, encrypted by the password. Prints its address."),
  Command.withExamples([
    { command: "printenv SETTLER_KEY | starling keys import settler.json --password-file settler.password" }
  ])
)

const keysAddress = Command.make("address", { file: keystore, passwordFile }, (given) =>
  running(loadKeys, ({ keystoreAddress }) => keystoreAddress(given))
).pipe(
  Command.withDescription("Prints the address of a file: as the file says, or by its password, which it then tries."),
  Command.withExamples([{ command: "starling keys address settler.json --password-file settler.password" }])
)

export const keys = Command.make("keys").pipe(
  Command.withShortDescription("make, import and inspect files with settlers' keys"),
  Command.withDescription(
    "Keystores: files with a settler's key of EVM chains, encrypted by a password (Web3 Secret Storage, version 3)."
  ),
  Command.withExamples([{ command: "starling keys new settler.json --password-file settler.password" }]),
  Command.withSubcommands([keysNew, keysImport, keysAddress])
)
