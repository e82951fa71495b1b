/**
 * Carries out commands. An entity's last record is its state: read from the leader, decided on, and the decision
 * appended on the condition that the record is still the last. Who loses the race reads on and decides again; who
 * finds its own command id has been carried out before. In one process commands of one entity take turns, and what
 * was appended last is remembered, so that a hot entity is not read again for every command; one that nothing is
 * remembered of is taken for a new one first. What was not read never refuses, for it may be behind.
 */
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { type BusError, Publisher, StreamReader } from "#bus"
import { subjects } from "#contracts"
import { Metrics } from "#runtime"
import { appendRecord, type Grounds } from "./append.ts"
import { decideRecord } from "./decide.ts"
import type { ActorDefinition } from "./definition.ts"
import { EntityBusy, EntityNotFound, GroundsChanged, type Refusal } from "./errors.ts"
import { loadHeld, nothingHeld, type Remembered } from "./load.ts"
import { type FoundMark, type Mark, readMark } from "./marks.ts"
import { commandSeconds, commandsTotal, conflictsTotal } from "./metrics.ts"
import { makeNewest } from "./newest.ts"
import { makeTurns } from "./turns.ts"

export interface CommandAddress {
  readonly id: string
  /** Chosen by whoever sends the command, once: a second one of the same id is not carried out again. */
  readonly commandId: string
  /** Other entities that must stand as they did when the command was given, else `GroundsChanged`. */
  readonly grounds?: ReadonlyArray<Grounds>
  /** Left with the decision, if they stand as named, else `GroundsChanged`. */
  readonly marks?: ReadonlyArray<Mark>
}

export interface Outcome<State> {
  readonly state: State
  /** Of the entity's last record in LOG; 0 for an entity that has none. */
  readonly sequence: number
  /** `repeated`: this very command was carried out before. */
  readonly was: "decided" | "unchanged" | "repeated"
}

export type CommandError = Refusal | EntityNotFound | EntityBusy | GroundsChanged | BusError

// Lost to other replicas that often, the entity is too hot to be served from here just now.
const triesMax = 50
// Who remembers always wins against who must read first; after so many the rememberer reads too, and the other
// has its turn.
const unreadMax = 8
// A thousand commands a second for one entity empty this line well within a caller's patience.
const waitingMax = 512
// States are a few kilobytes; those of entities at work are all that pays.
const rememberedMax = 2_048

export class Actors extends Context.Service<
  Actors,
  {
    readonly run: <State, Command, Fact>(
      definition: ActorDefinition<State, Command, Fact>,
      address: CommandAddress,
      command: Command
    ) => Effect.Effect<Outcome<State>, CommandError>
    /** As the leader has it now; nothing for an entity that never was, or is retired. */
    readonly read: <State, Command, Fact>(
      definition: ActorDefinition<State, Command, Fact>,
      id: string
    ) => Effect.Effect<Option.Option<{ readonly state: State; readonly sequence: number }>, BusError>
    /** As the leader has it now; nothing for a mark that was never left, or has gone. */
    readonly mark: (name: string) => Effect.Effect<Option.Option<FoundMark>, BusError>
  }
>()("starling/actor/Actors") {
  static readonly layer = Layer.effect(
    Actors,
    Effect.gen(function* () {
      const reader = yield* StreamReader
      const publisher = yield* Publisher
      const metrics = yield* Metrics
      const commands = metrics.counter(commandsTotal)
      const seconds = metrics.histogram(commandSeconds)
      const conflicts = metrics.counter(conflictsTotal)
      const turns = makeTurns(waitingMax)
      const remembered = makeNewest<Remembered<unknown>>(rememberedMax)

      const carryOut = Effect.fnUntraced(function* <State, Command, Fact>(
        definition: ActorDefinition<State, Command, Fact>,
        { id, commandId, grounds = [], marks = [] }: CommandAddress,
        command: Command
      ): Effect.fn.Return<Outcome<State>, CommandError> {
        const { entity } = definition
        const subject = subjects.log(entity, id)
        const load = loadHeld(reader, definition, subject)
        // Most of those that this process knows nothing of are about to be created.
        const guess: Remembered<State> = { ...nothingHeld(definition), unread: 1 }
        let known: Remembered<State> | undefined = (remembered.get(subject) as Remembered<State> | undefined) ?? guess
        if (known.unread >= unreadMax) known = undefined
        for (let tried = 0; tried < triesMax; tried++) {
          const isFresh = known === undefined || known.unread === 0
          const held: Remembered<State> = known ?? (yield* load)
          known = undefined
          const { state, sequence } = held
          if (held.recentCommands.includes(commandId)) return { state, sequence, was: "repeated" }
          const atMs = yield* Clock.currentTimeMillis
          const decided = held.isRetired
            ? Result.fail(new EntityNotFound({ entity, id }))
            : decideRecord(definition, held, command, { id, commandId, atMs })
          // What is remembered or guessed may be behind what another replica decided: it allows, but never refuses.
          if (!isFresh && (Result.isFailure(decided) || decided.success === undefined)) continue
          const record = yield* Effect.fromResult(decided)
          if (record === undefined) return { state, sequence, was: "unchanged" }
          const appended = yield* appendRecord(publisher, subject, record, sequence, {
            id,
            grounds,
            marks
          }).pipe(
            Effect.asSome,
            Effect.catchTag("RevisionConflict", () => Effect.succeedNone),
            // Unknown whether it was stored: what is remembered may be behind.
            Effect.tapError(() => Effect.sync(() => remembered.remove(subject)))
          )
          if (Option.isSome(appended)) {
            remembered.set(subject, { ...record, sequence: appended.value, unread: held.unread + 1 })
            return { state: record.state, sequence: appended.value, was: "decided" }
          }
          if (held !== guess) conflicts.inc({ entity })
          const now = yield* load
          // The entity itself stands as before, so it was one of the others.
          if (now.sequence === sequence) return yield* new GroundsChanged({ entity, id })
          known = now
        }
        return yield* new EntityBusy({ entity, id })
      })

      const run = Effect.fn("Actors.run")(function* <State, Command, Fact>(
        definition: ActorDefinition<State, Command, Fact>,
        address: CommandAddress,
        command: Command
      ) {
        const { entity } = definition
        const startedMs = yield* Clock.currentTimeMillis
        const key = subjects.log(entity, address.id)
        const busy = () => new EntityBusy({ entity, id: address.id })
        return yield* turns.within(key, busy, carryOut(definition, address, command)).pipe(
          Effect.tap(({ was }) => Effect.sync(() => commands.inc({ entity, outcome: was }))),
          Effect.tapError((error) => Effect.sync(() => commands.inc({ entity, outcome: outcomeOf(error) }))),
          Effect.ensuring(
            Effect.map(Clock.currentTimeMillis, (nowMs) => seconds.observe({ entity }, (nowMs - startedMs) / 1_000))
          )
        )
      })

      const read = Effect.fn("Actors.read")(function* <State, Command, Fact>(
        definition: ActorDefinition<State, Command, Fact>,
        id: string
      ) {
        const held = yield* loadHeld(reader, definition, subjects.log(definition.entity, id))
        return held.sequence === 0 || held.isRetired
          ? Option.none()
          : Option.some({ state: held.state, sequence: held.sequence })
      })
      return Actors.of({ run, read, mark: (name) => readMark(reader, name) })
    })
  )
}

const outcomeOf = (error: CommandError) => {
  switch (error._tag) {
    case "Refusal":
      return "refused"
    case "EntityNotFound":
      return "not_found"
    case "EntityBusy":
    case "GroundsChanged":
      return "busy"
    default:
      return "failed"
  }
}
