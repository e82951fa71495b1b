/**
 * The event types beside the fleet's own, for commands on the broker itself: those that the configuration declares, and
 * those declared at run time if the command's user may read them.
 */
import { Effect, Result } from "effect"
import { type EventType, EventTypeDeclarations, readEventType } from "#events"
import { decodeEventType } from "#events/contract"
import { busOf, eventSettings } from "./connection.ts"

/** By name. */
export const declaredTypes = Effect.fnUntraced(function* (nats: string | undefined) {
  const { Types } = yield* eventSettings
  const records = yield* Effect.flatMap(EventTypeDeclarations, ({ list }) => list).pipe(
    Effect.provide(EventTypeDeclarations.layer({ Types })),
    Effect.catchTags({ BusRefused: () => Effect.succeed([]), BusNotFound: () => Effect.succeed([]) }),
    Effect.provide(busOf(nats))
  )
  const declared = records.map(({ settings }) => Result.flatMap(decodeEventType(settings), readEventType))
  const types = [...declared, ...Types.map(readEventType)].flatMap((type) =>
    Result.match(type, {
      onFailure: (): ReadonlyArray<EventType> => [],
      onSuccess: (read) => [read]
    })
  )
  return new Map(types.map((type) => [type.name, type] as const))
})
