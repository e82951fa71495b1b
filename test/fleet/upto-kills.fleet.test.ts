/**
 * Calls paid by upto while the gateway, the verifier, the settler, the broker and the chain's node are killed, at each
 * step between the payment's verification and its settlement. Each call is answered in the end, charged once what it
 * used, and chain, receipts and payers have the same sums.
 */
import { decodePaymentResponseHeader } from "@x402/fetch"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { permit2Address } from "#dev/chain"
import { approveCall } from "../../dev/fixtures/evm/token-calls.ts"
import { uptoPayment } from "../../dev/fixtures/evm/upto-payments.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { chat } from "../support/gateway.ts"
import { quoteOf } from "../support/payment-client.ts"
import type { Parts } from "../support/payment-fleet.ts"
import {
  bookFindings,
  booksReadAt,
  isReceipted,
  type PaidProcesses,
  path,
  sending,
  simulating,
  startPaidProcesses
} from "../support/payment-kills.ts"

type Json = Readonly<Record<string, unknown>>

let fleet: PaidProcesses
/** What the payer was told that each call has cost. */
const told: Array<bigint> = []

const offering = ({ chain, configuration, environment }: Parts) => {
  const { Payments } = configuration as { readonly Payments: { readonly Networks: ReadonlyArray<Json> } }
  const FacilitatorAddresses = chain.settlers.map(({ address }) => address)
  const Networks = Payments.Networks.map((entry) => ({ ...entry, Schemes: ["upto"], FacilitatorAddresses }))
  return { configuration: { ...configuration, Payments: { ...Payments, Networks } }, environment }
}

beforeAll(async () => {
  const options = { payments: { LeaseSeconds: 2, SettleWaitSeconds: 5 }, configure: offering }
  fleet = await startPaidProcesses([["payment-verifier"], ["payment-settler"], ["model-gateway"]], options)
  const { rpc, payer, asset } = fleet.chain
  await Effect.runPromise(
    Effect.all([
      rpc("anvil_impersonateAccount", [payer.address]),
      rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]),
      rpc("eth_sendTransactionSync", [{ from: payer.address, to: asset, data: approveCall(permit2Address) }])
    ])
  )
})
afterAll(() => fleet.end())

let names = 0
const sign = async (body: unknown) => {
  const headers = { "content-type": "application/json" }
  const unpaid = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
  const [offer] = quoteOf(unpaid).accepts
  if (offer === undefined) throw new Error("no quote")
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const payment = await uptoPayment(privateKeyToAccount(fleet.chain.payer.privateKey), offer, { nowSeconds })
  const extensions = { "payment-identifier": { info: { id: `call-of-its-own-name-${(names += 1)}` } } }
  return Buffer.from(JSON.stringify({ ...payment, extensions })).toString("base64")
}

const steps = {
  "between verification and answer": () => fleet.modelWorks(),
  "between answer and settlement": async () => {
    await fleet.modelWorks()
    fleet.gate.hold(simulating, "call")
    await fleet.held()
  },
  "before its settlement is sent": async () => {
    await fleet.modelWorks()
    fleet.gate.hold(sending, "call")
    await fleet.held()
  },
  "after the chain has its settlement": async () => {
    await fleet.modelWorks()
    fleet.gate.hold(sending, "answer")
    await fleet.held()
  }
} as const

const victims = ["model-gateway", "payment-verifier", "payment-settler", "broker", "chain"] as const

const dies = async (victim: (typeof victims)[number]) => {
  switch (victim) {
    case "broker":
      await fleet.server.kill9()
      fleet.gate.open()
      return fleet.server.start()
    case "chain":
      await fleet.restartChain()
      return fleet.gate.open()
    default:
      await fleet.kill(victim)
      fleet.gate.open()
      return fleet.run([victim])
  }
}

const cases = (Object.keys(steps) as ReadonlyArray<keyof typeof steps>).flatMap((step) =>
  victims.map((victim) => [victim, step] as const)
)

describe("a call paid by upto", () => {
  it.each(cases)("is answered and charged once when the %s is killed %s", async (victim, step) => {
    const before = await fleet.transfers()
    const body = chat(`!delay 700ms ${victim} ${step}`)
    const payment = await sign(body)
    const broken = fleet.pay(body, payment)
    await steps[step]()
    await dies(victim)
    await broken
    const answer = await fleet.payUntil(isReceipted, body, payment)
    assert.include(answer?.text ?? "", `${victim} ${step}`)
    const settled = decodePaymentResponseHeader(answer?.headers.get("payment-response") ?? "")
    told.push(BigInt(settled.amount ?? "0"))
    assert.strictEqual(await fleet.collected(), before + 1)
  })
})

describe("afterwards the books", () => {
  const sorted = (amounts: ReadonlyArray<bigint>) => amounts.map(String).toSorted()

  it("of payers, receipts and the chain are equal to the last unit", async () => {
    const transfers = await Effect.runPromise(fleet.books.transfers)
    const receipts = await Effect.runPromise(fleet.books.receipts)
    assert.strictEqual(told.length, cases.length)
    assert.deepStrictEqual(sorted(transfers), sorted(told))
    assert.deepStrictEqual(sorted(receipts.map(({ amount }) => BigInt(amount))), sorted(told))
    for (const { scheme, outcome, amount, ceiling } of receipts) {
      assert.deepStrictEqual([scheme, outcome], ["upto", "settled"])
      assert.isTrue(BigInt(amount) <= BigInt(ceiling ?? "0"))
    }
  })

  it("have no finding", async () => {
    const metrics = () => fleet.of("payment-settler").metrics()
    const first = booksReadAt(await metrics())
    await until(async () => booksReadAt(await metrics()) > first)
    assert.deepStrictEqual(bookFindings(await metrics()), [])
  })
})
