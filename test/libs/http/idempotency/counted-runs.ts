/** A handler under an idempotency key, and how often it ran. */
import { Context, Effect } from "effect"
import { type Answer, Idempotency, jsonAnswer, type WireError } from "#http"
import { type Replica, request } from "../replicas.ts"

export const run = (
  replica: Replica,
  handle: Effect.Effect<Answer, WireError>,
  more: Parameters<typeof request>[0] = {}
) => Context.get(replica, Idempotency).run(request(more), handle)

/** A handler that counts how often it ran. */
export const counting = (answer: (turn: number) => Effect.Effect<Answer, WireError>) => {
  const state = { runs: 0 }
  return { state, handle: Effect.suspend(() => answer((state.runs += 1))) }
}
export const created = (turn: number) =>
  Effect.succeed(jsonAnswer({ turn }, { status: 201, headers: { location: "/v/1" } }))
