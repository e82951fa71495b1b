/**
 * Carries out commands. An entity's last record is its state: it is read from the leader and decided on, and the
 * decision is appended on the condition that the record is still the last. A command that loses the race rereads and is
 * decided again; one that finds its own id was carried out before.
 *
 * Within a process, commands of one entity take turns and its last record is cached, so that a hot entity is not reread
 * for every command. An uncached entity is first assumed to be new, if the command can be its first. A state that was
 * not read never refuses, because it can be stale.
 */
import { Cause, Clock, Context, Effect, type Exit, Layer, Option, Result } from "effect"
import { type BusError, BusRefused, isLostRace, Publisher, StreamReader } from "#bus"
import { subjects } from "#base"
import { type CounterOf, defineCounter, defineHistogram, inSpan, keyedQueue, Metrics } from "#runtime"
import { type ActorDefinition, EntityBusy, EntityNotFound, PreconditionFailed, type Refusal } from "./definition.ts"
import {
  appendRecord,
  decideRecord,
  type FoundUniqueKey,
  type ActorState,
  type Precondition,
  readUniqueKey,
  recordCodec,
  type UniqueKey
} from "./record.ts"

export const commandsTotal = defineCounter({
  name: "actor_commands_total",
  help: "Commands by entity and outcome: decided, unchanged, repeated, refused, not_found, busy, failed.",
  labels: ["entity", "outcome"],
  values: { outcome: ["decided", "unchanged", "repeated", "refused", "not_found", "busy", "failed"] }
})

export const commandSeconds = defineHistogram({
  name: "actor_command_seconds",
  help: "Time from a command's arrival at its actor to the stored decision, by entity, in seconds.",
  labels: ["entity"],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
})

export const conflictsTotal = defineCounter({
  name: "actor_conflicts_total",
  help: "Decisions made again because another replica had decided first, by entity.",
  labels: ["entity"]
})

export interface CommandAddress {
  readonly id: string
  /** Chosen once by the sender: a second command with the same id is not carried out again. */
  readonly commandId: string
  /** Other entities whose records must be unchanged since they were read, otherwise `PreconditionFailed`. */
  readonly preconditions?: ReadonlyArray<Precondition>
  /** Stored with the decision if they are still at the named sequences, otherwise `PreconditionFailed`. */
  readonly uniqueKeys?: ReadonlyArray<UniqueKey>
}

export interface Outcome<State> {
  readonly state: State
  /** The sequence of the entity's last record in LOG; 0 if it has none. */
  readonly sequence: number
  /** `repeated`: this very command was carried out before. */
  readonly was: "decided" | "unchanged" | "repeated"
}

export type CommandError = Refusal | EntityNotFound | EntityBusy | PreconditionFailed | BusError

export class Actors extends Context.Service<
  Actors,
  {
    readonly run: <State, Command, Fact>(
      definition: ActorDefinition<State, Command, Fact>,
      address: CommandAddress,
      command: Command
    ) => Effect.Effect<Outcome<State>, CommandError>
    /** The leader's current state; undefined for an entity that never existed, or is retired. */
    readonly read: <State, Command, Fact>(
      definition: ActorDefinition<State, Command, Fact>,
      id: string
    ) => Effect.Effect<Option.Option<{ readonly state: State; readonly sequence: number }>, BusError>
    /** The leader's current note; none for a unique key that was never taken, or has expired. */
    readonly uniqueKey: (name: string) => Effect.Effect<Option.Option<FoundUniqueKey>, BusError>
  }
>()("starling/actors/Actors") {
  static readonly layer = Layer.effect(
    Actors,
    Effect.gen(function* () {
      const reader = yield* StreamReader
      const publisher = yield* Publisher
      const metrics = yield* Metrics
      const commands = metrics.counter(commandsTotal)
      const seconds = metrics.histogram(commandSeconds)
      const conflicts = metrics.counter(conflictsTotal)
      const begun = new Set<string>()
      const queue = keyedQueue(waitingMax)
      const remembered = lruCache<Remembered<unknown>>(rememberedMax)
      const carryOut = decideAndAppend({ reader, publisher, conflicts, remembered })

      const run = Effect.fnUntraced(function* <State, Command, Fact>(
        definition: ActorDefinition<State, Command, Fact>,
        address: CommandAddress,
        command: Command
      ) {
        const { entity } = definition
        if (!begun.has(entity)) {
          begun.add(entity)
          commands.begin({ entity })
          conflicts.begin({ entity })
        }
        const startedMs = yield* Clock.currentTimeMillis
        const key = subjects.log(entity, address.id)
        const busy = Effect.failSync(() => new EntityBusy({ entity, id: address.id }))
        const ended = (exit: Exit.Exit<Outcome<State>, CommandError>) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            const outcome = outcomeOf(exit)
            if (outcome !== undefined) commands.inc({ entity, outcome })
            seconds.observe({ entity }, (nowMs - startedMs) / 1_000)
          })
        return yield* Effect.onExit(queue.run(key, busy, carryOut(definition, address, command)), ended)
      }, inSpan("Actors.run"))

      const read = Effect.fn("Actors.read")(function* <State, Command, Fact>(
        definition: ActorDefinition<State, Command, Fact>,
        id: string
      ) {
        const loaded = yield* loadState(reader, definition, subjects.log(definition.entity, id))
        return loaded.sequence === 0 || loaded.isRetired
          ? Option.none()
          : Option.some({ state: loaded.state, sequence: loaded.sequence })
      })
      return Actors.of({ run, read, uniqueKey: (name) => readUniqueKey(reader, name) })
    })
  )
}

