/** Work in steps, between which an event loop can do other work. */
import { Effect } from "effect"

export type Steps<A> = Generator<undefined, A>

/** A step reads or writes some so many characters. */
export const stepLength = 65_536

/** Whether a step is over, given what more is done in it. */
export type IsOver = (characters: number) => boolean

export const stepCounter = (): IsOver => {
  let done = 0
  return (characters) => {
    done += characters
    if (done < stepLength) return false
    done = 0
    return true
  }
}

/** Other work is done between the steps. */
export const spread = Effect.fnUntraced(function* <A>(steps: Steps<A>) {
  let step = steps.next()
  while (step.done !== true) {
    yield* Effect.yieldNow
    step = steps.next()
  }
  return step.value
})

export const finished = <A>(steps: Steps<A>): A => {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}
