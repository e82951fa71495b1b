/** An auditor's view of a local settler's payments: written jobs, sent transactions. */
import { Context, Effect, Fiber, Option, Result, type Scope } from "effect"
import { applyTopology, Leases, Nats, StreamReader, topology } from "#bus"
import { privateKeyToAccount } from "viem/accounts"
import { settlementJobCodec } from "#payments"
import { type Key, payWith, signFor } from "./attacker.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { chat } from "./gateway.ts"
import { busOf } from "../../dev/fixtures/payment-bus.ts"
import { type PaymentFleet, type PaymentFleetOptions, withPayments } from "./payment-fleet.ts"

export interface LocalFleet extends PaymentFleet {
  /** Jobs that were ever written. */
  readonly jobs: Effect.Effect<number>
  /** The payment of the first open job. */
  readonly jobOf: Effect.Effect<string | undefined>
  /** Transactions that settlers have sent, in a block or not. */
  readonly sent: Effect.Effect<number>
  /** Until a settler has a key. */
  readonly hasKey: Effect.Effect<void>
  /** From now on the store of answers takes none. */
  readonly refuseAnswers: Effect.Effect<void>
  /** From now on there is no store of answers. */
  readonly loseAnswers: Effect.Effect<void>
  /** Anew, as the topology has it. */
  readonly keepAnswers: Effect.Effect<void>
  /** All keys belong to other settlers until the scope ends. */
  readonly takeKeys: Effect.Effect<void, never, Scope.Scope>
}

const answers = "OBJ_paid-answers"

const keyed = /^payment_settler_keys_held\{[^}]*\} [1-9]/mu

const localFleet = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  const { server, chain } = fleet
  const bus = yield* busOf(server)
  const { manager } = Context.get(bus, Nats)
  const { bounds, next } = Context.get(bus, StreamReader)
  const { whileHeld } = Context.get(bus, Leases)
  const jobOf = Effect.map(next("SETTLEMENTS", 1), (message) => {
    const job = Option.map(message, settlementJobCodec.decode)
    return Option.isSome(job) && Result.isSuccess(job.value) ? job.value.success.payer : undefined
  })
  const countOf = (address: string) =>
    Effect.map(chain.rpc("eth_getTransactionCount", [address, "pending"]), (count) => Number(count))
  const leaseOf = (address: string) => `settler-key-${chain.network.replace(":", "-")}-${address.toLowerCase()}`
  const takeKey = Effect.fnUntraced(function* (address: string) {
    let isTaken = false
    const taken = Effect.andThen(
      Effect.sync(() => void (isTaken = true)),
      Effect.never
    )
    yield* Effect.forkScoped(whileHeld({ key: leaseOf(address), holder: "somebody-else" }, taken))
    yield* eventually(() => isTaken)
  })
  const parts: LocalFleet = {
    ...fleet,
    jobs: Effect.orDie(Effect.map(bounds("SETTLEMENTS"), ({ lastSequence }) => lastSequence)),
    jobOf: Effect.orDie(jobOf),
    sent: Effect.orDie(
      Effect.map(
        Effect.forEach(chain.settlers, ({ address }) => countOf(address)),
        (counts) => counts.reduce((sum, count) => sum + count, 0)
      )
    ),
    hasKey: eventually(fleet.metrics, { is: (text) => keyed.test(text) }),
    refuseAnswers: Effect.promise(() => manager.streams.update(answers, { max_msg_size: 16 })).pipe(Effect.asVoid),
    loseAnswers: Effect.promise(() => manager.streams.delete(answers)).pipe(Effect.asVoid),
    keepAnswers: Effect.orDie(
      Effect.provideContext(applyTopology(topology, { mode: "create", replicas: 1 }), bus)
    ).pipe(Effect.asVoid),
    takeKeys: Effect.forEach(chain.settlers, ({ address }) => takeKey(address), { discard: true })
  }
  return parts
})

/** Gateway, verifier and settler of one process, and a key to sign with. */
export const withLocalSettler = <A, E>(
  test: (fleet: LocalFleet) => Effect.Effect<A, E, Scope.Scope>,
  options: Omit<PaymentFleetOptions, "hasLocalTransport" | "roles"> = {}
) => withoutSettler((fleet) => Effect.andThen(startSettler(fleet), test(fleet)), options)

/** The same before there is a settler. */
export const withoutSettler = <A, E>(
  test: (fleet: LocalFleet) => Effect.Effect<A, E, Scope.Scope>,
  options: Omit<PaymentFleetOptions, "hasLocalTransport" | "roles"> = {}
) =>
  withPayments((fleet) => Effect.flatMap(localFleet(fleet), test), {
    ...options,
    roles: ["payment-verifier", "model-gateway"],
    hasLocalTransport: true
  })

export const startSettler = (fleet: LocalFleet) => Effect.andThen(fleet.start("payment-settler"), fleet.hasKey)

export const body = chat("hello")

/** A block comes at the test's order. */
export const slow = { chain: { onlyInterval: true, blockTimeMs: 3_600_000 } } as const

export const mine = ({ chain }: LocalFleet) => chain.rpc("evm_mine", [])

/** Blocks until so many transfers are made: a transaction may come after one. */
export const minedUntil = (fleet: LocalFleet, count: number) =>
  eventually(
    Effect.andThen(
      mine(fleet),
      Effect.map(fleet.transfers, (all) => all.length === count)
    )
  )

/** A call in work, of a funded payer: funding makes a block. */
export const paying = Effect.fnUntraced(function* (fleet: LocalFleet, key: Key) {
  const payment = yield* signFor(fleet, body, key)
  const answer = yield* Effect.forkChild(payWith(fleet, body, payment))
  return { payer: privateKeyToAccount(key).address.toLowerCase(), answer: Fiber.join(answer) }
})

export const isSent = ({ sent }: LocalFleet, count: number) => eventually(sent, { is: (now) => now === count })
