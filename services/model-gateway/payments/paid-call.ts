/**
 * One paid call from its payment to its end, as a table: what may happen to it in which state, and what that asks of
 * the outside. Read it beside the table of claims (`libs/x402/claims/claim.ts`): a call is `claimed` and `beginning`
 * while its claim is CLAIMED, `serving` while it is SERVING, `forced` and `settling` once it is to be SETTLING. Whatever
 * happens, and in whichever order: a call is released or settled, once; and once it is settled nothing is given back.
 */
import { Data, Effect, type Scope } from "effect"
import { acquireLightly } from "#runtime"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { PaymentRefusal } from "./replies.ts"

export type CallState = "claimed" | "beginning" | "serving" | "forced" | "settling" | "ended"

export type CallEvent =
  /** A stream's first byte is ready to go out. */
  | "Serve"
  | "Served"
  | "NotServed"
  /** A stream's payment is about to end before the stream does. */
  | "Force"
  /** The call failed, and its caller is to pay nothing. */
  | "Release"
  /** The whole answer is made, or the last of a stream is given out. */
  | "Settle"
  | "Settled"
  /** Nobody was asked to settle the payment. */
  | "NotAsked"
  /** The caller is gone: who was given something pays for it. */
  | "Leave"

export type CallTask =
  /** Write the claim SERVING. */
  | "serve"
  /** Ask for the payment now; what is left of the stream goes out all the same. */
  | "force"
  /** Give the payment back. */
  | "release"
  /** Ask for the payment, if nobody has yet, and wait for what becomes of it. */
  | "settle"
  /** Leave the payment as it is: it was asked for before the call failed. */
  | "keep"

export interface CallMove {
  readonly to: CallState
  readonly asks?: CallTask
}

const release: CallMove = { to: "ended", asks: "release" }
const settle: CallMove = { to: "settling", asks: "settle" }

/** An event that a state does not name changes nothing and asks nothing. */
const table: Readonly<Record<CallState, Readonly<Partial<Record<CallEvent, CallMove>>>>> = {
  claimed: { Serve: { to: "beginning", asks: "serve" }, Release: release, Leave: release, Settle: settle },
  beginning: { Served: { to: "serving" }, NotServed: release, Release: release, Leave: release, Settle: settle },
  serving: { Force: { to: "forced", asks: "force" }, Release: release, Leave: settle, Settle: settle },
  forced: {
    Release: { to: "ended", asks: "keep" },
    Leave: { to: "ended", asks: "settle" },
    Settle: { to: "ended", asks: "settle" }
  },
  settling: { NotAsked: release, Settled: { to: "ended" } },
  ended: {}
}

export const callMove = (state: CallState, event: CallEvent): CallMove => table[state][event] ?? { to: state }

/** What a settled call adds to its answer. */
export interface SettledCall {
  /** The receipt, or that the chain has not spoken yet. */
  readonly headers: Readonly<Record<string, string>>
}

/** The payment was not asked for, and can be given back. */
export class NotAsked extends Data.TaggedClass("NotAsked")<{ readonly refusal: PaymentRefusal }> {}

/** How each task is done, where the claim is. */
export interface CallTasks {
  readonly serve: Effect.Effect<void, PaymentRefusal>
  readonly force: Effect.Effect<void>
  readonly release: Effect.Effect<void>
  readonly keep: Effect.Effect<void>
  readonly settle: (answer: Uint8Array | null) => Effect.Effect<SettledCall, PaymentRefusal | NotAsked>
}

export interface PaidCall {
  /** How long a whole answer may take, where the payment ends sooner than our patience. */
  readonly answerMsMax?: number
  /** Nothing was given out, or what was is not worth money: the payment can be used again. */
  readonly release: Effect.Effect<void>
  /** Before the first byte of a stream: from here on the payment is not given back when the gateway is lost. */
  readonly serve: Effect.Effect<void, PaymentRefusal>
  /** `answer`: a whole one, kept until it is paid for; null after a stream. */
  readonly settle: (answer: Uint8Array | null) => Effect.Effect<SettledCall, PaymentRefusal>
  readonly leave: Effect.Effect<void>
}

export interface OpenCall extends PaidCall {
  /** When the payment is about to end. */
  readonly force: Effect.Effect<void>
}

const nothingOwed: SettledCall = { headers: {} }

/** Has the tasks done as the table says. What has begun is not interrupted. */
export const openCall = (tasks: CallTasks, answerMsMax?: number): OpenCall => {
  let state: CallState = "claimed"
  const on = (event: CallEvent): CallTask | undefined => {
    const { to, asks } = callMove(state, event)
    state = to
    return asks
  }
  const giveBack = (event: CallEvent) =>
    Effect.suspend(() => {
      const asked = on(event)
      if (asked === "release") return tasks.release
      return asked === "keep" ? tasks.keep : Effect.void
    })
  const settled = (answer: Uint8Array | null) =>
    tasks.settle(answer).pipe(
      Effect.catchTag("NotAsked", ({ refusal }) => Effect.andThen(giveBack("NotAsked"), Effect.fail(refusal))),
      Effect.onExit(() => Effect.sync(() => on("Settled")))
    )
  const served = tasks.serve.pipe(
    Effect.tap(() => Effect.sync(() => on("Served"))),
    Effect.tapError(() => giveBack("NotServed"))
  )
  const left = Effect.suspend(() => {
    const asked = on("Leave")
    if (asked === "release") return tasks.release
    if (asked !== "settle") return Effect.void
    // Nobody is there to be told that this failed.
    return Effect.catch(settled(null), ({ code }) =>
      Effect.annotateLogs(Effect.logWarning("a stream that was left could not be settled"), { code })
    )
  })
  return {
    ...(answerMsMax === undefined ? {} : { answerMsMax }),
    release: Effect.uninterruptible(giveBack("Release")),
    serve: Effect.uninterruptible(Effect.suspend(() => (on("Serve") === "serve" ? served : Effect.void))),
    settle: (answer) =>
      Effect.uninterruptible(
        Effect.suspend(() => (on("Settle") === "settle" ? settled(answer) : Effect.succeed(nothingOwed)))
      ),
    leave: Effect.uninterruptible(left),
    force: Effect.suspend(() => (on("Force") === "force" ? tasks.force : Effect.void))
  }
}

/** Ends with its scope: nothing can come between the payment and the promise to end it. */
export const scopedCall = <E>(pay: Effect.Effect<PaidCall, E>): Effect.Effect<PaidCall, E, Scope.Scope> =>
  acquireLightly(pay, (call) => call.leave)

/** A call that costs nothing. */
export const freeCall: PaidCall = {
  release: Effect.void,
  serve: Effect.void,
  settle: () => Effect.succeed({ headers: { "x-free-model": "true" } }),
  leave: Effect.void
}

/** An answer that comes too late could not be paid for any more. */
export const withinPayment = <A, R>({ answerMsMax }: PaidCall, answer: Effect.Effect<A, GatewayFault, R>) =>
  answerMsMax === undefined
    ? answer
    : Effect.timeoutOrElse(answer, { duration: answerMsMax, orElse: () => Effect.fail(fault("TIMEOUT")) })
