/**
 * A paid call from its payment to its end, whatever happens between: it is released or settled exactly once.
 * Who leaves before the first byte pays nothing; who leaves after it pays. Ends with the call's scope.
 */
import { Effect, type Scope } from "effect"
import { acquireLightly } from "#runtime"
import { fault, type GatewayFault } from "./errors/GatewayFault.ts"
import type { PaidCall, PaymentRefusal, SettledCall } from "./Till.ts"

export interface PaymentCourse {
  /** As the till says. */
  readonly answerMsMax?: number
  /** Also of a stream that broke off through no fault of the caller. */
  readonly release: Effect.Effect<void>
  readonly serve: Effect.Effect<void, PaymentRefusal>
  readonly settle: (answer: Uint8Array | null) => Effect.Effect<SettledCall, PaymentRefusal>
}

/** An answer that comes too late could not be paid for any more. */
export const withinPayment = <A, R>({ answerMsMax }: PaymentCourse, answer: Effect.Effect<A, GatewayFault, R>) =>
  answerMsMax === undefined
    ? answer
    : Effect.timeoutOrElse(answer, { duration: answerMsMax, orElse: () => Effect.fail(fault("TIMEOUT")) })

const nothingOwed: SettledCall = { headers: {} }

/** Of a call that costs nothing. */
export const freeCourse: PaymentCourse = {
  release: Effect.void,
  serve: Effect.void,
  settle: () => Effect.succeed({ headers: { "x-free-model": "true" } })
}

/** Ends with the call: nothing can come between the payment and the promise to end it. */
export const paymentCourse = <E>(pay: Effect.Effect<PaidCall, E>): Effect.Effect<PaymentCourse, E, Scope.Scope> =>
  acquireLightly(openCourse(pay), (course) => course.leave)

interface OpenCourse extends PaymentCourse {
  /** The caller is gone: who was given something pays for it. */
  readonly leave: Effect.Effect<void>
}

/** One that whoever opens it ends. */
export const openCourse = <E>(pay: Effect.Effect<PaidCall, E>): Effect.Effect<OpenCourse, E> =>
  Effect.map(pay, (paid) => {
    let stage: "claimed" | "serving" | "ended" = "claimed"
    const ending = <A, F>(effect: Effect.Effect<A, F>) => {
      stage = "ended"
      return Effect.uninterruptible(effect)
    }
    const release = Effect.suspend(() => (stage === "ended" ? Effect.void : ending(paid.release)))
    return {
      ...(paid.answerMsMax === undefined ? {} : { answerMsMax: paid.answerMsMax }),
      release,
      serve: Effect.suspend(() => {
        if (stage !== "claimed") return Effect.void
        return Effect.uninterruptible(Effect.tap(paid.serve, () => Effect.sync(() => void (stage = "serving"))))
      }),
      settle: (answer) =>
        Effect.suspend(() => (stage === "ended" ? Effect.succeed(nothingOwed) : ending(paid.settle(answer)))),
      leave: Effect.suspend(() => {
        if (stage !== "serving") return release
        // Nobody is there to be told that this failed.
        return Effect.catch(ending(paid.settle(null)), ({ code }) =>
          Effect.annotateLogs(Effect.logWarning("a stream that was left could not be settled"), { code })
        )
      })
    }
  })
