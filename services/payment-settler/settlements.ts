/** The two ways in which payments reach the settler: as jobs, and from a role of the same process. */
import { Clock, Effect, FiberSet, Latch, Layer } from "effect"
import { ack, consume, type Consumption, drainAll, Mailbox, nak, type Received } from "#bus"
import { inOneCase, type SettlementJob, type SettlementOutcome } from "#payments/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain, Health, supervise } from "#runtime"
import {
  type Claim,
  claimOfJob,
  facilitatorOf,
  type LocalSettlement,
  LocalSettlers,
  settlementJobCodec,
  settlementOutcomeCodec,
  toBeSettled
} from "#payments"
import { Networks, type SettlingNetwork } from "./networks.ts"
import { Settler } from "./settler.ts"
import type { KeyLatches } from "./signer-pool.ts"

// How soon the death of a settler is noticed; its jobs then go to another. Heartbeats extend longer work.
const ackWaitMs = 5_000
// Jobs that one process pulls from the broker at once.
const pullMax = 64
const drainPatienceMs = 20_000

/**
 * Jobs come from SETTLEMENTS: those of each network through a consumer that all settlers share, and only while there is
 * a key to sign with; those that only one account can settle through their own consumer, while its key is held here. A
 * job is acked when its payment has ended and its receipt is stored; one whose outcome is unknown comes back with
 * growing delays, and repeating it is harmless. The waiting gateway learns of a transfer as soon as the chain has it:
 * until the job is acked, some settler will write the receipt.
 */
export const settlementJobs = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* Networks
    const settler = yield* Settler
    const mailbox = yield* Mailbox
    const { PaymentSettler } = yield* Configuration
    const running = new Set<Consumption>()

    const handle = Effect.fnUntraced(function* ({ value: job }: Received<SettlementJob>) {
      const { claimKey, requestedAtMs, replyTo } = job
      const reply = (outcome: SettlementOutcome) =>
        Effect.sync(() => {
          if (replyTo === null) return
          mailbox.send(replyTo.instance, replyTo.session, settlementOutcomeCodec.encode(outcome).data)
        })
      const settling = yield* settler.settle({
        claimKey,
        network: job.requirements.network,
        requestedAtMs,
        assumed: claimOfJob(job),
        onSettled: (transaction) => reply({ _tag: "Settled", transaction })
      })
      if (settling._tag === "Superseded") return ack
      if (settling.outcome._tag !== "Settled") yield* reply(settling.outcome)
      return settling._tag === "Ended" ? ack : nak(retryDelayMs(requestedAtMs, yield* Clock.currentTimeMillis))
    })

    const consumeJobs = Effect.fnUntraced(function* ({ name, subject }: JobSource) {
      const consumption = yield* consume({
        consumer: {
          stream: "SETTLEMENTS",
          durable: `settler-${name.replace(/[^A-Za-z0-9_-]/gu, "-")}`,
          filterSubjects: [subject],
          unackedMax: PaymentSettler.UnackedMax,
          ackWaitMs
        },
        pullMax,
        codec: settlementJobCodec,
        origin: "settlements",
        handler: handle
      })
      running.add(consumption)
      yield* Effect.addFinalizer(() => Effect.sync(() => running.delete(consumption)))
    })

    const consumeWhileKeyed = (source: JobSource) =>
      source.keys.some.await.pipe(
        Effect.andThen(consumeJobs(source)),
        Effect.andThen(source.keys.none.await),
        Effect.scoped,
        Effect.forever
      )

    yield* Effect.forEach([...networks].flatMap(sourcesOf), (source) =>
      Effect.forkScoped(supervise(`settlements of ${source.name}`, consumeWhileKeyed(source)))
    )
    yield* (yield* Health).readiness("payment-settler", Effect.void)
    yield* (yield* Drain).register("payment-settler", drainAll(running, drainPatienceMs))
  })
)

