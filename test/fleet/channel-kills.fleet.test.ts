/**
 * Payers by channel, under load, while the gateway, the settler, the broker and the chain's node are killed, in each
 * state that a channel can be in. Whatever dies when: every call is answered and charged once, what was charged is what
 * the payers were told, what their receipts say and what is claimed on the chain, and no channel ever owes more than it
 * may.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { Kv } from "#bus"
import { ConfiguredHttp } from "#egress"
import { isSameAddress, type PaymentRequirements } from "#payments/contract"
import { Metrics } from "#runtime"
import { type Channel, type ChannelContract, channelIdFor, Channels, openChannelContract } from "#payments"
import { busOf } from "../../dev/fixtures/payment-bus.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { channelConfigOf } from "../../libs/payments/wallet/channels.ts"
import { ReceiptSum } from "../../services/payment-settler/channels/channel-books.ts"
import { channelOptions, sendAs } from "../support/channel-fleet.ts"
import {
  channelOffer,
  type KilledPayer,
  killedPayer,
  payOnce,
  refundAll,
  streamOnce
} from "../support/channel-payers.ts"
import { bookFindings, type PaidProcesses, sending, startPaidProcesses } from "../support/payment-kills.ts"

/** In the token's smallest unit; a call costs 2,000. */
const unclaimedMax = 20_000

let fleet: PaidProcesses
let scope: Scope.Closeable
let channels: Channels["Service"]
let contract: ChannelContract
let offer: PaymentRequirements
const payers: Array<KilledPayer> = []
/** The most that any channel has owed, in every state of its record that the broker had. */
let owedMost = 0n
const load = { isOn: true }
let loads: ReadonlyArray<Promise<void>> = []

const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))

let calls = 0
const pay = (payer: KilledPayer, text = "question") => payOnce(fleet.url, offer, payer, `${text} ${(calls += 1)}`)

/** Pays on and on, whatever happens to the others. */
const payOn = async (payer: KilledPayer) => {
  while (load.isOn) {
    await pay(payer)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const newPayer = async (name: string) => {
  const payer = killedPayer(name)
  payers.push(payer)
  return payer
}

const states = [
  "has no deposit yet",
  "has its deposit under way",
  "pays for a call that is not stored yet",
  "pays for a call",
  "is being claimed",
  "has its refund under way",
  "is being withdrawn from"
] as const
const victims = ["model-gateway", "payment-settler", "broker", "chain"] as const
const cases = states.flatMap((state) => victims.map((victim) => [victim, state] as const))

beforeAll(async () => {
  const { options } = channelOptions({
    payments: { LeaseSeconds: 2, ChannelUnclaimedMaxUsd: unclaimedMax / 1e6 },
    settler: { ChannelClaimSeconds: 1, ChannelClaimUsd: 0.01, ReconcileSeconds: 5 }
  })
  fleet = await startPaidProcesses([["payment-verifier"], ["payment-settler"], ["model-gateway"]], options)
  offer = await channelOffer(fleet.url)
  const loading = await Promise.all(["load 1", "load 2", "load 3"].map(newPayer))
  for (const [index] of cases.entries()) await newPayer(`case ${index}`)
  await newPayer("stream")
  // A chain that was restarted mints no more.
  for (const { address } of payers) await Effect.runPromise(fleet.chain.fund(address, 10n ** 12n))
  scope = Scope.makeUnsafe()
  channels = await inScope(
    Effect.gen(function* () {
      const context = yield* Effect.provideContext(Layer.build(Channels.layer), yield* busOf(fleet.server))
      return yield* Effect.provideContext(Channels, context)
    })
  )
  contract = await inScope(
    openChannelContract({ network: offer.network, rpcUrls: [fleet.chain.rpcUrl] }).pipe(
      Effect.provide(ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest)))
    )
  )
  const watching = Stream.runForEach(channels.changes(1, { messagesMax: 256, withinMs: 20 }), (run) =>
    Effect.sync(() => {
      for (const { entry } of run) {
        if (Option.isNone(entry)) continue
        const { charged, mirror } = entry.value.value
        const owed = BigInt(charged) - BigInt(mirror.totalClaimed)
        if (owed > owedMost) owedMost = owed
      }
    })
  )
  await inScope(Effect.forkScoped(Effect.forever(Effect.ignore(watching))))
  loads = loading.map(payOn)
})
afterAll(async () => {
  load.isOn = false
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await fleet.end()
})

/** What the settlers have counted of the receipts of each channel. */
const receiptSums = Effect.gen(function* () {
  const kv = yield* Effect.provideContext(Kv, yield* busOf(fleet.server))
  const bucket = yield* kv.open("payment-books", ReceiptSum)
  const all = yield* Stream.runCollect(bucket.scan("receipted.>"))
  return new Map(all.map(({ key, value }) => [key.split(".").at(-1) ?? "", BigInt(value.receipted)] as const))
})

const nameOf = (payer: KilledPayer) => ({ network: offer.network, channelId: channelIdFor(payer, offer) })
const recordOf = async (payer: KilledPayer) => Effect.runPromise(channels.read(nameOf(payer)))
const is = async (payer: KilledPayer, test: (channel: Channel) => boolean) => Option.exists(await recordOf(payer), test)
const read = (payer: KilledPayer) => Effect.flatMap(channels.read(nameOf(payer)), Effect.fromOption)

/** Kills a part, frees what the gate holds, and has the part start again. */
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

