/**
 * Local settlement: another role of the same process hands payments over without a job between, while there is a key to
 * sign with and room. A payment is settled even if its caller is gone, and the process ends only when its receipt is
 * written. A payment without an end yet goes on as a job.
 */
import { Clock, Effect, FiberSet, Latch, Layer } from "effect"
import { Configuration, Drain } from "#runtime"
import { LocalSettlers, type LocalSettlement, toBeSettled } from "#x402"
import { Networks } from "./networks.ts"
import { Settler } from "./settler.ts"

// A payment handed over after a drain has begun belongs to a call that is still being answered.
const patienceMs = 20_000

export const localSettlement = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* Networks
    const settler = yield* Settler
    const locals = yield* LocalSettlers
    const { PaymentSettler } = yield* Configuration
    const inWork = yield* FiberSet.make<void>()
    let present = 0
    let isLeaving = false

    // A facilitator may have sent what no claim shows: only a job looks at the chain first.
    const isFree = (network: string) => {
      const { isRemote = true, pool } = networks.get(network) ?? {}
      const hasKey = !isRemote && pool !== undefined && Latch.isOpen(pool.some)
      return hasKey && !isLeaving && present < PaymentSettler.UnackedMax
    }

    const settleOne = (settlement: LocalSettlement) =>
      Effect.ensuring(
        settleGiven(settler, settlement),
        Effect.sync(() => void (present -= 1))
      )

    // Several callers may have found the last place free.
    const settle = (settlement: LocalSettlement) =>
      Effect.suspend(() => {
        if (!isFree(settlement.claim.record.network)) return Effect.succeed(false)
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
  if (settling._tag !== "Stale") yield* onEnd(settling.outcome)
})
