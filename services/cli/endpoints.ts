/**
 * Shows, pauses and resumes webhook endpoints. A paused endpoint keeps its backlog and misses nothing; resuming also
 * closes its breaker.
 */
import { Clock, Effect, Layer, Option, Result } from "effect"
import { Consumers, StreamReader } from "#bus"
import { endpointIdOf, isoTime, subjects } from "#contracts"
import { EndpointStates, fanOutRecordCodec, readRoster, type Roster } from "#webhooks"
import { busOf } from "./connection.ts"
import { CommandRefused, print, table } from "./console.ts"

interface OnBroker {
  readonly nats: string | undefined
}

interface OfEndpoint extends OnBroker {
  readonly name: string
}

const onBroker = <A, E, R>(act: Effect.Effect<A, E, R>, nats: string | undefined) =>
  Effect.provide(act, EndpointStates.layer.pipe(Layer.provideMerge(busOf(nats))))

export const listEndpoints = ({ nats }: OnBroker) =>
  onBroker(
    Effect.flatMap(readRoster, ({ endpoints }) => list(endpoints)),
    nats
  )

export const pauseEndpoint = ({ name, nats, ...why }: OfEndpoint & { readonly by: string; readonly reason: string }) =>
  onBroker(
    Effect.gen(function* () {
      const id = yield* idOf("pause", name)
      yield* (yield* EndpointStates).pause(id, name, why)
      yield* print(`${name} is paused`)
    }),
    nats
  )

export const resumeEndpoint = ({ name, nats }: OfEndpoint) =>
  onBroker(
    Effect.gen(function* () {
      const id = yield* idOf("resume", name)
      yield* (yield* EndpointStates).resume(id, name)
      yield* print(`${name} is resumed`)
    }),
    nats
  )

const idOf = Effect.fnUntraced(function* (verb: string, name: string) {
  const { endpoints: known } = yield* readRoster
  const id = endpointIdOf(name)
  if (known[id] !== undefined) return id
  return yield* new CommandRefused({ reason: `endpoints ${verb} takes one of: ${namesIn(known)}` })
})

const list = Effect.fnUntraced(function* (
  known: Readonly<Record<string, { readonly name: string; readonly absentSinceMs: number | null }>>
) {
  const reader = yield* StreamReader
  const consumers = yield* Consumers
  const states = yield* EndpointStates
  const due = yield* reader.countBySubject("DELIVERIES", subjects.deliveriesDueAll)
  const next = yield* parkedAt
  const nowMs = yield* Clock.currentTimeMillis
  const rows = yield* Effect.forEach(Object.entries(known), ([id, { name, absentSinceMs }]) =>
    Effect.gen(function* () {
      const backlog = Object.entries(due).reduce(
        (sum, [subject, count]) => sum + (subject.endsWith(`.${id}`) ? count : 0),
        0
      )
      const consumer = yield* Effect.option(consumers.backlog("DELIVERIES", `endpoint-${id}`))
      const inWork = Option.match(consumer, { onNone: () => "-", onSome: ({ unacked }) => String(unacked) })
      const parked = next[id] === undefined ? "" : `parked at ${next[id]}`
      const state = stateOf(states.get(id), absentSinceMs, nowMs)
      return [name, state, String(backlog), inWork, parked]
    })
  )
  yield* Effect.forEach(table(["endpoint", "state", "backlog", "in work", ""], rows), print, { discard: true })
})

const parkedAt = Effect.gen(function* () {
  const reader = yield* StreamReader
  const stored = yield* reader.last("DELIVERIES", subjects.deliveriesCursor)
  const decoded = Option.map(stored, (message) => fanOutRecordCodec.decode(message))
  return Option.isSome(decoded) && Result.isSuccess(decoded.value) ? decoded.value.success.cursor.next : {}
})

const stateOf = (state: ReturnType<EndpointStates["Service"]["get"]>, absentSinceMs: number | null, nowMs: number) => {
  if (absentSinceMs !== null) return `not configured since ${isoTime(absentSinceMs)}`
  if (state?.paused != null) return `paused by ${state.paused.by} at ${state.paused.at}: ${state.paused.reason}`
  if ((state?.breakerOpenUntilMs ?? 0) > nowMs) {
    return `failing, left alone until ${isoTime(state?.breakerOpenUntilMs ?? 0)}`
  }
  return "active"
}

/** The endpoints' names, for a refusal. */
export const namesIn = (roster: Roster["endpoints"]): string =>
  Object.values(roster)
    .map(({ name }) => name)
    .join(", ") || "(none)"
