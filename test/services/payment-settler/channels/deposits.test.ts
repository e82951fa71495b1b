import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Latch, Layer, Option } from "effect"
import { Requests } from "#bus"
import type { ChannelOrder } from "#payments/contract"
import { Metrics } from "#runtime"
import { type Channel, channelIdIn, Channels, type LeaseEnd } from "#payments"
import { ChannelNetworks } from "../../../../services/payment-settler/channels/ChannelNetworks.ts"
import { answerChannelOrders, writeReceipts } from "../../../../services/payment-settler/channels/channel-orders.ts"
import { Ledger } from "../../../../services/payment-settler/ledger.ts"
import { testNetwork } from "../../../support/payments.ts"
import { failingAtEach, isAfter, recordedKv, type Recorder, recorder, told } from "../../../support/recorder.ts"
import { begin, channelAtWork, charge, mirror, testConfig } from "../../../libs/payments/channels/channel-at-work.ts"

const contract = { separator: new Uint8Array(32) }
const network = testNetwork.Network
const channelId = channelIdIn(contract, testConfig)
const target = { network, channelId, config: testConfig }
const word = `0x${"3".repeat(64)}`
const signature = `0x${"12".repeat(64)}1b`
const salted = { salt: word, validAfter: "0", validBefore: "4102444800", signature }
const permit = (isApproved: boolean) => ({
  nonce: "7",
  deadline: "4102444800",
  signature,
  approval: isApproved ? { deadline: "4102444800", signature } : null
})
const deposit = (changes: object = {}) =>
  ({
    _tag: "Deposit",
    ...target,
    amount: "1000",
    maxClaimable: "600",
    authorization: salted,
    ...changes
  }) as unknown as ChannelOrder

interface Given {
  readonly isRefused?: boolean
  /** The authorization is used: the money is in the channel. */
  readonly isUsed?: boolean
  readonly approved?: bigint
  readonly balance?: bigint
  readonly totalClaimed?: bigint
  readonly sent?: "Made" | "Refused"
  /** What became of the transaction that was signed before. */
  readonly earlier?: "Made"
}

/** A settler whose chain answers as given; it writes down what it asks of its surroundings. */
const world = (record: Recorder, given: Given = {}) => {
  const { call, note } = record
  const ends: Array<LeaseEnd> = []
  let handler: (order: ChannelOrder) => Effect.Effect<Readonly<Record<string, unknown>>> = () =>
    Effect.die("no handler")
  const state = {
    balance: given.balance ?? 0n,
    totalClaimed: given.totalClaimed ?? 0n,
    withdrawAmount: 0n,
    withdrawRequestedAt: 0,
    refundNonce: 0n,
    block: 1
  }
  const outcome = { _tag: given.sent ?? "Made", receipt: { transactionHash: "0xmade" } }
  const chain = {
    ...contract,
    state: () => Effect.as(note("look"), state),
    simulate: () =>
      given.isRefused === true ? Effect.fail({ _tag: "Reverted", text: "it would revert" }) : note("simulate"),
    prepare: () => Effect.as(note("sign"), { transaction: "0xsigned", raw: new Uint8Array(0) }),
    send: () => Effect.as(note("send"), outcome),
    outcomeOf: () => Effect.succeed(given.earlier === undefined ? Option.none() : Option.some({ _tag: given.earlier })),
    isAuthorizationUsed: () => Effect.succeed(given.isUsed === true),
    isPermitUsed: () => Effect.succeed(given.isUsed === true),
    approvedForPermit2: () => Effect.succeed(given.approved ?? 0n)
  }
  const pool = {
    some: Latch.makeUnsafe(true),
    none: Latch.makeUnsafe(false),
    take: () => Effect.succeed({ lease: {}, end: (how: LeaseEnd) => Effect.sync(() => void ends.push(how)) })
  }
  const kv = recordedKv({ call })
  const services = Layer.mergeAll(
    Layer.succeed(
      ChannelNetworks,
      new Map([[network, { name: network, entry: testNetwork, contract: chain, pool }]]) as never
    ),
    Layer.succeed(Channels, { run: () => call("mirror", Effect.void) } as never),
    Layer.succeed(Ledger, {} as never),
    kv.layer,
    Layer.succeed(Requests, {
      answer: (asked: { readonly handler: typeof handler }) =>
        Effect.contextWith((context) =>
          Effect.sync(() => void (handler = (order) => Effect.provideContext(asked.handler(order), context)))
        )
    } as never)
  )
  const layer = answerChannelOrders.pipe(Layer.provide(services), Layer.provideMerge(Metrics.layerTest))
  return { layer, ends, order: (order: ChannelOrder) => Effect.suspend(() => handler(order)) }
}

const answered = (order: ChannelOrder, given?: Given) =>
  Effect.fnUntraced(function* (record: Recorder) {
    const there = world(record, given)
    const answer = yield* there.order(order).pipe(Effect.provide(there.layer))
    return { answer, ends: there.ends }
  })

