/**
 * A payment that was used before, or is about to end: the same call gets its answer again, or learns its status. Any
 * other is refused.
 */
import { Effect, Option } from "effect"
import { settledHeaders, statedClaimKey } from "#payments"
import { keptCall, type KeptCalls } from "../replay.ts"
import { type PaymentFigures, refuse } from "../payment-figures.ts"
import type { OfferedPayment } from "../payment-method.ts"
import {
  identifierTaken,
  paidBefore,
  type PaymentRefusal,
  stillAnswering,
  stillMaking,
  stillSettling,
  unavailable
} from "../replies.ts"
import type { RefusedPayment } from "./verification.ts"

export interface UsedPayments extends KeptCalls {
  readonly figures: PaymentFigures
  /** Whether the gateway that held a payment is gone. */
  readonly isLost: (holder: string | undefined) => Effect.Effect<boolean>
}

export const answerUsed = Effect.fnUntraced(function* (
  used: UsedPayments,
  offered: OfferedPayment,
  refused: RefusedPayment
): Effect.fn.Return<never, PaymentRefusal> {
  const { figures } = used
  const { call, binding, identifier } = offered
  const { claimKey } = refused
  const isImage = call.jobId !== undefined
  const isHolderLost = identifier === null && !isImage && (yield* used.isLost(refused.holder))
  const mayReplay = identifier !== null || isImage || isHolderLost
  if (claimKey === undefined || !mayReplay) return yield* refuse(figures, offered, refused)
  const busy = () => unavailable(call.shape, "The answer cannot be looked for just now; send the same payment again", 2)
  const payment = { claimKey, isImage, isHolderLost, identifier, binding }
  const replayed = yield* Effect.mapError(keptCall(used, payment), busy)
  switch (replayed._tag) {
    case "Used":
      return yield* refuse(figures, offered, refused)
    case "Free":
      return yield* refused.code === "PAYMENT_REPLAY" ? Effect.fail(busy()) : refuse(figures, offered, refused)
    case "NameTaken":
      return yield* Effect.fail(identifierTaken(call.shape))
    case "Answering":
      return yield* Effect.fail(stillAnswering(call.shape))
    case "Settling":
      return yield* Effect.fail(stillSettling(call.shape))
    case "Making":
      return yield* Effect.fail(stillMaking(call.shape, replayed.jobId))
    case "Paid":
      yield* figures.count("given_again")
      return yield* Effect.fail(paidBefore({ answer: replayed.answer, headers: settledHeaders(replayed) }))
  }
})

/** A payment that is about to end buys no new call, but retrieves its own call's answer until long after its end. */
export const answerEnding = Effect.fnUntraced(function* (
  used: UsedPayments,
  offered: OfferedPayment,
  refusal: RefusedPayment
): Effect.fn.Return<never, PaymentRefusal> {
  const claimKey = statedClaimKey(offered.payload, offered.requirements)
  if (claimKey === undefined) return yield* refuse(used.figures, offered, refusal)
  const isNamed = offered.identifier !== null
  const found = isNamed ? Option.none() : yield* Effect.orElseSucceed(used.claims.read(claimKey), Option.none)
  const holder = Option.isSome(found) ? { holder: found.value.record.holder } : {}
  return yield* answerUsed(used, offered, { ...refusal, claimKey, ...holder })
})
