import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Result } from "effect"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import type { Refund, RefundOrder } from "#payments/contract"
import {
  ChainUnavailable,
  type ChainStatus,
  type LeaseEnd,
  PaymentRefused,
  type PaymentScheme,
  SettlementPending,
  SettlementRefused
} from "#payments"
import { Ledger } from "../../../../services/payment-settler/ledger.ts"
import { Networks } from "../../../../services/payment-settler/networks.ts"
import { Refunds } from "../../../../services/payment-settler/refunds/Refunds.ts"
import { SettlerKeys } from "../../../../services/payment-settler/settler-keys.ts"
import { receiptOf } from "../../../support/money.ts"
import { checkedPayment, testNetwork } from "../../../support/payments.ts"
import { failingAtEach, isAfter, recordedKv, type Recorder, recorder, told } from "../../../support/recorder.ts"

const account = `0x${"d".repeat(40)}`
const receipt = receiptOf("one", { scheme: "exact" })
const name = { claimKey: receipt.claimKey, key: "ticket-1" }
const order: RefundOrder = { ...name, sequence: 7, amount: "300", reason: "a test", by: "token" }
const noChain = new ChainUnavailable({ operation: "ask the chain", detail: "no node answers" })
const noFunds = { code: "PAYMENT_UNFUNDED", reason: "insufficient_funds", payer: account } as const
const unfunded = new PaymentRefused(noFunds)
const refusedWith = (transaction: string | null) => new SettlementRefused({ ...noFunds, transaction })

interface Given {
  readonly scheme?: Partial<PaymentScheme>
  readonly receipt?: typeof receipt
}

/** A settler that refunds, on a chain that takes every transfer; it writes down what is asked of its surroundings. */
const world = (record: Recorder, { scheme = {}, receipt: paid = receipt }: Given = {}) => {
  const { call, note } = record
  const kv = recordedKv(record)
  const ends: Array<LeaseEnd> = []
  const chain = {
    look: () => Effect.succeed<ChainStatus>({ _tag: "Unused" }),
    recheck: () => Effect.void,
    prepare: () => Effect.succeed({ transaction: "0xsigned", raw: new Uint8Array(0) }),
    broadcast: () => Effect.succeed({ transaction: "0xsigned" }),
    checkAgain: () => Result.succeed(checkedPayment("one")),
    ...scheme
  } as PaymentScheme
  const chainCall = <A, E>(what: string, work: Effect.Effect<A, E>) =>
    Effect.catchTag(call(what, work), "BusUnavailable", () => Effect.fail(noChain)) as Effect.Effect<A, E>
  const exact = {
    ...chain,
    look: (...given: Parameters<PaymentScheme["look"]>) => chainCall("look", chain.look(...given)),
    recheck: (...given: Parameters<PaymentScheme["recheck"]>) => chainCall("recheck", chain.recheck(...given)),
    prepare: (...given: Parameters<PaymentScheme["prepare"]>) => chainCall("prepare", chain.prepare(...given)),
    broadcast: (...given: Parameters<PaymentScheme["broadcast"]>) => chainCall("broadcast", chain.broadcast(...given))
  }
  const pool = {
    take: () =>
      Effect.as(note("take a key"), {
        lease: {},
        end: (how: LeaseEnd) =>
          Effect.andThen(
            note(`end ${how}`),
            Effect.sync(() => ends.push(how))
          )
      })
  }
  const key = { network: testNetwork.Network, address: account, sign: () => Effect.succeed(new Uint8Array(65)) }
  const services = Layer.mergeAll(
    Layer.succeed(
      Networks,
      new Map([[testNetwork.Network, { entry: testNetwork, schemes: { exact }, pool }]]) as never
    ),
    Layer.succeed(SettlerKeys, { refunderOf: () => Effect.succeed(key) } as never),
    Layer.succeed(Ledger, {
      at: (sequence: number) => Effect.succeed(sequence === 7 ? Option.some(paid) : Option.none()),
      writeRefund: () => call("write the receipt", Effect.void)
    } as never),
    kv.layer,
    Configuration.layerOf({
      Payments: {
        Networks: [{ ...testNetwork, SettlerKeyEnvVars: ["KEY"] }],
        Refunds: [{ Network: testNetwork.Network, Account: account, KeyEnvVar: "REFUND_KEY" }]
      }
    })
  )
  const stored = () =>
    (kv.entries.get("payment-refunds")?.get(name.claimKey) as { readonly value: { refunds: ReadonlyArray<Refund> } })
      ?.value.refunds[0]
  return { layer: Refunds.layer.pipe(Layer.provide(services), Layer.provideMerge(Metrics.layerTest)), ends, stored }
}

