/**
 * One paid call from its payment to its end, as a table: which event can happen in which state, and which task it
 * starts. Read it alongside the table of claims (`libs/payments/claims/claim.ts`): a call is `claimed` and `beginning`
 * while its claim is CLAIMED, `serving` while it is SERVING, `forced` and `settling` once it is to be SETTLING.
 * Whatever happens, in any order, a call is released or settled, once; once it is settled, nothing is released.
 */
import { Data, Effect, Fiber, type Scope } from "effect"
import { acquireLightly } from "#runtime"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { Used } from "./charge.ts"
import type { PaymentRefusal } from "./replies.ts"

export type CallState = "claimed" | "beginning" | "serving" | "forced" | "settling" | "ended"

export type CallEvent =
  /** A stream's first byte is ready to be sent. */
  | "Serve"
  | "Served"
  | "NotServed"
  /** A stream's payment ends before the stream does. */
  | "Force"
  /** The call failed, and its caller must pay nothing. */
  | "Release"
  /** The complete answer is made, or a stream's last event has been sent. */
  | "Settle"
  | "Settled"
  /** The settlement was not requested. */
  | "NotAsked"
  /** The caller is gone: a caller that received something pays for it. */
  | "Leave"

export type CallTask =
  /** Write the claim SERVING. */
  | "serve"
  /** Request the settlement now; the rest of the stream is sent all the same. */
  | "force"
  /** Release the claim, so that the payment can be used again. */
  | "release"
  /** The same, but the caller left while a provider was working: that counts against its payer. */
  | "abandon"
  /** Request the settlement, unless already requested, and wait for its result. */
  | "settle"
  /** Leave the payment as it is: its settlement was requested before the call failed. */
  | "keep"

export interface CallMove {
  readonly to: CallState
  readonly asks?: CallTask
}

const release: CallMove = { to: "ended", asks: "release" }
const abandon: CallMove = { to: "ended", asks: "abandon" }
const settle: CallMove = { to: "settling", asks: "settle" }

