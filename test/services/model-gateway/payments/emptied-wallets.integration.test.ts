import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { isSameAddress, type PaymentRequirements } from "#payments/contract"
import { permit2Address } from "#dev/chain"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { approveCall } from "../../../../dev/fixtures/evm/token-calls.ts"
import { uptoPayment } from "../../../../dev/fixtures/evm/upto-payments.ts"
import { emptyWallet, fundedKey, type Key, path, payWith, written } from "../../../support/attacker.ts"
import { chat, type GatewayAnswer } from "../../../support/gateway.ts"
import { quoteOf, signPayment } from "../../../support/payment-client.ts"
import { balanced, type Parts, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"

const units = 10_000_000n

/** Both ways to pay by a wallet's own money. */
const withUpto = ({ chain, configuration, environment }: Parts) => {
  const { Payments } = configuration as { readonly Payments: { readonly Networks: ReadonlyArray<object> } }
  const FacilitatorAddresses = chain.settlers.map(({ address }) => address)
  const Networks = Payments.Networks.map((entry) => ({ ...entry, Schemes: ["exact", "upto"], FacilitatorAddresses }))
  return { configuration: { ...configuration, Payments: { ...Payments, Networks } }, environment }
}

const offerOf = (fleet: PaymentFleet, body: unknown, scheme: string) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    const unpaid = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    await unpaid.body?.cancel()
    return quoteOf(unpaid).accepts.find((offer) => offer.scheme === scheme) ?? assert.fail(`no ${scheme}`)
  })

const signOne = async (key: Key, offer: PaymentRequirements) =>
  offer.scheme === "upto"
    ? written(await uptoPayment(privateKeyToAccount(key), offer, { nowSeconds: Math.floor(Date.now() / 1_000) }))
    : await signPayment(key, offer)

const payerWith = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  const key = yield* fundedKey(fleet, units)
  const { address } = privateKeyToAccount(key)
  yield* fleet.chain.rpc("anvil_impersonateAccount", [address])
  yield* fleet.chain.rpc("anvil_setBalance", [address, "0xde0b6b3a7640000"])
  const data = approveCall(permit2Address)
  yield* fleet.chain.rpc("eth_sendTransactionSync", [{ from: address, to: fleet.chain.asset, data }])
  return key
})

interface Order {
  readonly body: unknown
  readonly offer: PaymentRequirements
  /** Who pays for each call. */
  readonly keys: ReadonlyArray<Key>
}

const asked = ({ upstream }: PaymentFleet) => upstream.calls.filter((call) => !call.path.endsWith("/models")).length

/** All calls at once; once each is with a provider or refused, the wallets are emptied. How many a provider was asked. */
const callAndEmpty = Effect.fnUntraced(function* (fleet: PaymentFleet, { body, offer, keys }: Order) {
  const before = asked(fleet)
  const payments = yield* Effect.promise(() => Promise.all(keys.map((key) => signOne(key, offer))))
  const answers: Array<GatewayAnswer> = []
  const calls = yield* Effect.forkChild(
    Effect.forEach(
      payments,
      (payment) => Effect.map(payWith(fleet, body, payment), (answer) => void answers.push(answer)),
      { concurrency: "unbounded" }
    ),
    { startImmediately: true }
  )
  yield* eventually(() => asked(fleet) - before + answers.length >= keys.length)
  for (const key of new Set(keys)) yield* emptyWallet(fleet, key, units)
  yield* Fiber.join(calls)
  for (const { status, headers, body: refusal } of answers.filter((one) => one.status === 429)) {
    assert.deepStrictEqual([status, refusal["code"]], [429, "PAYMENT_EXPOSURE_LIMIT"])
    assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/u)
  }
  return { begun: asked(fleet) - before, answers }
})

const times = <A>(count: number, one: A) => Array.from({ length: count }, () => one)

