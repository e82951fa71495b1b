import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { cancelOnChain, emptyWallet, fundedKey, payWith, signFor } from "../../support/attacker.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { chat, eventsOf } from "../../support/gateway.ts"
import {
  body,
  isSent,
  mine,
  minedUntil,
  paying,
  slow,
  withLocalSettler,
  withoutSettler
} from "../../support/local-settler.ts"
import { balanced } from "../../support/payment-fleet.ts"
import { freePort } from "../../../dev/fixtures/free-port.ts"
import { rejected, startFaultyNode } from "../../libs/payments/chains/evm/faulty-node.ts"

describe("a paid call with a settler in the gateway's process", () => {
  it.live("is answered with its receipt, and recorded once without a job, streamed or not", () =>
    withLocalSettler((fleet) =>
      Effect.gen(function* () {
        const key = yield* fundedKey(fleet)
        const whole = yield* payWith(fleet, body, yield* signFor(fleet, body, key))
        assert.strictEqual(whole.status, 200)
        assert.match(whole.headers.get("x-payment-receipt") ?? "", /^0x[0-9a-f]{64}$/u)
        assert.strictEqual(yield* balanced(fleet), 1)

        const streamed = { ...body, stream: true }
        const response = yield* payWith(fleet, streamed, yield* signFor(fleet, streamed, key))
        const { comments } = eventsOf(response.text)
        assert.strictEqual(comments.filter((comment) => comment.startsWith("payment-response ")).length, 1)
        assert.strictEqual(yield* balanced(fleet), 2)

        assert.deepStrictEqual(yield* fleet.claimStates, ["SETTLED", "SETTLED"])
        const receipts = yield* fleet.receipts
        assert.deepStrictEqual(
          receipts.map(({ outcome }) => outcome),
          ["settled", "settled"]
        )
        assert.strictEqual(receipts[0]?.transaction, whole.headers.get("x-payment-receipt"))
        assert.deepStrictEqual([yield* fleet.jobs, yield* fleet.sent], [0, 2])
      })
    )
  )

  it.live("costs nothing while its answer cannot be stored, and the same payment is good afterwards", () =>
    withLocalSettler((fleet) =>
      Effect.gen(function* () {
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        for (const broken of [fleet.refuseAnswers, fleet.loseAnswers]) {
          yield* broken
          const refused = yield* payWith(fleet, body, payment)
          assert.deepStrictEqual([refused.status, refused.body["choices"]], [503, undefined])
          assert.isTrue(refused.headers.has("retry-after"))
          assert.include(refused.text, "nothing was charged")
          assert.deepStrictEqual(yield* fleet.claimStates, ["RELEASED"])
        }

        yield* fleet.keepAnswers
        const again = yield* payWith(fleet, body, payment)
        assert.strictEqual(again.status, 200)
        assert.strictEqual(yield* balanced(fleet), 1)
        // The first attempts sent nothing and wrote no job.
        assert.deepStrictEqual([yield* fleet.jobs, yield* fleet.sent], [0, 1])
        assert.strictEqual((yield* fleet.receipts).length, 1)
      })
    )
  )

  it.live("is not delivered and costs nothing when its payer takes the money away while the model works", () =>
    withLocalSettler((fleet) =>
      Effect.gen(function* () {
        const thinking = chat("!delay 2s")
        const [cancelling, emptying] = [yield* fundedKey(fleet), yield* fundedKey(fleet)]
        const cancelled = yield* signFor(fleet, thinking, cancelling)
        const emptied = yield* signFor(fleet, thinking, emptying)
        const both = yield* Effect.forkChild(
          Effect.forEach([cancelled, emptied], (payment) => payWith(fleet, thinking, payment), { concurrency: 2 })
        )
        yield* eventually(() => fleet.upstream.calls.length, { is: 2 })
        yield* cancelOnChain(fleet, cancelling, cancelled)
        yield* emptyWallet(fleet, emptying, 1_000_000n)
        assert.deepStrictEqual(
          fleet.upstream.calls.map(({ state }) => state),
          ["running", "running"]
        )
        for (const response of yield* Fiber.join(both)) {
          assert.deepStrictEqual([response.status, response.body["choices"]], [402, undefined])
          assert.strictEqual(response.body["error"], "Payment settlement failed")
        }
        assert.strictEqual(yield* balanced(fleet), 0)
        assert.deepStrictEqual(yield* fleet.claimStates, ["UNCOLLECTED", "UNCOLLECTED"])
        assert.deepStrictEqual([yield* fleet.jobs, yield* fleet.sent], [0, 0])
      })
    )
  )
})

