/** Common steps of the dispatcher's tests: publish an event, wait for requests, read a stream. */
import { Effect, Stream } from "effect"
import { Publisher, StreamReader } from "#bus"
import { exampleEnvelope, subjects } from "#contracts"
import { Metrics } from "#runtime"
import { eventually, natsServer } from "../../dev/fixtures/bus.ts"
import { startReceiver, type TestReceiver } from "./receiver.ts"

const utf8 = new TextEncoder()

export const setUp = Effect.all({ server: natsServer, receiver: startReceiver })

/** Answers with the event's sequence once the broker has it. */
export const publish = (event: string) =>
  Effect.gen(function* () {
    const body = utf8.encode(JSON.stringify(exampleEnvelope(event)))
    const { sequence } = yield* (yield* Publisher).publishRaw(subjects.event(event), body)
    return sequence
  })

export const publishMany = (event: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => publish(event), { concurrency: 10 })

export const requestsTo = (receiver: TestReceiver, path: string) =>
  receiver.requests.filter((request) => request.path === path)

export const sequencesTo = (receiver: TestReceiver, path: string) =>
  requestsTo(receiver, path).map(({ headers }) => Number(headers["x-service-sequence"]))

export const eventsTo = (receiver: TestReceiver, path: string) =>
  requestsTo(receiver, path).map(({ headers }) => String(headers["x-service-event"]))

export const arrived = (receiver: TestReceiver, path: string, count: number, withinMs?: number) =>
  eventually(
    Effect.sync(() => requestsTo(receiver, path).length >= count),
    withinMs
  )

/** Everything a stream holds. */
export const stream = (name: string) =>
  Effect.gen(function* () {
    const reader = yield* StreamReader
    const { firstSequence, lastSequence, messages } = yield* reader.bounds(name)
    if (messages === 0) return []
    return yield* Stream.runCollect(reader.range(name, { fromSequence: firstSequence, toSequence: lastSequence }))
  })

export const abandoned = (count: number) => eventually(Effect.map(stream("ABANDONED"), (all) => all.length === count))

/** Why each abandoned delivery was given up. */
export const abandonments = Effect.map(stream("ABANDONED"), (all) =>
  all.map((message) => JSON.parse(message.header("Starling-Abandonment") ?? "{}") as Record<string, unknown>)
)

/** The attempts of the delivery log, in the order they were stored. */
export const attemptRecords = Effect.map(stream("ATTEMPTS"), (all) =>
  all.flatMap(({ data }) => JSON.parse(new TextDecoder().decode(data)) as Array<Record<string, unknown>>)
)

/** How long after each failed attempt the next one is due, in milliseconds, by the delivery log. */
export const plannedWaits = (records: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  records.flatMap(({ durationMs, nextAttemptAt, startedAt }) => {
    if (typeof nextAttemptAt !== "string") return []
    return [Date.parse(nextAttemptAt) - Date.parse(String(startedAt)) - Number(durationMs)]
  })

/** The sum of a metric's series whose line holds every one of `parts`. */
export const metric = (name: string, ...parts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const lines = (yield* (yield* Metrics).text).split("\n")
    return lines
      .filter((line) => line.startsWith(`${name}{`) && parts.every((part) => line.includes(part)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0)
  })

/** A moment as HTTP writes it, cut to whole seconds. */
export const httpDate = (ms: number) => new Date(ms).toUTCString()