/** Jobs that the holder of any of several keys, or of one key, can settle. */
interface JobSource {
  readonly name: string
  readonly subject: string
  readonly keys: KeyLatches
}

/** The jobs of a network that any key can settle, and those of each account that payers can name. */
const sourcesOf = ([name, { entry, pool }]: readonly [string, SettlingNetwork]): ReadonlyArray<JobSource> => {
  const named = [...entry.FacilitatorAddresses, ...entry.RetiringAddresses].map((address) => inOneCase(name, address))
  return [
    { name, subject: subjects.settlements(name), keys: pool },
    ...named.flatMap((address) => {
      const keys = pool.keyOf(address)
      return keys === undefined
        ? []
        : [{ name: `${name} by ${address}`, subject: subjects.settlements(name, address), keys }]
    })
  ]
}

const delayMsMin = 250
const delayMsMax = 30_000

/** The older a request, the longer the delay: chains answer within seconds or are down for minutes. Pure. */
export const retryDelayMs = (requestedAtMs: number, nowMs: number): number =>
  Math.min(delayMsMax, Math.max(delayMsMin, Math.floor((nowMs - requestedAtMs) / 2)))

// A payment handed over after a drain has begun belongs to a call that is still being answered.
const patienceMs = 20_000

/**
 * Another role of the same process hands over payments without a job while there is a key to sign with, and room. A
 * payment is settled even if its caller is gone, and the process ends only when its receipt is written. A payment
 * without an end yet continues as a job.
 */
export const localSettlement = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* Networks
    const settler = yield* Settler
    const locals = yield* LocalSettlers
    const { PaymentSettler } = yield* Configuration
    const inWork = yield* FiberSet.make<void>()
    let present = 0
    let isLeaving = false

    // A facilitator may have sent a transaction that no claim shows: only a job checks the chain first.
    const isFree = ({ record: { network, payment } }: Claim) => {
      const { isRemote = true, pool } = networks.get(network) ?? {}
      const facilitator = payment === null ? undefined : facilitatorOf(payment.requirements)
      const keys = facilitator === undefined ? pool : pool?.keyOf(facilitator)
      const hasKey = !isRemote && keys !== undefined && Latch.isOpen(keys.some)
      return hasKey && !isLeaving && present < PaymentSettler.UnackedMax
    }

    const settleOne = (settlement: LocalSettlement) =>
      Effect.ensuring(
        settleGiven(settler, settlement),
        Effect.sync(() => void (present -= 1))
      )

    // Several callers may have seen the last slot free.
    const settle = (settlement: LocalSettlement) =>
      Effect.suspend(() => {
        if (!isFree(settlement.claim)) return Effect.succeed(false)
        present += 1
        return Effect.as(FiberSet.run(inWork, settleOne(settlement)), true)
      })
    const ended = Effect.suspend(() => {
      const begun = present
      return Effect.as(Effect.timeoutOption(FiberSet.awaitEmpty(inWork), patienceMs), begun)
    })

    yield* (yield* Drain).register(
      "payment-settler local settlement",
      Effect.map(ended, (begun) => ({ finished: Math.max(0, begun - present), handedBack: Math.min(begun, present) }))
    )
    yield* Effect.acquireRelease(
      Effect.sync(() => locals.enter({ isFree, settle })),
      (leave) =>
        Effect.suspend(() => {
          isLeaving = true
          leave()
          return ended
        })
    )
  })
)

const settleGiven = Effect.fnUntraced(function* (settler: Settler["Service"], settlement: LocalSettlement) {
  const { claim, answerKept, onSettled, onEnd } = settlement
  const requestedAtMs = yield* Clock.currentTimeMillis
  const settling = yield* settler.settle({
    claimKey: claim.key,
    network: claim.record.network,
    requestedAtMs,
    assumed: toBeSettled(claim, requestedAtMs),
    onSettled: (transaction) => Effect.sync(() => onSettled(transaction)),
    answerKept
  })
  if (settling._tag !== "Superseded") yield* onEnd(settling.outcome)
})
