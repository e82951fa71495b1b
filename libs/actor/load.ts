/** Loads an entity: one read of its last record, from the leader. */
import { Effect, Option, Result } from "effect"
import { type BusError, BusRefused, type StreamReader } from "#bus"
import type { Held } from "./decide.ts"
import type { ActorDefinition } from "./definition.ts"
import { recordCodec } from "./record.ts"

export interface Remembered<State> extends Held<State> {
  /** Of its last record; 0 when there is none. */
  readonly sequence: number
  readonly isRetired: boolean
  /** Decisions made on it since it was read. */
  readonly unread: number
}

/** Of an entity that has no record. */
export const nothingHeld = <State, Command, Fact>({
  initial
}: ActorDefinition<State, Command, Fact>): Remembered<State> => ({
  state: initial,
  recentCommands: [],
  sequence: 0,
  isRetired: false,
  unread: 0
})

export const loadHeld = Effect.fnUntraced(function* <State, Command, Fact>(
  reader: StreamReader["Service"],
  definition: ActorDefinition<State, Command, Fact>,
  subject: string
): Effect.fn.Return<Remembered<State>, BusError> {
  const last = yield* reader.last("LOG", subject)
  if (Option.isNone(last)) return nothingHeld(definition)
  const record = recordCodec(definition).decode(last.value)
  if (Result.isSuccess(record)) return { ...record.success, sequence: last.value.sequence, unread: 0 }
  const detail = `its last record cannot be read: ${JSON.stringify(record.failure)}`
  return yield* new BusRefused({ operation: `load ${subject}`, detail, code: 0 })
})