describe("a deposit into a channel", () => {
  const made = { _tag: "Done", transaction: "0xmade", amount: "1000" }
  const present = { _tag: "Done", transaction: null, amount: "0" }
  const refused = (name: string) => ({ _tag: "Refused", reason: `invalid_batch_settlement_evm_${name}` })
  const rows: ReadonlyArray<
    readonly [what: string, order: ChannelOrder, given: Given, answer: object, isSent: boolean]
  > = [
    ["is sent, and is what its channel has more", deposit(), {}, made, true],
    [
      "is what the channel had already, where it was made before",
      deposit(),
      { isRefused: true, isUsed: true },
      present,
      false
    ],
    [
      "is refused where the chain would refuse it",
      deposit(),
      { isRefused: true },
      refused("deposit_simulation_failed"),
      false
    ],
    [
      "needs an approval by Permit2",
      deposit({ authorization: permit(false) }),
      { isRefused: true, approved: 999n },
      refused("permit2_allowance_required"),
      false
    ],
    [
      "has the approval that was made before",
      deposit({ authorization: permit(false) }),
      { isRefused: true, approved: 1_000n },
      refused("deposit_simulation_failed"),
      false
    ],
    [
      "has the approval that is signed with it",
      deposit({ authorization: permit(true) }),
      { isRefused: true },
      refused("deposit_simulation_failed"),
      false
    ],
    [
      "is not sent for a voucher beyond it",
      deposit({ maxClaimable: "1001" }),
      {},
      refused("cumulative_exceeds_balance"),
      false
    ],
    ["is sent for a voucher over all of it", deposit({ maxClaimable: "1001" }), { balance: 1n }, made, true],
    [
      "is not sent for a voucher that is claimed",
      deposit(),
      { totalClaimed: 600n },
      refused("cumulative_below_claimed"),
      false
    ],
    ["is sent for a voucher that is not", deposit(), { totalClaimed: 599n }, made, true],
    [
      "is refused where its transaction failed",
      deposit(),
      { sent: "Refused" },
      refused("deposit_transaction_failed"),
      true
    ],
    ["is made where another's transaction came first", deposit(), { sent: "Refused", isUsed: true }, present, true],
    [
      "is refused for another channel's configuration",
      deposit({ channelId: word }),
      {},
      refused("channel_id_mismatch"),
      false
    ]
  ]
  it.effect.each(rows)("%s", ([, order, given, answer, isSent]) =>
    Effect.gen(function* () {
      const record = recorder()
      const found = yield* answered(order, given)(record)
      assert.deepInclude(found.answer, { ...answer })
      assert.strictEqual(record.calls.includes("send"), isSent)
      assert.strictEqual(
        record.calls.includes("mirror"),
        found.answer["_tag"] === "Done",
        "the record follows the chain"
      )
      assert.deepStrictEqual(found.ends, isSent ? ["used"] : [])
    })
  )

  it.effect("is not recorded here for another server's channel", () =>
    Effect.gen(function* () {
      const record = recorder()
      assert.deepInclude((yield* answered(deposit({ isForeign: true }))(record)).answer, made)
      assert.notInclude(record.calls, "mirror")
    })
  )

  it.effect("that was ordered before is looked up by its transaction, and not sent again", () =>
    Effect.gen(function* () {
      const record = recorder()
      const there = world(record)
      const again = { ...made, transaction: "0xsigned" }
      const known = world(record, { earlier: "Made" })
      assert.deepInclude(yield* Effect.provide(there.order(deposit()), there.layer), made)
      // Another settler's memory is its own here: its bucket is empty, and it sends.
      assert.deepInclude(yield* Effect.provide(known.order(deposit()), known.layer), made)
      const both = Effect.andThen(known.order(deposit()), known.order(deposit()))
      assert.deepInclude(yield* Effect.provide(both, known.layer), again)
    })
  )

  it.effect("is sent only after its transaction is noted, whatever fails, and its key's lease is ended once", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(answered(deposit()))
      for (const run of runs) {
        if (run.exit._tag === "Failure") return assert.fail(told(run))
        const { ends, answer } = run.exit.value
        const noted = run.calls.find((what) => what.startsWith("create order."))
        if (run.calls.includes("send")) assert.isTrue(noted !== undefined && isAfter(run, "send", noted), told(run))
        assert.lengthOf(ends, run.calls.includes("sign") ? 1 : 0, told(run))
        if (run.failedAt === undefined) assert.deepInclude(answer, made)
      }
      assert.isAbove(runs.length, 4)
    })
  )
})

describe("the receipts that a channel owes", () => {
  it.effect("are written once they are old enough, and then told to its record", () =>
    Effect.gen(function* () {
      const record = recorder()
      const channel = channelAtWork()
      channel.tries(mirror())
      channel.tries(begin(1_000))
      channel.tries(charge(700))
      const state: Channel = channel.state()
      const aged = (ms: number) => ({
        ...state,
        owed: state.owed?.map((owed) => ({ ...owed, chargedAtMs: -ms })) ?? []
      })
      const channels = Channels.of({ run: () => record.call("tell the record", Effect.succeed(state)) } as never)
      const ledger = Ledger.of({
        writeCharge: ({ ticket }: { readonly ticket: string }, mayExist: boolean) =>
          record.call(`write ${ticket}${mayExist ? " if it is not there" : ""}`, Effect.void)
      } as never)
      const services = Context.make(Channels, channels).pipe(Context.add(Ledger, ledger))
      const write = (ms: number) =>
        Effect.provideContext(writeReceipts({ network, channelId }, aged(ms), 5_000), services)
      yield* write(4_999)
      assert.deepStrictEqual(record.calls, [])
      yield* write(5_000)
      yield* write(60_001)
      assert.deepStrictEqual(record.calls, [
        "write t1",
        "tell the record",
        "write t1 if it is not there",
        "tell the record"
      ])
    })
  )
})
