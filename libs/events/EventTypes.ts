/** The event types that hold now: those of the configuration, which win by name, and those declared at run time. */
import { Context, Effect, Layer, Result } from "effect"
import type { BusError } from "#bus"
import type { Events } from "#events/contract"
import { InvalidConfiguration } from "#runtime"
import { type EventType, readEventType } from "./event-types.ts"
import type { DeclaredTypes } from "./judgement.ts"

export class EventTypes extends Context.Service<
  EventTypes,
  DeclaredTypes & {
    /** The types in force, by name. */
    readonly all: () => ReadonlyArray<EventType>
    /** Completes when every declaration stored by now is in force here. */
    readonly catchUp: Effect.Effect<void, BusError>
  }
>()("starling/events/EventTypes") {
  /** Fails with every fault of the configured types. */
  static readonly layer = (settings: Events) =>
    Layer.effect(
      EventTypes,
      Effect.gen(function* () {
        const configured = yield* configuredTypes(settings)
        return EventTypes.of({
          all: () => [...configured.values()],
          catchUp: Effect.void,
          at: (name) => configured.get(name),
          takesUndeclared: settings.Undeclared === "deliver"
        })
      })
    )
}

/** The types of the configuration, by name. */
export const configuredTypes = Effect.fnUntraced(function* ({ Types }: Events) {
  const read = Types.map(readEventType)
  const faults = read.flatMap((type, index) =>
    Result.isSuccess(type)
      ? []
      : type.failure.map(({ path, message }) => ({ path: `Events.Types[${index}]${path}`, message }))
  )
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
  return new Map(read.flatMap((type) => (Result.isSuccess(type) ? [[type.success.name, type.success] as const] : [])))
})
