/**
 * Settles for the gateway of the same process what is handed to it, beside the jobs, while there is a key to sign with
 * and room. Who handed it over may be gone: it is settled all the same, and the process ends only when its books are
 * written. What has no end yet goes on as a job.
 */
import { Clock, Effect, FiberSet, Latch, Layer } from "effect"
import { Configuration, Drain } from "#runtime"
import { type Handed, SettlerNextDoor, toBeSettled } from "#x402"
import { settlingCounter } from "./count-settling.ts"
import { Networks } from "./Networks.ts"
import { Settler } from "./Settler.ts"

// What is handed over after a drain has begun belongs to calls that are still answered.
const patienceMs = 20_000

export const neighbour = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* Networks
    const settler = yield* Settler
    const door = yield* SettlerNextDoor
    const { PaymentSettler } = yield* Configuration
    const count = yield* settlingCounter
    const inWork = yield* FiberSet.make<void>()
    let present = 0
    let isLeaving = false

    // A facilitator may have sent what no claim tells: only a job is looked up first.
    const isFree = (network: string) => {
      const { isRemote = true, ring } = networks.get(network) ?? {}
      const hasKey = !isRemote && ring !== undefined && Latch.isOpen(ring.some)
      return hasKey && !isLeaving && present < PaymentSettler.UnackedMax
    }

    const settleOne = Effect.fnUntraced(
      function* ({ claim, answerKept, onSettled, onEnd }: Handed) {
        const requestedAtMs = yield* Clock.currentTimeMillis
        const told = toBeSettled(claim, requestedAtMs)
        const tell = (transaction: string) => Effect.sync(() => onSettled(transaction))
        const settling = yield* settler.settle(claim.key, tell, told, answerKept)
        if (settling._tag === "Stale") return
        yield* count(claim.record.network, requestedAtMs, settling)
        if (settling._tag === "Later") {
          yield* Effect.logWarning("a payment's end is not known yet").pipe(
            Effect.annotateLogs({ claim: claim.key, detail: settling.detail })
          )
        }
        yield* onEnd(settling.outcome)
      },
      Effect.catchCause((cause) => Effect.logError("a settlement for a neighbour died", cause)),
      Effect.ensuring(Effect.sync(() => void (present -= 1)))
    )

    // Several may have found the last place free.
    const settle = (handed: Handed) =>
      Effect.suspend(() => {
        if (!isFree(handed.claim.record.network)) return Effect.succeed(false)
        present += 1
        return Effect.as(FiberSet.run(inWork, settleOne(handed)), true)
      })
    const ended = Effect.suspend(() => {
      const met = present
      return Effect.as(Effect.timeoutOption(FiberSet.awaitEmpty(inWork), patienceMs), met)
    })

    yield* (yield* Drain).register(
      "payment-settler neighbour",
      Effect.map(ended, (met) => ({ finished: Math.max(0, met - present), handedBack: Math.min(met, present) }))
    )
    yield* Effect.acquireRelease(
      Effect.sync(() => door.enter({ isFree, settle })),
      (leave) =>
        Effect.suspend(() => {
          isLeaving = true
          leave()
          return ended
        })
    )
  })
)
