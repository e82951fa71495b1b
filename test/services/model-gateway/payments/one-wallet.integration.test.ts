import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { fundedKey, offerFor, payWith } from "../../../support/attacker.ts"
import { chat, eventsOf, type GatewayAnswer } from "../../../support/gateway.ts"
import { signPayment } from "../../../support/payment-client.ts"
import { balanced, type PaymentFleet } from "../../../support/payment-fleet.ts"
import { layouts } from "../../../support/payment-layouts.ts"

/** Many payments of one wallet that holds money for so many of the calls. */
const signedBy = Effect.fnUntraced(function* (fleet: PaymentFleet, body: unknown, count: number, calls: number) {
  const offer = yield* offerFor(fleet, body)
  const key = yield* fundedKey(fleet, BigInt(offer.amount) * BigInt(calls))
  const signing = Array.from({ length: count }, () => signPayment(key, offer))
  const payments = yield* Effect.promise(() => Promise.all(signing))
  const fundOne = fleet.chain.fund(privateKeyToAccount(key).address, BigInt(offer.amount))
  return { payments, fundOne }
})

const statuses = (answers: ReadonlyArray<GatewayAnswer>) => answers.map(({ status }) => status)
const served = (answers: ReadonlyArray<GatewayAnswer>) => statuses(answers).filter((status) => status === 200).length
const asked = ({ upstream }: PaymentFleet) => upstream.calls.filter(({ path }) => !path.endsWith("/models")).length

describe.each(layouts)("many calls of one wallet at once, $layout", ({ withPayments }) => {
  it.live("get one answer for a hundred authorizations of a wallet with money for one, over two verifiers", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        yield* fleet.start("payment-verifier")
        yield* fleet.start("model-gateway")
        const body = chat("!delay 300ms")
        const { payments } = yield* signedBy(fleet, body, 100, 1)
        const gateways = fleet.gateways()
        assert.strictEqual(gateways.length, 2)
        const answers = yield* Effect.forEach(
          payments,
          (payment, index) => payWith({ ...fleet, url: gateways[index % 2] ?? "" }, body, payment),
          { concurrency: 100 }
        )
        assert.strictEqual(served(answers), 1)
        assert.strictEqual(asked(fleet), 1)
        for (const { status, headers, body: refusal } of answers.filter((one) => one.status !== 200)) {
          const isUnfunded = status === 402 && refusal["code"] === "PAYMENT_UNFUNDED"
          if (!isUnfunded) {
            assert.deepStrictEqual([status, refusal["code"]], [429, "PAYMENT_EXPOSURE_LIMIT"])
            assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/u)
            assert.isNumber(refusal["retry_after_seconds"])
          }
        }
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("get ten answers for ten streams of a wallet with money for ten, and none for an eleventh meanwhile", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("!words 20 100", { stream: true })
        const { payments } = yield* signedBy(fleet, body, 11, 10)
        const answers = yield* Effect.forEach(payments, (payment) => payWith(fleet, body, payment), { concurrency: 11 })
        assert.deepStrictEqual(statuses(answers).toSorted(), [...Array.from({ length: 10 }, () => 200), 429])
        for (const { text } of answers.filter(({ status }) => status === 200)) {
          assert.strictEqual(eventsOf(text).data.at(-1), "[DONE]")
        }
        assert.strictEqual(yield* balanced(fleet), 10)
      })
    )
  )

  it.live("are all answered while the wallet has money, in sequence and in parallel", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const { payments } = yield* signedBy(fleet, body, 9, 9)
        const [one, two, three, ...others] = payments
        // Its last money: a settlement of a moment ago is neither counted twice nor still there.
        for (const payment of [one, two, three]) {
          assert.strictEqual((yield* payWith(fleet, body, payment ?? "")).status, 200)
        }
        const answers = yield* Effect.forEach(others, (payment) => payWith(fleet, body, payment), { concurrency: 6 })
        assert.deepStrictEqual(statuses(answers), [200, 200, 200, 200, 200, 200])
        assert.strictEqual(yield* balanced(fleet), 9)
      })
    )
  )

  it.live("are accepted with the very same payment after a refusal for exposure, once there is room", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("!delay 500ms")
        const { payments, fundOne } = yield* signedBy(fleet, body, 2, 1)
        const both = yield* Effect.forEach(payments, (payment) => payWith(fleet, body, payment), { concurrency: 2 })
        assert.deepStrictEqual(statuses(both).toSorted(), [200, 429])
        yield* fundOne
        const refused = payments[both.findIndex(({ status }) => status === 429)] ?? ""
        const again = yield* payWith(fleet, body, refused)
        assert.strictEqual(again.status, 200, again.text)
        assert.strictEqual(yield* balanced(fleet), 2)
      })
    )
  )
})
