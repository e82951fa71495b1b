/** A payment that is held for one call, and the parts that its moves need. */
import type { Effect, Scope } from "effect"
import type { BusError } from "#bus"
import type { Claim, Claims, Quote } from "#x402"
import type { PayableCall } from "../Till.ts"
import type { PaidAnswers } from "./PaidAnswers.ts"
import type { Asked, NotCommitted, SettlementDesk } from "./SettlementDesk.ts"

export interface HeldCall {
  readonly call: PayableCall
  readonly quote: Quote
  readonly claim: Claim
  readonly identifier: string | null
}

/** A held call while it goes on. */
export interface Hold extends HeldCall {
  /** As it was moved last. */
  claim: Claim
  stage: "claimed" | "serving" | "over"
  /** Settled while it was still given out: nothing is given back any more. */
  isForced: boolean
  /** Before the payment is asked for; nothing of a stream. */
  answerKept: Effect.Effect<void, BusError>
  /** Once, whoever asks first. */
  readonly asked: Effect.Effect<Asked, NotCommitted>
  /** Ends what goes on beside the call. */
  readonly stop: Effect.Effect<void>
}

export interface HoldParts {
  readonly claims: Claims["Service"]
  readonly answers: PaidAnswers["Service"]
  readonly desk: SettlementDesk["Service"]
  readonly scope: Scope.Scope
  readonly renewEveryMs: number
  readonly waitMs: number
  readonly count: (outcome: string, code?: string) => Effect.Effect<void>
  readonly timed: <A, E>(stage: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}
