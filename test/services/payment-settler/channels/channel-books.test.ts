import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import type { KvEntry } from "#bus"
import { type Channel, owedOf } from "#payments"
import {
  addReceipts,
  baseOf,
  faultsOfReceipts,
  type ReceiptSum,
  withReceipt
} from "../../../../services/payment-settler/channels/channel-books.ts"
import { Ledger } from "../../../../services/payment-settler/ledger.ts"
import { failingAtEach, recordedBucket, told } from "../../../support/recorder.ts"
import { diceOf } from "../../../support/random-ssml.ts"
import { begin, channelAtWork, charge, mirror, receipted } from "../../../libs/payments/channels/channel-at-work.ts"

const none: ReceiptSum = { receipted: "0", through: 0, base: null }
const sumOf = (amount: number, base: string | null = null): ReceiptSum => ({
  receipted: String(amount),
  through: 9,
  base
})

/** A channel that was charged so much, of which the last `owed` charges have no receipt yet; each is of 100. */
const channelOf = ({ charges, owed = 0, isOld = false }: { charges: number; owed?: number; isOld?: boolean }) => {
  const channel = channelAtWork()
  channel.tries(mirror())
  for (let index = 0; index < charges; index += 1) {
    const ticket = `t${index}`
    channel.tries(begin((index + 1) * 100, { ticket, amount: 100 }))
    channel.tries(charge(100, ticket))
    if (index < charges - owed) channel.tries(receipted(ticket))
  }
  const state = channel.state()
  const { unreceipted: _, ...old } = state
  return isOld ? (old satisfies Channel) : state
}

const seeds = Array.from({ length: 200 }, (_, seed) => Math.imul(seed + 1, 2_654_435_761))

describe("the sum of a channel's receipts", () => {
  it("counts each receipt once, wherever its reading is begun again", () => {
    for (const seed of seeds) {
      const dice = diceOf(seed)
      const charges = Array.from({ length: 1 + dice.below(30) }, (_, index) => ({
        sequence: (index + 1) * 3,
        amount: BigInt(1 + dice.below(1_000))
      }))
      let [sum, at] = [none, 0]
      while (at < charges.length) {
        sum = withReceipt(sum, charges[at] ?? assert.fail("no charge"))
        // Whoever reads on after a death begins at a place that is no later.
        at = dice.below(8) === 0 ? dice.below(at + 1) : at + 1
      }
      assert.strictEqual(sum.receipted, String(charges.reduce((all, { amount }) => all + amount, 0n)))
    }
  })
})

describe("the receipts that were written since the last time", () => {
  it.effect("are each counted once, whichever read or write fails or loses its answer", () =>
    Effect.gen(function* () {
      const charges = [
        { sequence: 3, amount: 100n, channel: "0xaa", payer: "0x1" },
        { sequence: 5, amount: 20n, channel: "0xbb", payer: "0x2" },
        { sequence: 8, amount: 3n, channel: "0xaa", payer: "0x1" }
      ]
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const entries = new Map<string, KvEntry<ReceiptSum>>()
          const keeper = {
            network: { name: "eip155:84532", entry: { PayTo: "0xcc" }, contract: {} },
            receiptSums: { sums: recordedBucket(record, entries), places: recordedBucket<{ through: number }>(record) }
          } as unknown as Parameters<typeof addReceipts>[0]
          const ledger = Ledger.of({
            charges: (_: string, from: number) =>
              Stream.fromIterable(charges.filter(({ sequence }) => sequence >= from))
          } as never)
          const add = Effect.retry(addReceipts(keeper, new Map()), { times: 1 })
          yield* Effect.provideService(Effect.andThen(add, add), Ledger, ledger)
          return [...entries.values()].map(({ value }) => value)
        })
      )
      const sums = [
        { receipted: "103", through: 8, base: null },
        { receipted: "20", through: 5, base: null }
      ]
      for (const run of runs) assert.deepStrictEqual(run.exit, Exit.succeed(sums), told(run))
      // The place and two sums, read and written, and the place once more: each fails in two ways.
      assert.isAtLeast(runs.length, 17)
    })
  )
})