// After losing to other replicas this often, the entity is currently too hot to serve from here.
const triesMax = 50
// A replica with the state cached always wins against one that must read first. After this many wins it reads too, so
// that the other gets its turn.
const unreadMax = 8
// A thousand commands a second for one entity clear this queue well within a caller's timeout.
const waitingMax = 512
// States are a few kilobytes; only those of active entities are worth keeping.
const rememberedMax = 2_048

interface LoopParts {
  readonly reader: StreamReader["Service"]
  readonly publisher: Publisher["Service"]
  readonly conflicts: CounterOf<typeof conflictsTotal>
  readonly remembered: LruCache<Remembered<unknown>>
}

/** The loop of one command: load or reuse, decide, append; repeat when another replica was faster. */
const decideAndAppend = ({ reader, publisher, conflicts, remembered }: LoopParts) =>
  Effect.fnUntraced(function* <State, Command, Fact>(
    definition: ActorDefinition<State, Command, Fact>,
    { id, commandId, preconditions = [], uniqueKeys = [] }: CommandAddress,
    command: Command
  ): Effect.fn.Return<Outcome<State>, CommandError> {
    const { entity } = definition
    const subject = subjects.log(entity, id)
    const load = loadState(reader, definition, subject)
    const guess: Remembered<State> = { ...nothingRead(definition), unread: 1 }
    let known = remembered.get(subject) as Remembered<State> | undefined
    if (known === undefined && mayBegin(definition, command)) known = guess
    if (known !== undefined && known.unread >= unreadMax) known = undefined
    for (let tried = 0; tried < triesMax; tried++) {
      const isFresh = known === undefined || known.unread === 0
      const current: Remembered<State> = known ?? (yield* load)
      known = undefined
      const { state, sequence } = current
      if (current.recentCommands.includes(commandId)) return { state, sequence, was: "repeated" }
      const atMs = yield* Clock.currentTimeMillis
      const decided = current.isRetired
        ? Result.fail(new EntityNotFound({ entity, id }))
        : decideRecord(definition, current, command, { id, commandId, atMs })
      // A cached or assumed state can be behind another replica's decision: it allows, but never refuses.
      if (!isFresh && (Result.isFailure(decided) || decided.success === undefined)) continue
      const record = yield* Effect.fromResult(decided)
      if (record === undefined) return { state, sequence, was: "unchanged" }
      const appended = yield* appendRecord(publisher, {
        subject,
        record,
        sequence,
        id,
        preconditions,
        uniqueKeys
      }).pipe(
        Effect.asSome,
        Effect.catchIf(isLostRace, () => Effect.succeedNone),
        // It is unknown whether the record was stored, so the cached state can be stale.
        Effect.tapError(() => Effect.sync(() => remembered.remove(subject)))
      )
      if (Option.isSome(appended)) {
        remembered.set(subject, { ...record, sequence: appended.value, unread: current.unread + 1 })
        return { state: record.state, sequence: appended.value, was: "decided" }
      }
      if (current !== guess) conflicts.inc({ entity })
      const now = yield* load
      // The entity itself has not changed, so a precondition or unique key has.
      if (now.sequence === sequence) return yield* new PreconditionFailed({ entity, id })
      known = now
    }
    return yield* new EntityBusy({ entity, id })
  })

/** Undefined for an interrupted command. */
const outcomeOf = (exit: Exit.Exit<Outcome<unknown>, CommandError>) => {
  if (exit._tag === "Success") return exit.value.was
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  switch (error?._tag) {
    case undefined:
      return undefined
    case "Refusal":
      return "refused"
    case "EntityNotFound":
      return "not_found"
    case "EntityBusy":
    case "PreconditionFailed":
      return "busy"
    default:
      return "failed"
  }
}

const mayBegin = <State, Command, Fact>({ begins }: ActorDefinition<State, Command, Fact>, command: Command) =>
  begins === undefined || begins(command)

interface Remembered<State> extends ActorState<State> {
  /** The sequence of its last record; 0 if it has none. */
  readonly sequence: number
  readonly isRetired: boolean
  /** Decisions made on it since it was read. */
  readonly unread: number
}

/** For an entity without a record. */
const nothingRead = <State, Command, Fact>({ initial }: ActorDefinition<State, Command, Fact>): Remembered<State> => ({
  state: initial,
  recentCommands: [],
  sequence: 0,
  isRetired: false,
  unread: 0
})

/** Reads the entity's last record once, from the leader. */
const loadState = Effect.fnUntraced(function* <State, Command, Fact>(
  reader: StreamReader["Service"],
  definition: ActorDefinition<State, Command, Fact>,
  subject: string
): Effect.fn.Return<Remembered<State>, BusError> {
  const last = yield* reader.last("LOG", subject)
  if (Option.isNone(last)) return nothingRead(definition)
  const record = recordCodec(definition).decode(last.value)
  if (Result.isSuccess(record)) return { ...record.success, sequence: last.value.sequence, unread: 0 }
  const detail = `its last record cannot be read: ${JSON.stringify(record.failure)}`
  return yield* new BusRefused({ operation: `load ${subject}`, detail, code: 0 })
})

/** A map that keeps the most recently used entries and evicts the others. */
interface LruCache<A> {
  readonly get: (key: string) => A | undefined
  readonly set: (key: string, value: A) => void
  readonly remove: (key: string) => void
}

export const lruCache = <A>(entriesMax: number): LruCache<A> => {
  const entries = new Map<string, A>()
  const set = (key: string, value: A) => {
    entries.delete(key)
    entries.set(key, value)
    if (entries.size <= entriesMax) return
    for (const oldest of entries.keys()) {
      entries.delete(oldest)
      if (entries.size <= entriesMax) return
    }
  }
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    remove: (key) => void entries.delete(key)
  }
}
