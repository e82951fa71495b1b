/**
 * Refunds while the settler, the broker and the chain's node are killed at each step of one. Each is made in the end, once:
 * payers get what was ordered and no more, and the books say the same.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Option, Scope, Stream } from "effect"
import { jsonCodec, Kv, Requests, StreamReader } from "#bus"
import { type Refund, RefundAnswer, RefundedPayment, RefundOrder } from "#payments/contract"
import { subjects } from "#base"
import { receiptCodec } from "#payments"
import { busOf } from "../../dev/fixtures/payment-bus.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { chat } from "../support/gateway.ts"
import { evmBalance } from "../support/paid-fleet.ts"
import { isReceipted, type PaidProcesses, sending, simulating, startPaidProcesses } from "../support/payment-kills.ts"
import { givingBack, refunder } from "../support/refund-fleet.ts"

const filled = 1_000_000n

const account = refunder()
const scope = Scope.makeUnsafe()
let fleet: PaidProcesses
let onBus: <A, E>(effect: Effect.Effect<A, E, Kv | Requests | StreamReader>) => Promise<A>
/** What was given back so far. */
let back = 0n

beforeAll(async () => {
  const options = { payments: { LeaseSeconds: 2 }, configure: givingBack(account) }
  fleet = await startPaidProcesses([["payment-verifier"], ["payment-settler"], ["model-gateway"]], options)
  await Effect.runPromise(fleet.chain.fund(account.address, filled))
  const bus = await Effect.runPromise(Scope.provide(busOf(fleet.server), scope))
  onBus = (effect) => Effect.runPromise(Effect.provideContext(effect, bus))
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await fleet.end()
})

const receipts = () =>
  onBus(
    Effect.gen(function* () {
      const reader = yield* StreamReader
      const { lastSequence } = yield* reader.bounds("RECEIPTS")
      const all = yield* Stream.runCollect(reader.range("RECEIPTS", { fromSequence: 1, toSequence: lastSequence }))
      return all.flatMap((message) => {
        const receipt = receiptCodec.decode(message)
        return receipt._tag === "Success" ? [{ sequence: message.sequence, receipt: receipt.success }] : []
      })
    })
  )

/** A payment that has settled: its place in RECEIPTS, and the receipt, which is written after its answer is out. */
const paid = async (text: string) => {
  const settled = async () => (await receipts()).filter(({ receipt }) => receipt.outcome === "settled")
  const before = (await settled().catch(() => [])).length
  const body = chat(text)
  const answer = await fleet.payUntil(isReceipted, body, await fleet.sign(body))
  assert.strictEqual(answer?.status, 200)
  await until(() => settled(), { is: ({ length }) => length > before })
  const newest = (await settled()).at(-1)
  if (newest === undefined) throw new Error("no receipt")
  return newest
}
type Paid = Awaited<ReturnType<typeof paid>>

const codecs = { question: jsonCodec(RefundOrder), answer: jsonCodec(RefundAnswer) }
/** As the console asks; nothing where nobody answered. */
const order = ({ sequence, receipt }: Paid, key: string, amount: string) =>
  onBus(
    Effect.flatMap(Requests, (requests) =>
      requests.ask(
        { subject: subjects.paymentsRefunds, ...codecs, timeoutMs: 25_000 },
        { sequence, claimKey: receipt.claimKey, key, amount, reason: "a test", by: "test" }
      )
    )
  ).catch(() => undefined)

const refundsOf = (claimKey: string): Promise<ReadonlyArray<Refund>> =>
  onBus(
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("payment-refunds", RefundedPayment)
      return Option.match(yield* bucket.get(claimKey), { onNone: () => [], onSome: ({ value }) => value.refunds })
    })
  ).catch(() => [])

const booked = async () =>
  (await receipts()).flatMap(({ receipt }) => (receipt.outcome === "refunded" ? [receipt] : []))

const steps = {
  "before the chain is asked": () => fleet.gate.hold(simulating, "call"),
  "before its transaction is sent": () => fleet.gate.hold(sending, "call"),
  "after the chain has its transaction": () => fleet.gate.hold(sending, "answer")
} as const

const victims = ["payment-settler", "broker", "chain"] as const

const dies = async (victim: (typeof victims)[number]) => {
  if (victim === "broker") {
    await fleet.server.kill9()
    fleet.gate.open()
    return fleet.server.start()
  }
  if (victim === "chain") {
    await fleet.restartChain()
    return fleet.gate.open()
  }
  await fleet.kill(victim)
  fleet.gate.open()
  return fleet.run([victim])
}

const cases = (Object.keys(steps) as ReadonlyArray<keyof typeof steps>).flatMap((step) =>
  victims.map((victim) => [victim, step] as const)
)

describe("a refund", () => {
  it.each(cases)("is made once when the %s is killed %s", async (victim, step) => {
    const payment = await paid(`${victim} ${step}`)
    const { chain } = fleet
    const { payer, claimKey } = payment.receipt
    const before = await evmBalance(chain.rpcUrl, chain.asset, payer)
    steps[step]()
    void order(payment, "one", "700")
    await fleet.held()
    await dies(victim)
    // As an operator does who got no answer: the same order, which is the same refund.
    await until(async () => (await order(payment, "one", "700"))?._tag === "Done")
    await until(async () => (await refundsOf(claimKey)).every(({ state }) => state !== "ordered"))
    back += 700n
    assert.deepStrictEqual(
      (await refundsOf(claimKey)).map(({ key, amount, state }) => [key, amount, state]),
      [["one", "700", "made"]]
    )
    assert.strictEqual(await evmBalance(chain.rpcUrl, chain.asset, payer), before + 700n)
  })

  it("that nobody asks for again is made all the same", async () => {
    const payment = await paid("nobody asks again")
    fleet.gate.hold(sending, "call")
    void order(payment, "one", "700")
    await fleet.held()
    await dies("payment-settler")
    back += 700n
    const { claimKey } = payment.receipt
    await until(async () => (await refundsOf(claimKey))[0]?.state === "made")
  })
})

describe("afterwards", () => {
  it("the account that pays refunds has lost what was ordered, and the books say the same, once for each", async () => {
    const { chain } = fleet
    assert.strictEqual(await evmBalance(chain.rpcUrl, chain.asset, account.address), filled - back)
    const all = await booked()
    assert.strictEqual(
      all.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
      back
    )
    assert.strictEqual(new Set(all.map(({ claimKey }) => claimKey)).size, all.length)
    assert.strictEqual(all.length, cases.length + 1)
  })
})
