/** A record of LOG as those see it who follow or show the log: whose it is, what was decided, the state after it. Pure. */
import { Result, Schema } from "effect"
import { jsonCodec, type SourceMessage } from "#bus"
import { decodeToken, EpochMs } from "#contracts"

export interface ReadRecord {
  readonly entity: string
  readonly id: string
  readonly sequence: number
  readonly atMs: number
  readonly facts: ReadonlyArray<unknown>
  /** Names of the events that are told of it. */
  readonly events: ReadonlyArray<string>
  readonly state: unknown
}

const Stored = Schema.Struct({
  atMs: EpochMs,
  facts: Schema.Array(Schema.Unknown),
  events: Schema.Array(Schema.Struct({ event: Schema.String })),
  state: Schema.Unknown
})
const codec = jsonCodec(Stored)

/** Nothing for what cannot be read, and for notes that are no entity's record. */
export const readRecord = (message: SourceMessage): ReadRecord | undefined => {
  const read = codec.decode(message)
  if (Result.isFailure(read)) return undefined
  const [, entity = "", token = ""] = message.subject.split(".")
  const { atMs, facts, events, state } = read.success
  return {
    entity,
    id: decodeToken(token),
    sequence: message.sequence,
    atMs,
    facts,
    events: events.map(({ event }) => event),
    state
  }
}