/** An event that a state does not name changes nothing and starts no task. */
const table: Readonly<Record<CallState, Readonly<Partial<Record<CallEvent, CallMove>>>>> = {
  claimed: { Serve: { to: "beginning", asks: "serve" }, Release: release, Leave: abandon, Settle: settle },
  beginning: { Served: { to: "serving" }, NotServed: release, Release: release, Leave: abandon, Settle: settle },
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

/** What settling adds to the answer. */
export interface SettledCall {
  /** The receipt, or a note that the chain has not confirmed it yet. */
  readonly headers: Readonly<Record<string, string>>
}

/** The settlement was not requested, so the payment can be released. */
export class NotAsked extends Data.TaggedClass("NotAsked")<{ readonly refusal: PaymentRefusal }> {}

/** An answer as its call ends. */
export interface EndedAnswer {
  /** The usage, for a payment whose charge follows it; null keeps the last measurement. */
  readonly used: Used | null
  /** A complete answer, stored until it is paid for; null after a stream. */
  readonly body: Uint8Array | null
  /** Its provider's cost; null if unknown. */
  readonly costMicroUsd: bigint | null
}

/** The tasks of the table, as effects on the claim. */
export interface CallTasks {
  readonly serve: Effect.Effect<void, PaymentRefusal>
  readonly force: Effect.Effect<void>
  readonly release: Effect.Effect<void>
  readonly abandon: Effect.Effect<void>
  readonly keep: Effect.Effect<void>
  readonly settle: (answer: EndedAnswer) => Effect.Effect<SettledCall, PaymentRefusal | NotAsked>
  readonly measure: (used: Used) => boolean
}

/** Calls back at most once, with the refusal of a lost payment; at once if it is already lost. */
export type LossWatch = (onLost: (refusal: PaymentRefusal) => void) => void

export interface PaidCall {
  /** How long a complete answer can take, if the payment ends sooner than the gateway would wait. */
  readonly answerMsMax?: number
  /** For a payment stored with its answer: reports when it turns out, before that, that it can no longer be stored. */
  readonly lost?: LossWatch
  /** For a call that sent nothing, or nothing worth money: the payment can be used again. */
  readonly release: Effect.Effect<void>
  /** Called before the first byte of a stream: from here on the loss of the gateway does not release the payment. */
  readonly serve: Effect.Effect<void, PaymentRefusal>
  /**
   * Called for a stream before more of it is sent, with the usage including it. False if the payer has not signed for
   * that much, or the payment is about to end: then nothing more may be sent.
   */
  readonly measure: (used: Used) => boolean
  readonly settle: (answer: EndedAnswer) => Effect.Effect<SettledCall, PaymentRefusal>
  readonly leave: Effect.Effect<void>
}

export interface OpenCall extends PaidCall {
  /** Called when the payment is about to end. */
  readonly force: Effect.Effect<void>
}

const nothingOwed: SettledCall = { headers: {} }
/** For a stream whose caller has left: how far its provider got is unknown. */
const unknownEnd: EndedAnswer = { body: null, costMicroUsd: null, used: null }

/** Runs the tasks according to the table. A task that has begun is not interrupted. */
export const openCall = (tasks: CallTasks, answerMsMax?: number): OpenCall => {
  let state: CallState = "claimed"
  const on = (event: CallEvent): CallTask | undefined => {
    const { to, asks } = callMove(state, event)
    state = to
    return asks
  }
  const release = (event: CallEvent) =>
    Effect.suspend(() => {
      const task = on(event)
      if (task === "release") return tasks.release
      return task === "keep" ? tasks.keep : Effect.void
    })
  const settled = (answer: EndedAnswer) =>
    tasks.settle(answer).pipe(
      Effect.catchTag("NotAsked", ({ refusal }) => Effect.andThen(release("NotAsked"), Effect.fail(refusal))),
      Effect.onExit(() => Effect.sync(() => on("Settled")))
    )
  const served = tasks.serve.pipe(
    Effect.tap(() => Effect.sync(() => on("Served"))),
    Effect.tapError(() => release("NotServed"))
  )
  const left = Effect.suspend(() => {
    const task = on("Leave")
    if (task === "abandon") return tasks.abandon
    if (task !== "settle") return Effect.void
    // The caller has left, so a failure here cannot be reported to it.
    return Effect.catch(settled(unknownEnd), ({ code }) =>
      Effect.annotateLogs(Effect.logWarning("a stream that was left could not be settled"), { code })
    )
  })
  return {
    ...(answerMsMax === undefined ? {} : { answerMsMax }),
    release: Effect.uninterruptible(release("Release")),
    serve: Effect.uninterruptible(Effect.suspend(() => (on("Serve") === "serve" ? served : Effect.void))),
    measure: tasks.measure,
    settle: (answer) =>
      Effect.uninterruptible(
        Effect.suspend(() => (on("Settle") === "settle" ? settled(answer) : Effect.succeed(nothingOwed)))
      ),
    leave: Effect.uninterruptible(left),
    force: Effect.suspend(() => (on("Force") === "force" ? tasks.force : Effect.void))
  }
}

/** Closes with its scope, so nothing can interrupt between the payment and the guarantee to end it. */
export const scopedCall = <E>(pay: Effect.Effect<PaidCall, E>): Effect.Effect<PaidCall, E, Scope.Scope> =>
  acquireLightly(pay, (call) => call.leave)

/** A call that costs nothing. */
export const freeCall: PaidCall = {
  release: Effect.void,
  serve: Effect.void,
  measure: () => true,
  settle: () => Effect.succeed({ headers: { "x-free-model": "true" } }),
  leave: Effect.void
}

/**
 * A provider's answer to a paid call. An answer that comes too late could no longer be paid for, and a payment that
 * cannot be stored aborts its call.
 */
export const withinPayment = <A, E, R>({ answerMsMax, lost }: PaidCall, answer: Effect.Effect<A, E, R>) => {
  const inTime: Effect.Effect<A, E | GatewayFault, R> =
    answerMsMax === undefined
      ? answer
      : Effect.timeoutOrElse(answer, { duration: answerMsMax, orElse: () => Effect.fail(fault("TIMEOUT")) })
  return lost === undefined ? inTime : unlessLost(lost, inTime)
}

/** Aborts the work for a payment that turns out to be lost. A race would take a second fiber per call. */
const unlessLost = <A, E, R>(lost: LossWatch, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | PaymentRefusal, R> =>
  Effect.flatMap(Effect.forkChild(work, { startImmediately: true }), (fiber) => {
    let refusal: PaymentRefusal | undefined
    lost((found) => {
      refusal = found
      fiber.interruptUnsafe()
    })
    const joined = Effect.onInterrupt(Fiber.join(fiber), () => Fiber.interrupt(fiber))
    return Effect.catchCause(joined, (cause): Effect.Effect<never, E | PaymentRefusal> =>
      refusal === undefined ? Effect.failCause(cause) : Effect.fail(refusal)
    )
  })
