/**
 * `endpoints list | pause <name> | resume <name>`: what is true of the webhook endpoints now. A paused
 * endpoint keeps its backlog and misses nothing; resuming also closes its breaker.
 */
import { Clock, Effect, Layer, Option, Result } from "effect"
import { Consumers, StreamReader } from "#bus"
import { isoTime, endpointIdOf, subjects } from "#contracts"
import { EndpointStates } from "../../webhook-dispatcher/EndpointStates.ts"
import { fanOutRecordCodec } from "../../webhook-dispatcher/fan-out-cursor.ts"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
import { namesIn, readRoster } from "./endpoint-roster.ts"
import { readParameters } from "./parameters.ts"
import { table } from "./table.ts"

export const endpoints = (parameters: ReadonlyArray<string>) => runCommand(endpointsCommand(parameters))

const endpointsCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      reason: { type: "string", default: "paused by an operator" },
      by: { type: "string", default: "operator" },
      nats: { type: "string" }
    }
  })
  const [verb = "list", name, ...more] = positionals
  if (more.length > 0 || (verb === "list" && name !== undefined)) {
    return yield* new CommandRefused({ reason: "endpoints takes list, pause <name> or resume <name>, one at a time" })
  }
  const act = Effect.gen(function* () {
    const known = yield* readRoster
    if (verb === "list") return yield* list(known)
    if (verb !== "pause" && verb !== "resume") {
      return yield* new CommandRefused({ reason: `endpoints ${verb}? it is list, pause or resume` })
    }
    const id = endpointIdOf(name ?? "")
    if (name === undefined || known[id] === undefined) {
      return yield* new CommandRefused({ reason: `endpoints ${verb} takes one of: ${namesIn(known)}` })
    }
    const states = yield* EndpointStates
    yield* verb === "pause" ? states.pause(id, name, { by: values.by, reason: values.reason }) : states.resume(id, name)
    yield* print(`${name} is ${verb === "pause" ? "paused" : "resumed"}`)
  })
  yield* act.pipe(Effect.provide(EndpointStates.layer.pipe(Layer.provideMerge(busOf(values.nats)))))
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