/** Ordered without a fault, then carried on; what is recorded is the second part. */
const carried = (given: Given = {}, earlier: Partial<Refund> = {}) =>
  Effect.fnUntraced(function* (record: Recorder) {
    let isRecording = false
    const { layer, ends, stored } = world(
      { ...record, call: (what, work) => (isRecording ? record.call(what, work) : work) },
      given
    )
    return yield* Effect.gen(function* () {
      const { order: place, carry, bucket } = yield* Refunds
      yield* place(order)
      const entry = Option.getOrThrow(yield* bucket.get(name.claimKey))
      const refunds = entry.value.refunds.map((refund) => ({ ...refund, ...earlier }))
      yield* bucket.update(name.claimKey, { ...entry.value, refunds }, entry.revision)
      isRecording = true
      const exit = yield* Effect.exit(carry(name))
      const text = yield* (yield* Metrics).text
      const counted = /^payment_refunds_total\{.*outcome="(\w+)".*\} 1$/mu.exec(text)?.[1]
      return { exit, ends, refund: stored(), counted, text }
    }).pipe(Effect.provide(layer))
  })

describe("a refund order", () => {
  it.effect("is stored with a nonce of its own before anything is signed, once by its key", () => {
    const { layer, stored } = world(recorder())
    return Effect.gen(function* () {
      const { order: place, find } = yield* Refunds
      const first = yield* place(order)
      assert.deepStrictEqual<unknown>(first, { _tag: "Done", refund: stored() })
      assert.deepInclude(stored(), { state: "ordered", amount: "300", from: account, transaction: null })
      assert.match(stored()?.nonce ?? "", /^0x[0-9a-f]{64}$/u)
      assert.deepStrictEqual(yield* place(order), first)
      assert.deepStrictEqual(Option.getOrUndefined(yield* find(name)), stored())
    }).pipe(Effect.provide(layer))
  })

  const elsewhere = `0x${"e".repeat(40)}`
  it.effect.each([
    ["whose receipt is gone", {}, { sequence: 8 }, "the receipt no longer exists"],
    [
      "of another payment than the receipt's",
      {},
      { claimKey: receiptOf("two").claimKey },
      "the receipt no longer exists"
    ],
    ["of what was not paid", { outcome: "uncollected", transaction: null }, {}, "it is no receipt of what was paid"],
    ["on a network without such an account", { network: "eip155:1" }, {}, "no account that pays refunds"],
    ["in another token than the network's", { asset: elsewhere }, {}, "it was paid in 0xeee"],
    ["of more than was paid", {}, { amount: "1001" }, "from 1 to 1000 units"]
  ] as const)("is refused for a payment %s", ([, paid, asked, why]) => {
    const { layer, stored } = world(recorder(), { receipt: { ...receipt, ...paid } })
    return Effect.gen(function* () {
      const answer = yield* Effect.flatMap(Refunds, (refunds) => refunds.order({ ...order, ...asked }))
      assert.strictEqual(answer._tag, "Refused")
      if (answer._tag === "Refused") assert.include(answer.why, why)
      assert.isUndefined(stored())
    }).pipe(Effect.provide(layer))
  })
})

