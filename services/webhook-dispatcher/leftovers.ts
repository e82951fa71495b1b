/**
 * Deliveries that were made and acked but are still stored in their lane: a killed broker can forget that it removed
 * them. They are at or below the ack floor of their consumer, so no consumer would take them, they would count as
 * backlog forever, and an endpoint moving to another lane would wait for them. They are searched for only where the
 * backlog does not shrink, and removed when found there twice.
 */
import { Effect, Option } from "effect"
import { type BusError, Consumers, StreamReader } from "#bus"
import { deliveryStream } from "#base"
import { Backlogs, type DueInLane } from "./backlogs.ts"
import { Endpoints } from "./endpoints/Endpoints.ts"

// Each costs two requests, so only a few are checked at a time, in rotation.
const looksAtOnce = 64

export interface LeftoverOptions {
  /** The name of the consumer that takes what is due. */
  readonly durableOf: (due: DueInLane) => string
  /** Handles deliveries whose consumer does not exist. */
  readonly uncovered: (due: DueInLane) => Effect.Effect<void>
}

/** Checks once; call it repeatedly. */
export const removeLeftovers = Effect.fnUntraced(function* ({ durableOf, uncovered }: LeftoverOptions) {
  const backlogs = yield* Backlogs
  const endpoints = yield* Endpoints
  const consumers = yield* Consumers
  const reader = yield* StreamReader
  /** By subject, the oldest delivery, if it was a leftover at the last check. */
  const suspects = new Map<string, number>()
  let turn = 0

  const lookAt = Effect.fnUntraced(function* (due: DueInLane): Effect.fn.Return<void, BusError> {
    const { lane, endpointId, subject } = due
    const endpoint = endpoints.byId(endpointId)
    if (endpoint === undefined) return
    const stream = deliveryStream(lane)
    const oldest = Option.getOrUndefined(yield* reader.next(stream, 1, subject))?.sequence
    const floor = yield* consumers.backlog(stream, durableOf(due)).pipe(
      Effect.map(({ ackFloor }) => ackFloor),
      Effect.catchTag("BusNotFound", () => Effect.undefined)
    )
    const suspect = suspects.get(subject)
    suspects.delete(subject)
    if (oldest === undefined) return
    if (floor === undefined) return yield* uncovered(due)
    if (oldest > floor) return
    if (suspect !== oldest) return void suspects.set(subject, oldest)
    const removed = yield* reader.purge(stream, subject, floor + 1)
    if (removed === 0) return
    yield* Effect.logWarning("deliveries that were acked still lay in their lane and were removed").pipe(
      Effect.annotateLogs({ endpoint: endpoint.name, stream, removed })
    )
  })

  return Effect.suspend(() => {
    const stagnant = backlogs.stagnant()
    const subjects = new Set(stagnant.map(({ subject }) => subject))
    for (const subject of suspects.keys()) if (!subjects.has(subject)) suspects.delete(subject)
    const start = stagnant.length === 0 ? 0 : turn % stagnant.length
    turn = start + looksAtOnce
    const chosen = [...stagnant.slice(start), ...stagnant.slice(0, start)].slice(0, looksAtOnce)
    return Effect.forEach(chosen, lookAt, { concurrency: 4, discard: true })
  })
})
