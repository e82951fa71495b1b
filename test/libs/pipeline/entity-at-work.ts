/**
 * An entity under test: commands are decoded as they come from outside, and go through its actor's own decision. Of
 * every record that comes of it the events are decoded as receivers do, facts and state are read back as they are
 * stored, and the facts are replayed.
 */
import { assert } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type ActorDefinition, type ActorRecord, decideRecord, type ActorState, replay } from "#actors"
import { decodeEnvelope, type Envelope } from "#base"

export const startMs = 1_700_000_000_000

interface Tagged {
  readonly _tag: string
}

export interface Step<State, Command, Fact> {
  readonly command: Command
  readonly before: State
  readonly record: ActorRecord<State, Fact>
}

export const entityAtWork = <State, Command extends Tagged, Fact extends Tagged>(
  definition: ActorDefinition<State, Command, Fact>,
  commandSchema: Schema.Codec<Command, Command>,
  id: string
) => {
  const decodeCommand = commandDecoder(commandSchema)
  let held: ActorState<State> = { state: definition.initial, recentCommands: [] }
  let nowMs = startMs
  let commands = 0
  const steps: Array<Step<State, Command, Fact>> = []
  const events: Array<Envelope> = []

  /** The refusal, the record, or nothing when the command changes nothing. */
  const tries = (command: Command) => {
    commands += 1
    nowMs += 1
    const known = decodeCommand(JSON.parse(JSON.stringify(command)))
    const before = held.state
    const decided = decideRecord(definition, held, known, { id, commandId: `c${commands}`, atMs: nowMs })
    if (Result.isSuccess(decided) && decided.success !== undefined) {
      const record = decided.success
      check(definition, record, before, id)
      held = record
      steps.push({ command: known, before, record })
      events.push(...record.events)
    }
    return decided
  }
  /** The names of the events that the command led to. */
  const does = (command: Command): ReadonlyArray<string> => {
    const decided = tries(command)
    if (Result.isFailure(decided)) return assert.fail(`${command._tag} was refused: ${decided.failure.message}`)
    return decided.success?.events.map(({ event }) => event) ?? []
  }
  return {
    id,
    tries,
    does,
    /** The tags of the facts that the command led to. */
    facts: (command: Command): ReadonlyArray<string> => {
      const before = steps.length
      does(command)
      return steps.slice(before).flatMap(({ record }) => record.facts.map(({ _tag }) => _tag))
    },
    /** Why the command is refused. */
    refuses: (command: Command): string => {
      const decided = tries(command)
      if (Result.isSuccess(decided)) return assert.fail(`${command._tag} was not refused`)
      return decided.failure.message
    },
    passes: (ms: number) => void (nowMs += ms),
    nowMs: () => nowMs,
    state: () => held.state as NonNullable<State>,
    steps,
    events,
    last: (name: string) => {
      const event = events.findLast(({ event }) => event === name)
      return event ?? assert.fail(`no ${name} was told`)
    },
    replayed: () =>
      replay(
        definition,
        steps.map(({ record: { facts, commandId, atMs } }) => ({ facts, context: { id, commandId, atMs } }))
      )
  }
}

const commandDecoders = new Map<unknown, unknown>()
const commandDecoder = <Command>(schema: Schema.Codec<Command, Command>) => {
  const made = commandDecoders.get(schema) ?? Schema.decodeUnknownSync(schema, { errors: "all" })
  commandDecoders.set(schema, made)
  return made as (input: unknown) => Command
}

// Made once for each actor: making a decoder costs more than a life does.
const decoders = new Map<string, (stored: unknown) => unknown>()
const decodeRecord = <State, Command, Fact>(definition: ActorDefinition<State, Command, Fact>) => {
  const Stored = Schema.Struct({ facts: Schema.Array(definition.fact), state: definition.state })
  const decode = decoders.get(definition.entity) ?? Schema.decodeUnknownSync(Stored, { errors: "all" })
  decoders.set(definition.entity, decode)
  return decode
}

const check = <State, Command, Fact>(
  definition: ActorDefinition<State, Command, Fact>,
  record: ActorRecord<State, Fact>,
  before: State,
  id: string
) => {
  for (const event of record.events) {
    const decoded = decodeEnvelope(JSON.parse(JSON.stringify(event)))
    if (Result.isFailure(decoded)) assert.fail(`${event.event}: ${JSON.stringify(decoded.failure)}`)
    else assert.deepStrictEqual([decoded.success.known, decoded.success.unknownFields], [true, []], event.event)
  }
  const { facts, state } = record
  assert.deepStrictEqual(decodeRecord(definition)(JSON.parse(JSON.stringify({ facts, state }))), { facts, state })
  const context = { id, commandId: record.commandId, atMs: record.atMs }
  assert.deepStrictEqual(
    record.facts.reduce((inner, fact) => definition.evolve(inner, fact, context), before),
    record.state
  )
}

/** A UUID by its number. */
export const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`