describe("a refund that is ordered", () => {
  it.effect("is looked for on the chain, written down, sent, and ended after its receipt", () =>
    Effect.gen(function* () {
      const record = recorder()
      const { refund, ends, counted, text } = yield* carried()(record)
      assert.deepInclude(refund, { state: "made", transaction: "0xsigned" })
      assert.deepStrictEqual(ends, ["used"])
      assert.strictEqual(counted, "made")
      assert.match(text, /^payment_refunded_usd_total\{.*model="demo\/echo".*\} 0\.0003$/mu)
      const wanted = ["look", "recheck", "take a key", "prepare", "broadcast", "end used", "write the receipt"]
      assert.deepStrictEqual(
        record.calls.filter((what) => wanted.includes(what)),
        wanted
      )
    })
  )

  it.effect("is sent only after its transaction is stored, and made only after its receipt, whatever fails", () =>
    Effect.gen(function* () {
      for (const run of yield* failingAtEach(carried())) {
        if (run.exit._tag === "Failure") return assert.fail(told(run))
        const { refund, ends } = run.exit.value
        assert.lengthOf(ends, run.calls.includes("take a key") ? 1 : 0, told(run))
        assert.isTrue(isAfter(run, "broadcast", `update ${name.claimKey}`), told(run))
        if (refund?.state === "made") assert.include(run.done, "write the receipt", told(run))
        assert.notStrictEqual(refund?.state, "failed", told(run))
      }
    })
  )

  const standings: ReadonlyArray<readonly [ChainStatus, Refund["state"], string | null]> = [
    [{ _tag: "Settled", transaction: "0xother" }, "made", null],
    [{ _tag: "Spent", transaction: null }, "failed", "the account that pays refunds has cancelled it"],
    [{ _tag: "Expired" }, "failed", "the chain did not make it within its time"],
    [{ _tag: "Undecided", detail: "no block yet" }, "ordered", null]
  ]
  for (const [standing, state, fault] of standings) {
    it.effect(`is ${state}, and not sent, when the chain says ${standing._tag}`, () =>
      Effect.gen(function* () {
        const record = recorder()
        const { refund, exit, counted } = yield* carried({ scheme: { look: () => Effect.succeed(standing) } })(record)
        assert.deepInclude(refund, { state, fault })
        assert.strictEqual(counted, state === "ordered" ? undefined : state)
        assert.notInclude(record.calls, "broadcast")
        assert.strictEqual(record.calls.includes("write the receipt"), state === "made")
        assert.strictEqual(exit._tag, state === "ordered" ? "Failure" : "Success")
      })
    )
  }

  it.effect("has failed when the chain would refuse it, unless it was sent before", () =>
    Effect.gen(function* () {
      const scheme = { recheck: () => Effect.fail(unfunded) }
      const fresh = yield* carried({ scheme })(recorder())
      assert.deepInclude(fresh.refund, { state: "failed", fault: "the chain would refuse it: insufficient_funds" })
      const sent = yield* carried({ scheme }, { transaction: "0xearlier" })(recorder())
      assert.deepInclude(sent.refund, { state: "ordered", transaction: "0xearlier" })
      assert.strictEqual(sent.exit._tag, "Failure")
    })
  )

  it.effect("waits while the chain is away, and while the key of its account is not the one that is configured", () =>
    Effect.gen(function* () {
      for (const run of [
        yield* carried({ scheme: { recheck: () => Effect.fail(noChain) } })(recorder()),
        yield* carried({}, { from: `0x${"f".repeat(40)}` })(recorder())
      ]) {
        assert.deepInclude(run.refund, { state: "ordered", transaction: null })
        assert.deepStrictEqual(run.ends, [])
        assert.strictEqual(run.exit._tag, "Failure")
      }
    })
  )

  const pending = new SettlementPending({ transaction: "0xsigned", detail: "no block yet" })
  const leases: ReadonlyArray<readonly [how: LeaseEnd, when: string, scheme: Partial<PaymentScheme>]> = [
    ["unsent", "when it cannot be signed", { prepare: () => Effect.fail(noChain) }],
    ["unsent", "when nothing could be sent", { broadcast: () => Effect.fail(noChain) }],
    ["used", "when a block holds its refusal", { broadcast: () => Effect.fail(refusedWith("0xsigned")) }],
    ["unknown", "when it is refused before it is sent", { broadcast: () => Effect.fail(refusedWith(null)) }],
    ["unknown", "while it waits for a block", { broadcast: () => Effect.fail(pending) }]
  ]
  for (const [how, when, scheme] of leases) {
    it.effect(`stays ordered, with the lease of its key ended as ${how}, ${when}`, () =>
      Effect.gen(function* () {
        const { refund, ends, exit } = yield* carried({ scheme })(recorder())
        assert.deepStrictEqual(ends, [how])
        assert.strictEqual(refund?.state, "ordered")
        assert.strictEqual(exit._tag, "Failure")
      })
    )
  }

  it.effect("that another settler signs meanwhile is neither sent nor given up by this one", () =>
    Effect.gen(function* () {
      const raw = new Uint8Array(0)
      for (const step of ["prepare", "recheck"] as const) {
        let theirs: Effect.Effect<void> = Effect.void
        const record = recorder()
        const scheme: Partial<PaymentScheme> =
          step === "prepare"
            ? { prepare: () => Effect.as(theirs, { transaction: "0xours", raw }) }
            : { recheck: () => Effect.andThen(theirs, Effect.fail(unfunded)) }
        const { layer, ends, stored } = world(record, { scheme })
        const exit = yield* Effect.gen(function* () {
          const { order: place, carry, bucket } = yield* Refunds
          yield* place(order)
          theirs = Effect.gen(function* () {
            const { value, revision } = Option.getOrThrow(yield* bucket.get(name.claimKey))
            const refunds = value.refunds.map((refund) => ({ ...refund, transaction: "0xtheirs" }))
            yield* bucket.update(name.claimKey, { ...value, refunds }, revision)
          }).pipe(Effect.orDie)
          return yield* Effect.exit(carry(name))
        }).pipe(Effect.provide(layer))
        assert.strictEqual(exit._tag, "Failure", step)
        assert.deepInclude(stored(), { state: "ordered", transaction: "0xtheirs" }, step)
        assert.notInclude(record.calls, "broadcast", step)
        assert.deepStrictEqual(ends, step === "prepare" ? ["unsent"] : [], step)
      }
    })
  )

  it.effect("that has ended is left as it is", () =>
    Effect.gen(function* () {
      const record = recorder()
      const { exit } = yield* carried({}, { state: "failed" })(record)
      assert.strictEqual(exit._tag, "Success")
      assert.deepStrictEqual(record.calls, [`get ${name.claimKey}`])
    })
  )
})
