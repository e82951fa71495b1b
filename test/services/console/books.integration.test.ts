import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Result, type Scope } from "effect"
import { ConfiguredHttp } from "#egress"
import { HttpListener } from "#http"
import { Metrics } from "#runtime"
import { type CheckedPayment, ClaimMove, Claims, openEvmScheme, readPayment } from "#payments"
import { busOf } from "../../../dev/fixtures/payment-bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { creditOf, payTo } from "../../../dev/fixtures/payment-accounts.ts"
import { type Receiver, bookFinding, Books } from "../../../services/payment-settler/reconciliation/Books.ts"
import { fundedKey, signFor } from "../../support/attacker.ts"
import { commandsHere, objectsIn, type Ran, startCommand } from "../../support/command.ts"
import { consoleOn, type Json, tokenOf } from "../../support/console.ts"
import { chat } from "../../support/gateway.ts"
import { type PaymentFleet, type PaymentFleetOptions, withPayments } from "../../support/payment-fleet.ts"
import { hex32, testCall } from "../../support/payments.ts"

/** A command as an operator types it. */
type Run = (...words: ReadonlyArray<string>) => Effect.Effect<Ran>

interface Terminal {
  /** Runs commands in this process, in a fraction of the time that a start of the program takes. */
  readonly run: Run
  /** Runs each in a process of its own. */
  readonly runApart: Run
}

/** The fleet's payments, a console beside it, and a terminal. */
const withTerminal = (
  test: (fleet: PaymentFleet, terminal: Terminal) => Effect.Effect<void, unknown, Scope.Scope>,
  options: PaymentFleetOptions
) =>
  withPayments(
    (fleet) =>
      Effect.gen(function* () {
        const { url } = yield* HttpListener
        const token = yield* tokenOf("admin")
        const { folder, run } = yield* commandsHere
        yield* test(fleet, {
          run: (...words) => run(words, token),
          runApart: (...words) =>
            Effect.promise(
              () => startCommand([...words, "--url", url], { STARLING_HOME: folder, STARLING_TOKEN: token }).ended
            )
        })
      }).pipe(Effect.provide(consoleOn(fleet.server, { Payments: fleet.configuration["Payments"] }))),
    options
  )

/** A transfer to our account, as a wallet sends it that nobody asked. */
const giveMoney = ({ chain }: PaymentFleet) =>
  Effect.gen(function* () {
    const word = (value: string) => value.replace(/^0x/u, "").toLowerCase().padStart(64, "0")
    const from = chain.payer.address
    yield* chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"])
    yield* chain.rpc("anvil_impersonateAccount", [from])
    const data = `0xa9059cbb${word(payTo)}${word("0x7b")}`
    yield* chain.rpc("eth_sendTransaction", [{ from, to: chain.asset, data }])
    yield* chain.rpc("evm_mine", [])
  }).pipe(Effect.orDie)

const moneyOn = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  const claims = Claims.layer({ credit: creditOf(1), keptMs: 86_400_000 })
  return Layer.mergeAll(claims, Books.layer, ConfiguredHttp.layer).pipe(
    Layer.provideMerge(Layer.succeedContext(yield* busOf(fleet.server))),
    Layer.provideMerge(Metrics.layerTest)
  )
})

/** Signed by a payer with money, and checked as a verifier checks it. */
const checkedOn = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  const { chain } = fleet
  const header = yield* signFor(fleet, chat("hello"), yield* fundedKey(fleet))
  const payload = Result.getOrThrow(readPayment({ "payment-signature": [header], "x-payment": [] }))
  if (payload === null) throw new Error("no payment")
  const options = { network: chain.network, asset: chain.asset, payTo: "", rpcUrls: [chain.rpcUrl] }
  const scheme = yield* openEvmScheme(options)
  return Result.getOrThrow(scheme.check(payload, payload.accepted, yield* Clock.currentTimeMillis)) as CheckedPayment
})

interface Seen {
  readonly books: ReadonlyArray<Json>
  readonly findings: ReadonlyArray<Json>
}

const seen = (run: Run, ...words: ReadonlyArray<string>) =>
  Effect.map(run("books", "list", "--json", ...words), ({ code, out, error }) => {
    assert.strictEqual(code, 0, error)
    return JSON.parse(out) as Seen
  })

