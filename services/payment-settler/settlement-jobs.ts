/**
 * Settlement jobs come from SETTLEMENTS, those of each network by a consumer that all settlers share, and only while
 * there is a key to sign with. A job is acked when its payment has ended and its receipt is stored; one whose outcome
 * is unknown comes back, ever later, and a repetition is harmless. The waiting gateway hears of a transfer as soon as
 * the chain has it: until the job is acked, some settler will write the receipt.
 */
import { Clock, Effect, Layer, Ref } from "effect"
import { ack, type AckDecision, consume, type Consumption, Mailbox, nak, type Received } from "#bus"
import { type SettlementJob, type SettlementOutcome, subjects } from "#contracts"
import { Configuration, Drain, Health, supervise } from "#runtime"
import { claimOfJob, settlementJobCodec, settlementOutcomeCodec } from "#x402"
import { Networks, type SettlingNetwork } from "./networks.ts"
import { Settler } from "./settler.ts"

// A settler that dies is noticed after this; its jobs go to another. Heartbeats keep longer work alive.
const ackWaitMs = 5_000
// Jobs that one process pulls from the broker at once.
const pullMax = 64
const drainPatienceMs = 20_000

export const settlementJobs = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* Networks
    const { PaymentSettler } = yield* Configuration
    const deps: Dependencies = {
      settler: yield* Settler,
      mailbox: yield* Mailbox,
      unackedMax: PaymentSettler.UnackedMax,
      running: yield* Ref.make<ReadonlyMap<string, Consumption>>(new Map())
    }
    yield* Effect.forEach([...networks], ([name, network]) =>
      Effect.forkScoped(supervise(`settlements of ${name}`, consumeWhileKeyed(deps, name, network)))
    )
    yield* (yield* Health).readiness("payment-settler", Effect.void)
    yield* (yield* Drain).register("payment-settler", drainAll(deps.running))
  })
)

interface Dependencies {
  readonly settler: Settler["Service"]
  readonly mailbox: Mailbox["Service"]
  readonly unackedMax: number
  /** Keyed by network. */
  readonly running: Ref.Ref<ReadonlyMap<string, Consumption>>
}

const consumeWhileKeyed = (deps: Dependencies, name: string, { pool }: SettlingNetwork) =>
  Effect.forever(
    Effect.scoped(
      Effect.gen(function* () {
        yield* pool.some.await
        yield* Effect.acquireRelease(
          Effect.tap(consumeJobs(deps, name), (consumption) => setRunning(deps, name, consumption)),
          () => setRunning(deps, name, undefined)
        )
        yield* pool.none.await
      })
    )
  )

const setRunning = ({ running }: Dependencies, network: string, consumption: Consumption | undefined) =>
  Ref.update(running, (before) => {
    const after = new Map(before)
    if (consumption === undefined) after.delete(network)
    else after.set(network, consumption)
    return after
  })

const consumeJobs = (deps: Dependencies, network: string) =>
  consume({
    consumer: {
      stream: "SETTLEMENTS",
      durable: `settler-${network.replace(/[^A-Za-z0-9_-]/gu, "-")}`,
      filterSubjects: [subjects.settlements(network)],
      unackedMax: deps.unackedMax,
      ackWaitMs
    },
    pullMax,
    codec: settlementJobCodec,
    origin: "settlements",
    handler: (received) => handle(deps, received)
  })

const handle = Effect.fnUntraced(function* (
  deps: Dependencies,
  { value: job }: Received<SettlementJob>
): Effect.fn.Return<AckDecision> {
  const { claimKey, requestedAtMs } = job
  const settling = yield* deps.settler.settle({
    claimKey,
    network: job.requirements.network,
    requestedAtMs,
    assumed: claimOfJob(job),
    onSettled: (transaction) => reply(deps, job, { _tag: "Settled", transaction })
  })
  if (settling._tag === "Stale") return ack
  if (settling.outcome._tag !== "Settled") yield* reply(deps, job, settling.outcome)
  return settling._tag === "Ended" ? ack : nak(retryDelayMs(requestedAtMs, yield* Clock.currentTimeMillis))
})

const reply = ({ mailbox }: Dependencies, { replyTo }: SettlementJob, outcome: SettlementOutcome) =>
  Effect.sync(() => {
    if (replyTo === null) return
    mailbox.send(replyTo.instance, replyTo.session, settlementOutcomeCodec.encode(outcome).data)
  })

const delayMsMin = 250
const delayMsMax = 30_000

/** The older a request, the longer the delay: chains answer within seconds or are out for minutes. Pure. */
export const retryDelayMs = (requestedAtMs: number, nowMs: number): number =>
  Math.min(delayMsMax, Math.max(delayMsMin, Math.floor((nowMs - requestedAtMs) / 2)))

const drainAll = Effect.fnUntraced(function* (running: Ref.Ref<ReadonlyMap<string, Consumption>>) {
  const all = [...(yield* Ref.get(running)).values()]
  const reports = yield* Effect.forEach(all, (one) => one.drain(drainPatienceMs), { concurrency: "unbounded" })
  return {
    finished: reports.reduce((sum, { finished }) => sum + finished, 0),
    handedBack: reports.reduce((sum, { handedBack }) => sum + handedBack, 0)
  }
})
