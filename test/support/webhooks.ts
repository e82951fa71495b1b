/** Common steps of the dispatcher's tests: publish an event, wait for requests, read a stream. */
import { setTimeout as pause } from "node:timers/promises"
import { Effect, Fiber, Option, Schedule, Stream } from "effect"
import { Consumers, Publisher, StreamReader } from "#bus"
import { deliveryStream, exampleEnvelope, subjects } from "#base"
import { Metrics } from "#runtime"
import { openEndpointStore, readFanOutCursor } from "#webhooks"
import { natsServer } from "../../dev/fixtures/bus.ts"
import { eventually, NotSo } from "../../dev/fixtures/eventually.ts"
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

// What an endpoint of one request at a time keeps up with on a busy machine.
const perSecondDefault = 100

const neverBehind = () => false

/**
 * Publishes steadily until stopped, also while the broker is away. It answers once the first events are stored.
 * `isBehind`: publishes nothing while this is so, by the newest event; a machine that bears less gets less.
 */
export const steadily = Effect.fnUntraced(function* (
  eventsPerSecond = perSecondDefault,
  isBehind: (newest: number) => boolean = neverBehind
) {
  let [begun, stored, newest] = [0, 0, 0]
  const one = Effect.map(
    Effect.retry(publish("work_item.merged"), { schedule: Schedule.spaced("50 millis") }),
    (sequence) => {
      stored += 1
      newest = Math.max(newest, sequence)
    }
  )
  let [turnMs, wanted] = [performance.now(), 0]
  const due = Effect.gen(function* () {
    const lastMs = turnMs
    turnMs = performance.now()
    if (!isBehind(newest)) wanted += ((turnMs - lastMs) / 1_000) * eventsPerSecond
    for (; begun < Math.floor(wanted); begun += 1) yield* Effect.forkScoped(one)
    yield* Effect.promise(() => pause(2))
  })
  const publishing = yield* Effect.forkScoped(Effect.forever(due))
  /** Waits until so many more are stored. */
  const after = (more: number) =>
    Effect.suspend(() => {
      const wanted = stored + more
      return eventually(() => stored, { is: (seen) => seen >= wanted })
    })
  // Those on their way are stored, and so have a place in EVENTS, before it answers with the last sequence.
  const stop = Effect.gen(function* () {
    yield* Fiber.interrupt(publishing)
    yield* eventually(() => stored, { is: (seen) => seen >= begun })
    return (yield* (yield* StreamReader).bounds("EVENTS")).lastSequence
  })
  yield* after(20)
  return { after, stop, newest: () => newest }
})

export const requestsTo = (receiver: TestReceiver, path: string) =>
  receiver.requests.filter((request) => request.path === path)

export const sequencesTo = (receiver: TestReceiver, path: string) =>
  requestsTo(receiver, path).map(({ headers }) => Number(headers["x-service-sequence"]))

export const eventsTo = (receiver: TestReceiver, path: string) =>
  requestsTo(receiver, path).map(({ headers }) => String(headers["x-service-event"]))

// Retries, pauses of a breaker and leases of the dead lie between.
const arrivesWithinMs = 60_000

export const arrived = (receiver: TestReceiver, path: string, count: number, withinMs = arrivesWithinMs) =>
  eventually(() => requestsTo(receiver, path).length, { is: (length) => length >= count, withinMs })

/** Everything a stream holds. */
export const stream = (name: string) =>
  Effect.gen(function* () {
    const reader = yield* StreamReader
    const { firstSequence, lastSequence, messages } = yield* reader.bounds(name)
    if (messages === 0) return []
    return yield* Stream.runCollect(reader.range(name, { fromSequence: firstSequence, toSequence: lastSequence }))
  })

export const abandoned = (count: number) => eventually(stream("ABANDONED"), { is: (all) => all.length === count })

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

/** What is not at its end: who lacks events, what consumers hold, who leaves, and each lane's cursor. */
const standing = Effect.fnUntraced(function* (receiver: TestReceiver, lanes: number) {
  const { lastSequence } = yield* (yield* StreamReader).bounds("EVENTS")
  const lines = [`EVENTS ends at ${lastSequence}`]
  for (const path of new Set(receiver.requests.map((request) => request.path))) {
    const got = new Set(sequencesTo(receiver, path))
    const newest = Math.max(...got)
    const lacks = Array.from({ length: newest }, (_, index) => index + 1).filter((sequence) => !got.has(sequence))
    if (newest < lastSequence) lines.push(`${path} got ${got.size}, up to ${newest}, not ${lacks.slice(-3).join(" ")}`)
  }
  for (let lane = 0; lane < lanes; lane += 1) {
    lines.push(`cursor ${lane} ${JSON.stringify(Option.getOrUndefined(yield* readFanOutCursor(lane)))}`)
    const { consumers } = yield* (yield* Consumers).page(deliveryStream(lane), 0)
    for (const { name, pending, unacked, isPaused } of consumers) {
      const held = isPaused ? ", paused" : ""
      if (pending + unacked > 0) lines.push(`lane ${lane} ${name}: ${pending} pending, ${unacked} unacked${held}`)
    }
  }
  for (const { value, revision } of yield* Stream.runCollect((yield* openEndpointStore).bucket.scan(">"))) {
    if (value.removed !== null) lines.push(`${value.name} leaves since ${revision}`)
  }
  return lines.join("\n")
})

/** A test that waits for something that does not come says how all stood then. */
export const explained = <A, E, R>(receiver: TestReceiver, lanes: number, test: Effect.Effect<A, E, R>) =>
  Effect.catchDefect(test, (defect) =>
    defect instanceof NotSo
      ? Effect.flatMap(standing(receiver, lanes), (lines) => Effect.die(new Error(`${defect.message}\n${lines}`)))
      : Effect.die(defect)
  )