describe("wallets that are emptied while the model works", () => {
  const newcomerUsd = 0.03
  const cases = [
    { scheme: "exact", body: chat("!delay 3s") },
    { scheme: "upto", body: chat("!delay 3s", { max_tokens: 1_000 }) },
    { scheme: "exact", body: chat("!words 20 150", { stream: true }) },
    { scheme: "upto", body: chat("!words 20 150", { stream: true, max_tokens: 1_000 }) }
  ]

  it.live(
    "cost providers no more than a payer may have unpaid: of twenty calls, whole and streamed, exact and upto",
    () =>
      withPayments(
        (fleet) =>
          Effect.gen(function* () {
            for (const { scheme, body } of cases) {
              const offer = yield* offerOf(fleet, body, scheme)
              const key = yield* payerWith(fleet)
              const name = `${scheme}, ${JSON.stringify(body)}`
              const bound = Math.floor((newcomerUsd * 1e6) / Number(offer.amount))
              const { begun, answers } = yield* callAndEmpty(fleet, { body, offer, keys: times(20, key) })
              assert.strictEqual(begun, bound, name)
              assert.isBelow(begun, 20, name)
              assert.lengthOf(
                answers.filter(({ status }) => status === 429),
                20 - begun,
                name
              )
              // Nothing of it was paid, so it counts on when there is money again; by upto what was used of it.
              if ("stream" in (body as object)) continue
              yield* fleet.chain.fund(privateKeyToAccount(key).address, units)
              const again = yield* callAndEmpty(fleet, { body, offer, keys: times(5, key) })
              assert.include(again.answers.map(({ text }) => text).join("\n"), "payer_has_too_much_unpaid", name)
              const { address } = privateKeyToAccount(key)
              const lost = (yield* fleet.receipts).filter((one) => isSameAddress(one.network, one.payer, address))
              assert.lengthOf(lost, begun + again.begun, name)
              const cost = lost.reduce((sum, { amount }) => sum + Number(amount), 0)
              assert.isAtMost(cost, newcomerUsd * 1e6, name)
            }
            assert.deepStrictEqual(yield* fleet.transfers, [])
          }),
        { configure: withUpto, payments: { UnpaidNewcomerUsd: newcomerUsd, SettleWaitSeconds: 3 } }
      )
  )

  it.live("cost no more than all newcomers may have unpaid, however many they are, and who has paid is served", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("!delay 3s")
          const offer = yield* offerOf(fleet, body, "exact")
          const price = Number(offer.amount)
          const honest = yield* fundedKey(fleet, units)
          const pay = Effect.flatMap(
            Effect.promise(() => signPayment(honest, offer)),
            (payment) => payWith(fleet, body, payment)
          )
          assert.strictEqual((yield* pay).status, 200)
          let begun = 0
          for (const count of [30, 10]) {
            const keys = yield* Effect.forEach(times(count, units), (money) => fundedKey(fleet, money))
            begun += (yield* callAndEmpty(fleet, { body, offer, keys })).begun
          }
          assert.isAtLeast(begun, 1)
          // A call beside the bound, for the one verifier.
          assert.isAtMost(begun * price, 30_000 + price)
          assert.strictEqual((yield* pay).status, 200)
          assert.strictEqual(yield* balanced(fleet), 2)
        }),
      { payments: { UnpaidNewcomersMaxUsd: 0.03 } }
    )
  )

  it.live("cost no more when callers leave a provider at work, one after the other", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("!delay 30s")
          const offer = yield* offerOf(fleet, body, "exact")
          const bound = Math.floor((newcomerUsd * 1e6) / Number(offer.amount))
          const key = yield* fundedKey(fleet, units)
          for (let call = 0; call < 20; call += 1) {
            const payment = yield* Effect.promise(() => signPayment(key, offer))
            const leaving = new AbortController()
            const before = asked(fleet)
            let isAnswered = false
            const ended = fetch(`${fleet.url}${path}`, {
              method: "POST",
              body: JSON.stringify(body),
              headers: { "content-type": "application/json", "payment-signature": payment },
              signal: leaving.signal
            }).then(
              ({ status }) => void (isAnswered = status === 429),
              () => undefined
            )
            yield* eventually(() => asked(fleet) > before || isAnswered)
            leaving.abort()
            yield* Effect.promise(() => ended)
            yield* eventually(fleet.claimStates, { is: (states) => !states.includes("CLAIMED") })
          }
          assert.strictEqual(asked(fleet), bound)
          assert.deepStrictEqual(yield* fleet.transfers, [])
        }),
      { payments: { UnpaidNewcomerUsd: newcomerUsd } }
    )
  )
})