describe("a difference in the payment books", () => {
  it.live("is found, looked at and accepted by three commands, and is told no more", () =>
    withTerminal(
      (fleet, { run, runApart }) =>
        Effect.gen(function* () {
          yield* giveMoney(fleet)
          yield* eventually(seen(run), { is: ({ findings }) => findings.length === 1 })

          const [book] = (yield* seen(run)).books
          const settler = fleet.chain.settlers[0]?.address.toLowerCase()
          const keys = (book?.["keys"] ?? []) as ReadonlyArray<Json>
          const held = keys.find(({ address }) => address === settler)
          assert.strictEqual(held?.["decimals"], 18)
          assert.isAbove(Number(held?.["balance"]), 0)
          const listed = yield* runApart("books", "list")
          const [, id = ""] = /^([0-9a-f]{32}) +TransferWithoutReceipt .* 0\.000123 /mu.exec(listed.out) ?? []
          assert.lengthOf(id, 32, listed.out)
          const shown = yield* runApart("books", "show", id)
          assert.include(shown.out, "Money arrived that no payment of ours explains.")
          assert.include(shown.out, fleet.chain.payer.address.toLowerCase())
          const refused = yield* runApart("books", "mend", id)
          assert.deepStrictEqual([refused.code, refused.out], [1, ""])
          assert.include(refused.error, "accept it once it is explained")
          const accepted = yield* runApart("books", "accept", id, "--reason", "a gift; it is kept", "--json")
          const [act, ...further] = objectsIn(accepted)
          assert.deepStrictEqual([accepted.code, further], [0, []])
          assert.deepInclude(act, { id, kind: "TransferWithoutReceipt", canBeMended: false })
          assert.deepInclude(act?.["end"], { how: "accepted", reason: "a gift; it is kept" })

          assert.deepStrictEqual((yield* seen(run)).findings, [])
          const [ended] = (yield* seen(run, "--ended")).findings
          assert.include(ended?.["end"] as Json, { how: "accepted", reason: "a gift; it is kept" })
          // It is compared again every second.
          const comparedAt = (yield* seen(run)).books[0]?.["comparedAt"]
          yield* eventually(seen(run), { is: ({ books }) => books[0]?.["comparedAt"] !== comparedAt })
          const standing = /^payment_book_findings_standing\{.*TransferWithoutReceipt.*\} 0$/mu
          // One that was under way when it was accepted still counts it.
          yield* eventually(fleet.metrics, { is: (text) => standing.test(text) })
          assert.match(yield* fleet.metrics, /^payment_book_findings_total\{.*TransferWithoutReceipt.*\} 1$/mu)
          assert.deepStrictEqual((yield* seen(run)).findings, [])
        }),
      { chain: { blockTimeMs: 100 }, settler: { BooksGraceSeconds: 2 } }
    )
  )

  it.live("is mended when a payment was abandoned and paid after all: its payer is served again", () =>
    withTerminal(
      (fleet, { run }) =>
        Effect.gen(function* () {
          const money = yield* Layer.build(yield* moneyOn(fleet))
          const checked = yield* Effect.provideContext(checkedOn(fleet), money)
          const claims = yield* Effect.provideContext(Claims, money)
          const books = yield* Effect.provideContext(Books, money)
          const claim = yield* claims.claim(checked, testCall())
          const settling = yield* claims.move(claim, ClaimMove.Settle())
          yield* claims.move(settling, ClaimMove.Uncollected({ reason: "insufficient_funds" }))
          const denied = Effect.map(claims.payer(checked), (payer) => Option.getOrUndefined(payer)?.denied ?? null)
          assert.strictEqual((yield* denied)?.claimKey, claim.key)
          const { network, asset, payer, payTo: account, amount } = checked
          const transfer = { transaction: hex32("paid after all"), network, asset, payer, payTo: account, amount }
          const receiver: Receiver = { Network: network, PayTo: account }
          const faulty = bookFinding(
            receiver,
            {
              _tag: "UncollectedButPaid",
              claimKey: claim.key,
              transfer: { ...transfer, nonce: null, position: "1:0" }
            },
            yield* Clock.currentTimeMillis
          )
          assert.isTrue(yield* books.keep(faulty, 0))
          const unanswered = yield* run("books", "mend", faulty.id)
          assert.deepStrictEqual([unanswered.code, unanswered.out], [1, ""])
          assert.include(unanswered.error, "no settler answers")

          yield* fleet.start("payment-settler")
          const mended = yield* run("books", "mend", faulty.id, "--reason", "the chain has it")
          assert.strictEqual(mended.out, `${faulty.id} is mended: payer-served\n`, mended.error)
          assert.isNull(yield* denied)
          assert.lengthOf(yield* fleet.transfers, 0)
          const acts = yield* run("claims", "show", claim.key)
          assert.match(acts.out, /^payerDenied: -$/mu)
        }),
      { roles: ["payment-verifier", "model-gateway"], settler: { SweepSeconds: 60, ReconcileSeconds: 3_600 } }
    )
  )

  it.live(
    "is mended by three commands when a payment is overdue: it is settled once, however often that is asked for",
    () =>
      withTerminal(
        (fleet, { run }) =>
          Effect.gen(function* () {
            const money = yield* Layer.build(yield* moneyOn(fleet))
            const checked = yield* Effect.provideContext(checkedOn(fleet), money)
            const claims = yield* Effect.provideContext(Claims, money)
            const books = yield* Effect.provideContext(Books, money)
            const claim = yield* claims.claim(checked, testCall())
            const { record } = yield* claims.move(claim, ClaimMove.Settle())
            yield* fleet.start("payment-settler")
            yield* eventually(seen(run), { is: (now) => now.books[0]?.["comparedAt"] !== null })
            // As the reconciliation finds it when the payment's time is over and no settler came.
            const receiver: Receiver = { Network: record.network, PayTo: record.payTo }
            const { key, record: settling } = claim
            const overdue = { ...settling, key, state: "SETTLING", requestedAtMs: settling.claimedAtMs } as const
            const nowMs = yield* Clock.currentTimeMillis
            const faulty = bookFinding(receiver, { _tag: "SettlingOverdue", claim: overdue }, nowMs)
            assert.isTrue(yield* books.keep(faulty, 0))

            const listed = yield* run("books", "list")
            assert.include(listed.out, faulty.id)
            const shown = yield* run("books", "show", faulty.id)
            assert.match(shown.out, /^ +state: SETTLING$/mu)
            const mended = yield* run("books", "mend", faulty.id)
            assert.strictEqual(mended.out, `${faulty.id} is mended: settled\n`, mended.error)

            const again = yield* run("books", "mend", faulty.id, "--json")
            const [finding, ...further] = objectsIn(again)
            assert.deepStrictEqual([again.code, further], [0, []])
            assert.deepInclude(finding, { id: faulty.id, kind: "SettlingOverdue" })
            assert.deepInclude(finding?.["end"], { how: "settled" })
            assert.lengthOf(yield* fleet.transfers, 1)
            assert.lengthOf(yield* fleet.receipts, 1)
            assert.deepStrictEqual(yield* fleet.claimStates, ["SETTLED"])
            const kept = Option.getOrThrow(yield* books.find(faulty.id))
            assert.strictEqual(kept.value.end?.how, "settled")
            assert.strictEqual((yield* run("books", "show", "no-finding")).code, 1)

            // The payment itself, by the other commands.
            const [receipt] = yield* fleet.receipts
            const payments = yield* run("receipts", "list", "--transaction", receipt?.transaction ?? "")
            assert.match(payments.out, /^1 +\S+ +eip155:84532 +0\.\d{6} .* settled /mu)
            assert.include((yield* run("receipts", "show", "1")).out, `claimKey: ${key}`)
            const sums = yield* run("receipts", "sums", "--by", "payer")
            assert.match(sums.out, new RegExp(`^${receipt?.payer.toLowerCase()} .* 1 `, "mu"))
            const table = yield* run("receipts", "list", "--csv", "--outcome", "settled")
            assert.lengthOf(table.out.trimEnd().split("\r\n"), 2)
            const claimed = yield* run("claims", "list", "--state", "SETTLED", "--json")
            assert.include(JSON.parse(claimed.out) as Json, { key, state: "SETTLED" })
            assert.strictEqual((yield* run("claims", "list", "--state", "LOST")).code, 2)
          }),
        {
          roles: ["payment-verifier", "model-gateway"],
          // The sweep and the reconciliation would settle it by themselves.
          settler: { SweepSeconds: 60, ReconcileSeconds: 3_600 }
        }
      )
  )

  it.live("of a payment channel is told with its channel and what differs, and ended by a person's word alone", () =>
    withTerminal(
      (fleet, { run }) =>
        Effect.gen(function* () {
          const { chain } = fleet
          const channel = {
            channelId: hex32("a channel"),
            asset: chain.asset,
            payer: chain.payer.address,
            fault: "700 of what is charged has no receipt",
            amount: "700"
          }
          const id = "7".repeat(32)
          const foundAtMs = yield* Clock.currentTimeMillis
          const parts = { claimKeys: [], transfer: null, receipts: [], channel, end: null }
          const kept = { id, network: chain.network, payTo, kind: "ChannelDiffers" as const, foundAtMs, ...parts }
          const keeping = Effect.flatMap(Books, (books) => books.keep(kept, 0))
          assert.isTrue(yield* Effect.provide(keeping, yield* moneyOn(fleet)))

          const [finding] = (yield* seen(run)).findings
          const { channelId, fault, amount } = channel
          assert.deepInclude(finding, { id, kind: "ChannelDiffers", channel: channelId, fault, amount })
          assert.deepInclude(finding, { payer: channel.payer, transaction: null, canBeMended: false })
          const listed = yield* run("books", "list")
          assert.include(listed.out, channelId)
          assert.match(listed.out, /^7{32} +ChannelDiffers .* 0\.000700 .*700 of what is charged has no receipt/mu)
          assert.include(
            (yield* run("books", "show", id)).out,
            "is not what its receipts, its vouchers or the chain say"
          )
          assert.strictEqual((yield* run("books", "mend", id)).code, 1)
          assert.strictEqual((yield* run("books", "accept", id, "--reason", "an older backup")).code, 0)
          assert.deepStrictEqual((yield* seen(run)).findings, [])
        }),
      { settler: { ReconcileSeconds: 3_600 } }
    )
  )
})
