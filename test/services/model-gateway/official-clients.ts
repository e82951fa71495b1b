/** What both official clients ask of the gateway, and what they are refused with. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"

export const free = ["demo/free", "claude/free"] as const

/** What a promise is refused with. */
export const refusal = <E>(promise: Promise<unknown>) =>
  Effect.promise(() =>
    promise.then(
      () => assert.fail("it was answered"),
      (error: unknown) => error as E
    )
  )

export const tool = {
  name: "look_up",
  description: "Looks a word up.",
  schema: { type: "object" as const, properties: {} }
}
