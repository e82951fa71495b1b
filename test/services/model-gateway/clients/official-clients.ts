/** The requests of both official clients to the gateway, and their refusals. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"

export const free = ["demo/free", "claude/free"] as const

/** The rejection of a promise. */
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
