import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import type { Claim, ClaimRecord } from "#payments"
import { type End, Ledger } from "../../../services/payment-settler/ledger.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"
import { checkedPayment, testNetwork, testRequirements } from "../../support/payments.ts"

const { asset, payTo, amount } = testRequirements
const end: End = { outcome: "settled", transaction: "0xsent", reason: null }

/** A claim that is settled, of one payer. */
const claimOf = (name: string): Claim => ({
  key: checkedPayment(name).claimKey,
  revision: 1,
  record: {
    ticket: `ticket-${name}`,
    network: testNetwork.Network,
    payer: "alice",
    asset,
    payTo,
    amount,
    claimedAtMs: 0,
    payment: null
  } as unknown as ClaimRecord
})

const receiptsOf = (claim: Claim) =>
  Effect.gen(function* () {
    const all = yield* Stream.runCollect((yield* Ledger).from(1))
    return all.filter(({ receipt }) => receipt.claimKey === claim.key)
  })

const withLedger = <A, E>(test: (server: TestNatsServer) => Effect.Effect<A, E, Ledger>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* test(server).pipe(Effect.provide(Ledger.layer.pipe(Layer.provide(busOn(server)))))
  }).pipe(Effect.scoped)

const deleteReceipt = (server: TestNatsServer, sequence: number) =>
  Effect.promise(async () => {
    const connection = await connect({ servers: server.url })
    await (await jetstreamManager(connection)).streams.deleteMessage("RECEIPTS", sequence)
    await connection.close()
  })

describe("the receipt of a settled payment", () => {
  it.live("is written once when a second settler finds the transfer before the first one has written", () =>
    withLedger(() =>
      Effect.gen(function* () {
        const { write } = yield* Ledger
        const claim = claimOf("overtaken")
        assert.isTrue(yield* write(claim, end, true))
        assert.isFalse(yield* write(claim, end, false))
        assert.lengthOf(yield* receiptsOf(claim), 1)
      })
    )
  )

  it.live("is written once by twenty settlers at the same moment, whatever each knows of the others", () =>
    withLedger(() =>
      Effect.gen(function* () {
        const { write } = yield* Ledger
        const claim = claimOf("crowded")
        const writers = Array.from({ length: 20 }, (_, nth) => write(claim, end, nth % 2 === 0))
        const isNew = yield* Effect.all(writers, { concurrency: "unbounded" })
        assert.lengthOf(
          isNew.filter((is) => is),
          1
        )
        assert.lengthOf(yield* receiptsOf(claim), 1)
      })
    )
  )

  it.live("is written again when it is gone, although the broker still remembers its id", () =>
    withLedger((server) =>
      Effect.gen(function* () {
        const { write, has } = yield* Ledger
        const [lost, other] = [claimOf("lost"), claimOf("other")]
        yield* write(lost, end, false)
        yield* write(other, end, false)
        const [stored] = yield* receiptsOf(lost)
        yield* deleteReceipt(server, stored?.sequence ?? 0)
        assert.isFalse(yield* has(lost))

        assert.isTrue(yield* write(lost, end, true))
        assert.lengthOf(yield* receiptsOf(lost), 1)
        assert.isFalse(yield* write(lost, end, true))
        assert.lengthOf(yield* receiptsOf(other), 1)
      })
    )
  )
})