describe("a payment that the local settler cannot begin at once", () => {
  it.live("becomes a job while the settler has no room, and both settle once", () =>
    withLocalSettler(
      (fleet) =>
        Effect.gen(function* () {
          const [one, other] = [yield* fundedKey(fleet), yield* fundedKey(fleet)]
          const first = yield* paying(fleet, one)
          yield* isSent(fleet, 1)
          const second = yield* paying(fleet, other)
          yield* isSent(fleet, 2)
          assert.strictEqual(yield* fleet.jobOf, second.payer)
          yield* mine(fleet)
          assert.deepStrictEqual([(yield* first.answer).status, (yield* second.answer).status], [200, 200])
          assert.strictEqual(yield* balanced(fleet), 2)
          assert.deepStrictEqual([yield* fleet.jobs, yield* fleet.sent], [1, 2])
        }),
      { ...slow, settler: { UnackedMax: 1 } }
    )
  )

  it.live("becomes a job while others hold all keys, and a holder of a key settles it once", () =>
    withoutSettler(
      (fleet) =>
        Effect.gen(function* () {
          const elsewhere = yield* Scope.make()
          yield* Scope.provide(fleet.takeKeys, elsewhere)
          yield* fleet.start("payment-settler")
          const { payer, answer } = yield* paying(fleet, yield* fundedKey(fleet))
          yield* eventually(fleet.jobs, { is: (count) => count === 1 })
          assert.strictEqual(yield* fleet.jobOf, payer)
          // A settler without a key does not even try.
          assert.notMatch(yield* fleet.metrics, /^payment_settlement_tries_total\{.*\} [1-9]/mu)
          assert.strictEqual(yield* fleet.sent, 0)
          yield* Scope.close(elsewhere, Exit.void)
          assert.strictEqual((yield* answer).status, 200)
          assert.strictEqual(yield* balanced(fleet), 1)
          assert.strictEqual(yield* fleet.sent, 1)
        }),
      { chain: { settlerCount: 1 } }
    )
  )
})

describe("a payment whose outcome the local settler does not learn", () => {
  it.live("continues as a job and is made once when the chain answers again", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(freePort)
      const healthy = `http://127.0.0.1:${port}`
      const node = yield* Effect.acquireRelease(
        Effect.promise(() => startFaultyNode(healthy)),
        ({ end }) => Effect.promise(end)
      )
      yield* withLocalSettler(
        (fleet) =>
          Effect.gen(function* () {
            assert.strictEqual(fleet.chain.rpcUrl, healthy)
            // The chain accepts the transaction, and its node reports that another has its place.
            node.behave = (method, call) => {
              if (!method.startsWith("eth_sendRawTransaction")) return undefined
              fetch(healthy, { method: "POST", headers: { "content-type": "application/json" }, body: call }).catch(
                () => undefined
              )
              return rejected(-32_000, "nonce too low")
            }
            const { payer, answer } = yield* paying(fleet, yield* fundedKey(fleet))
            yield* isSent(fleet, 1)
            yield* eventually(fleet.jobs, { is: (count) => count === 1 })
            assert.strictEqual(yield* fleet.jobOf, payer)
            assert.deepStrictEqual([yield* fleet.claimStates, yield* fleet.receipts], [["SETTLING"], []])
            node.behave = () => undefined
            yield* minedUntil(fleet, 1)
            assert.strictEqual((yield* answer).status, 200)
            assert.strictEqual(yield* balanced(fleet), 1)
            assert.deepStrictEqual([(yield* fleet.receipts).length, yield* fleet.sent], [1, 1])
          }),
        { chain: { ...slow.chain, port }, network: { RpcUrls: [node.url] } }
      )
    }).pipe(Effect.scoped)
  )
})