/** Brings a channel into a state; what is under way then, and has to end well after any death. */
const bring = async (payer: KilledPayer, state: (typeof states)[number]): Promise<() => Promise<void>> => {
  const under = (work: Promise<void>) => {
    // A failure is reported when it is awaited, after the death.
    work.catch(() => undefined)
    return () => work
  }
  const holdSending = () => fleet.gate.hold(sending, "answer")
  if (state !== "has no deposit yet" && state !== "has its deposit under way") await pay(payer)
  switch (state) {
    case "has no deposit yet":
      return under(pay(payer))
    case "has its deposit under way": {
      holdSending()
      const paying = under(pay(payer))
      await until(() => contract.state(nameOf(payer).channelId).pipe(Effect.runPromise), {
        is: ({ balance }) => balance > 0n
      })
      return paying
    }
    case "pays for a call that is not stored yet": {
      const text = `!delay 300ms quick question of ${payer.address}`
      const paying = under(pay(payer, text))
      await until(() => fleet.upstream.calls.some(({ body }) => JSON.stringify(body).includes(text)))
      return paying
    }
    case "pays for a call": {
      const paying = under(pay(payer, "!delay 2s slow question"))
      await until(() => is(payer, ({ work }) => work !== null))
      return paying
    }
    case "is being claimed":
      holdSending()
      await fleet.held()
      return under(pay(payer))
    case "has its refund under way": {
      holdSending()
      const refunding = under(refundAll(fleet.url, offer, payer))
      await until(() => is(payer, ({ refunding }) => refunding !== undefined))
      return refunding
    }
    case "is being withdrawn from": {
      const account = privateKeyToAccount(payer.account.privateKey)
      const amount = payer.usable - payer.charged
      const args = [channelConfigOf(payer, offer), amount]
      assert.strictEqual(await Effect.runPromise(sendAs(fleet.chain, account, "initiateWithdraw", args)), "done")
      return under(pay(payer))
    }
  }
}

/** What the payer, the record and the chain say. */
const agrees = async (payer: KilledPayer) => {
  await until(() => is(payer, ({ charged, work }) => work === null && BigInt(charged) === payer.charged))
  await until(() => is(payer, ({ charged, mirror }) => charged === mirror.totalClaimed))
  const { mirror, signed, charged } = await Effect.runPromise(read(payer))
  assert.isTrue(BigInt(signed?.maxClaimable ?? charged) >= payer.charged)
  const seen = await Effect.runPromise(contract.state(nameOf(payer).channelId))
  assert.deepStrictEqual(
    [mirror.balance, mirror.totalClaimed, mirror.refundNonce],
    [seen.balance, seen.totalClaimed, seen.refundNonce].map(String)
  )
}

describe("while the others pay on, a channel", () => {
  it.each(cases.map((each, index) => [...each, index] as const))(
    "loses nothing when the %s is killed and the channel %s",
    async (victim, state, index) => {
      const payer = payers[3 + index] ?? assert.fail("no payer")
      const answered = () => payers.slice(0, 3).reduce((sum, one) => sum + one.answered, 0)
      const underWay = await bring(payer, state)
      const before = answered()
      await dies(victim)
      await underWay()
      await pay(payer)
      await agrees(payer)
      await until(() => answered(), { is: (seen) => seen > before })
    }
  )

  it("is charged for the part of a stream that its dead gateway had sent, and its payer is told so", async () => {
    const payer = payers.at(-1) ?? assert.fail("no payer")
    await pay(payer)
    const before = payer.charged
    await streamOnce(fleet.url, offer, payer, async () => {
      await fleet.kill("model-gateway")
      await fleet.run(["model-gateway"])
    })
    assert.strictEqual(payer.charged - before, 2_000n)
    await pay(payer)
    await agrees(payer)
  })
})

describe("afterwards the books", () => {
  it("of payers, records, receipts and the chain are equal to the last unit", async () => {
    load.isOn = false
    await Promise.all(loads)
    for (const payer of payers) await agrees(payer)
    const charged = payers.reduce((sum, one) => sum + one.charged, 0n)
    const answered = payers.reduce((sum, one) => sum + one.answered, 0)
    assert.strictEqual(charged, BigInt(answered) * 2_000n)

    // Those of the last calls are written by the settlers.
    await until(() => Effect.runPromise(fleet.books.receipts), { is: ({ length }) => length >= answered })
    const receipts = await Effect.runPromise(fleet.books.receipts)
    assert.strictEqual(receipts.length, answered)
    for (const { address, charged } of payers) {
      const own = receipts.filter(({ network, payer }) => isSameAddress(network, payer, address))
      assert.strictEqual(
        own.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
        charged
      )
    }
    assert.isTrue(receipts.every(({ scheme, outcome }) => scheme === "batch-settlement" && outcome === "settled"))

    const transferred = async () =>
      (await Effect.runPromise(fleet.books.transfers)).reduce((sum, each) => sum + each, 0n)
    await until(() => transferred(), { is: charged })
  })

  it("have no channel that ever owed more than it may, nothing lost, and no finding", async () => {
    assert.isAbove(Number(owedMost), 0)
    assert.isAtMost(Number(owedMost), unclaimedMax)
    const metric = async (name: string) => {
      const text = await fleet.of("payment-settler").metrics()
      return Number(new RegExp(`^${name}[^}]*\\} (\\S+)$`, "mu").exec(text)?.[1] ?? Number.NaN)
    }
    // The sums of receipts that the settlers keep, through all their deaths.
    await until(async () => {
      const summed = await inScope(receiptSums)
      return payers.every((payer) => (summed.get(nameOf(payer).channelId.toLowerCase()) ?? 0n) === payer.charged)
    })
    await until(() => metric("payment_channel_differences\\{"), { is: 0 })
    assert.strictEqual(await metric('payment_channel_units\\{[^}]*sum="lost"'), 0)
    assert.deepStrictEqual(bookFindings(await fleet.of("payment-settler").metrics()), [])
  })
})