describe("the receipts of a channel", () => {
  const cases: ReadonlyArray<
    readonly [string, ReceiptSum, ReadonlyArray<Parameters<typeof channelOf>[0]>, string | undefined]
  > = [
    ["of which nothing was charged fit", none, [{ charges: 0 }], undefined],
    ["that make up what was charged fit", sumOf(300), [{ charges: 3 }], undefined],
    ["of which the last ones are still owed fit", sumOf(100), [{ charges: 3, owed: 2 }], undefined],
    ["that are written and still owed by the record fit", sumOf(300), [{ charges: 3, owed: 2 }], undefined],
    ["that were written while they were read fit", sumOf(400), [{ charges: 3 }, { charges: 5 }], undefined],
    ["that are too few do not", sumOf(200), [{ charges: 3 }], "100 of what is charged has no receipt"],
    ["that are too many do not", sumOf(350), [{ charges: 3 }], "its receipts are 50 more than was charged"],
    ["of an earlier release are not judged before it stood still", sumOf(7), [{ charges: 3, isOld: true }], undefined],
    ["of an earlier release fit with what that charged", sumOf(100, "200"), [{ charges: 3, isOld: true }], undefined],
    [
      "that are missing since an earlier release do not fit",
      sumOf(100, "100"),
      [{ charges: 3, isOld: true }],
      "100 of what is charged has no receipt"
    ]
  ]
  it.each(cases)("%s", (_, sum, [before, after], fault) => {
    const first = channelOf(before ?? { charges: 0 })
    const faults = faultsOfReceipts(sum, first, after === undefined ? first : channelOf(after))
    assert.deepStrictEqual(
      faults.map((one) => one.fault),
      fault === undefined ? [] : [fault]
    )
  })

  it("are not missing for money that was claimed without us", () => {
    const channel = channelAtWork()
    channel.tries(mirror())
    channel.tries(begin(100, { amount: 100 }))
    channel.tries(charge(100))
    channel.tries(receipted("t1"))
    channel.tries(mirror({ totalClaimed: "450", block: 2 }))
    const state = channel.state()
    assert.deepInclude(state, { charged: "450", unreceipted: "350" })
    assert.deepStrictEqual(faultsOfReceipts(sumOf(100), state, state), [])
  })

  it("are what a busy channel was charged, at whatever moments it is looked at", () => {
    for (const seed of seeds) {
      const dice = diceOf(seed)
      // After each charge its receipt is written, at once or later, and later still its record hears of it.
      const channel = channelAtWork()
      channel.tries(mirror())
      const moments: Array<{ readonly state: Channel; readonly sum: number }> = []
      let sum = 0
      const note = () => moments.push({ state: channel.state(), sum })
      note()
      for (let calls = 1; calls <= 20; calls += 1) {
        const ticket = `t${calls}`
        channel.tries(begin(calls * 100, { ticket, amount: 100 }))
        channel.tries(charge(100, ticket))
        note()
        if (dice.below(2) === 0) continue
        const due = owedOf(channel.state())
        sum = calls * 100
        note()
        channel.tries(receipted(...due.map((owed) => owed.ticket)))
        note()
      }
      const [before, read, after] = [0, 0, 0]
        .map(() => dice.below(moments.length))
        .toSorted((left, right) => left - right)
      const at = (index: number | undefined) => moments[index ?? 0] ?? assert.fail("no moment")
      assert.deepStrictEqual(faultsOfReceipts(sumOf(at(read).sum), at(before).state, at(after).state), [])
    }
  })
})

describe("the base of a channel of an earlier release", () => {
  const old = (charges: number, owed = 0) => channelOf({ charges, owed, isOld: true })
  it.each([
    ["is what has no named receipt, when it stood still", sumOf(100), old(3), old(3), "200"],
    ["is not known while it is charged", sumOf(100), old(3), old(4), null],
    ["is not known while receipts are owed", sumOf(100), old(3, 1), old(3, 1), null],
    ["stays what it is", sumOf(100, "5"), old(3), old(3), "5"],
    ["is none for a channel of this release", sumOf(100), channelOf({ charges: 3 }), channelOf({ charges: 3 }), null]
  ] as const)("%s", (_, sum, before, after, base) => {
    assert.strictEqual(baseOf(sum, before, after), base)
  })
})
