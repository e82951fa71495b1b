/**
 * Takes settlements from SETTLEMENTS, those of each network by a consumer that all settlers share, and only while
 * there is a key to sign with. A job is acked when its payment has ended and its receipt is stored; one whose end is
 * not known comes back, ever later, and twice is harmless. The gateway that waits is told what is known, and of a transfer as
 * soon as the chain has it: until the job is acked the books will be written by somebody.
 */
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { consume, type Consumption, ack, nak, Mailbox, type Received, type AckDecision } from "#bus"
import { type SettlementJob, type SettlementOutcome, subjects } from "#contracts"
import { Configuration, Drain, Health, supervise } from "#runtime"
import { claimOfJob, settlementJobCodec, settlementOutcomeCodec } from "#x402"
import { settlingCounter } from "./count-settling.ts"
import { Networks, type SettlingNetwork } from "./Networks.ts"
import { retryDelayMs } from "./retry-delay.ts"
import { Settler } from "./Settler.ts"
import type { Settling } from "./settling.ts"

// A settler that dies is missed after this; its jobs go to another. Longer waits are kept alive by heartbeats.
const ackWaitMs = 5_000
// Jobs asked of the broker in one go by one process.
const pullMax = 64
const drainPatienceMs = 20_000

export class Jobs extends Context.Service<Jobs, { readonly inWork: () => number }>()("starling/payment-settler/Jobs") {
  static readonly layer = Layer.effect(
    Jobs,
    Effect.gen(function* () {
      const networks = yield* Networks
      const settler = yield* Settler
      const mailbox = yield* Mailbox
      const { PaymentSettler } = yield* Configuration
      const count = yield* settlingCounter
      const running = yield* Ref.make<ReadonlyMap<string, Consumption>>(new Map())

      const tell = ({ replyTo }: SettlementJob, outcome: SettlementOutcome) =>
        Effect.sync(() => {
          if (replyTo === null) return
          mailbox.send(replyTo.instance, replyTo.session, settlementOutcomeCodec.encode(outcome).data)
        })

      const concluded = Effect.fnUntraced(function* (job: SettlementJob, settling: Settling) {
        if (settling._tag === "Stale") return ack
        if (settling.outcome._tag !== "Settled") yield* tell(job, settling.outcome)
        yield* count(job.requirements.network, job.requestedAtMs, settling)
        if (settling._tag === "Ended") return ack
        const delayMs = retryDelayMs(job.requestedAtMs, yield* Clock.currentTimeMillis)
        yield* Effect.logWarning("a payment's end is not known yet").pipe(
          Effect.annotateLogs({ claim: job.claimKey, detail: settling.detail, delayMs })
        )
        return nak(delayMs)
      })

      const handle = ({ value: job }: Received<SettlementJob>): Effect.Effect<AckDecision> =>
        settler
          .settle(job.claimKey, (transaction) => tell(job, { _tag: "Settled", transaction }), claimOfJob(job))
          .pipe(Effect.flatMap((settling) => concluded(job, settling)))

      const take = (network: string) =>
        consume({
          consumer: {
            stream: "SETTLEMENTS",
            durable: `settler-${network.replace(/[^A-Za-z0-9_-]/gu, "-")}`,
            filterSubjects: [subjects.settlements(network)],
            unackedMax: PaymentSettler.UnackedMax,
            ackWaitMs
          },
          pullMax,
          codec: settlementJobCodec,
          origin: "settlements",
          handler: handle
        })

      const change = (network: string, consumption: Consumption | undefined) =>
        Ref.update(running, (before) => {
          const after = new Map(before)
          if (consumption === undefined) after.delete(network)
          else after.set(network, consumption)
          return after
        })

      const whileKeyed = (name: string, { ring }: SettlingNetwork) =>
        Effect.forever(
          Effect.scoped(
            Effect.gen(function* () {
              yield* ring.some.await
              yield* Effect.acquireRelease(
                Effect.tap(take(name), (consumption) => change(name, consumption)),
                () => change(name, undefined)
              )
              yield* ring.none.await
            })
          )
        )

      yield* Effect.forEach([...networks], ([name, network]) =>
        Effect.forkScoped(supervise(`settlements of ${name}`, whileKeyed(name, network)))
      )
      yield* (yield* Health).readiness("payment-settler", Effect.void)
      yield* (yield* Drain).register("payment-settler", drainAll(running))
      return Jobs.of({
        inWork: () => [...Ref.getUnsafe(running).values()].reduce((sum, one) => sum + one.inFlight(), 0)
      })
    })
  )
}

const drainAll = Effect.fnUntraced(function* (running: Ref.Ref<ReadonlyMap<string, Consumption>>) {
  const all = [...(yield* Ref.get(running)).values()]
  const reports = yield* Effect.forEach(all, (one) => one.drain(drainPatienceMs), { concurrency: "unbounded" })
  return {
    finished: reports.reduce((sum, { finished }) => sum + finished, 0),
    handedBack: reports.reduce((sum, { handedBack }) => sum + handedBack, 0)
  }
})
