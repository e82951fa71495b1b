import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { StreamReader, topologyOf } from "#bus"
import { deliveryLaneOf, endpointIdOf } from "#webhooks/contract"
import { deliveryStream, subjects } from "#base"
import { readAbandoned, readFanOutCursor, readRoster, WebhookEndpoints } from "#webhooks"
import { busOn } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"
import type { ReceivedRequest, TestReceiver } from "../../support/receiver.ts"
import { startRoleProcess } from "../../support/role-process.ts"
import { attemptRecords, explained, requestsTo, sequencesTo, setUp, steadily, stream } from "../../support/webhooks.ts"
import { operator } from "../../support/operator.ts"

const names = Array.from({ length: 8 }, (_, index) => `lane-test-${index}`)
const path = (name: string) => `/${name}`

/**
 * So many events may wait for an endpoint, some three seconds of them. A slow machine, on which a dispatcher starts for ten
 * seconds, would otherwise never deliver what had gathered.
 */
const waitingMax = 100

/**
 * Where a process takes all that waits at once: a slow one would be so long at it that it could not renew its presence,
 * and then puts off what is for endpoints of run time.
 */
const waitingAtOnceMax = 40

/** An endpoint of run time, from its making to the answer of its removal; a name may have several, one after another. */
interface Life {
  readonly name: string
  readonly startsAfter: number
  /** The requests to its path when its removal was answered. */
  readonly to?: number
}

/** Names the life by whose settings a request was sent. */
const lifeHeader = "x-life"

/**
 * Whether an endpoint lags that far behind: one of the file since its first event, and one of run time while it is there.
 */
const isBehind = (receiver: TestReceiver, lives: ReadonlyArray<Life> = [], max = waitingMax) => {
  const got = new Map<string, number>()
  let looked = 0
  return (newest: number) => {
    for (const { path: to, headers } of receiver.requests.slice(looked)) {
      got.set(to, Math.max(got.get(to) ?? 0, Number(headers["x-service-sequence"])))
    }
    looked = receiver.requests.length
    return (
      names.some((name) => newest - (got.get(path(name)) ?? newest) > max) ||
      lives.some(
        ({ name, startsAfter, to }) =>
          to === undefined && newest - Math.max(startsAfter, got.get(path(name)) ?? 0) > max
      )
    )
  }
}

// One at a time: then the broker's order is the receiver's, whichever process sends.
const endpoints = (receiver: TestReceiver) =>
  names.map((Name) => ({ Name, Url: receiver.url(path(Name)), Concurrency: 1, InitialBackoffSeconds: 0.3 }))

const dispatcher = (server: TestNatsServer, receiver: TestReceiver, lanes: number, more: object = {}) =>
  startRoleProcess(server, "webhook-dispatcher", {
    Webhooks: endpoints(receiver),
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], Lanes: lanes, ...more }
  })

const isSettledAt = (lanes: number) =>
  Effect.map(readFanOutCursor(0), (cursor) =>
    Option.exists(cursor, (first) => first.lanes === lanes && first.lanesBefore === undefined)
  )

/** Every event of the range came to every endpoint. */
const isComplete = (receiver: TestReceiver, from: number, to: number) =>
  names.every((name) => {
    const got = new Set(sequencesTo(receiver, path(name)))
    for (let sequence = from; sequence <= to; sequence += 1) if (!got.has(sequence)) return false
    return true
  })

const repeats = (values: ReadonlyArray<unknown>) => values.length - new Set(values).size

/** Sequences in the order in which they first came. */
const firsts = (receiver: TestReceiver, name: string) => [...new Set(sequencesTo(receiver, path(name)))]

const isAscending = (values: ReadonlyArray<number>) => values.every((value, index) => value > (values[index - 1] ?? 0))

const streamsOf = (lanes: number) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: lanes }, (_, lane) => lane),
      (lane) => Effect.map(StreamReader, (reader) => reader.bounds(deliveryStream(lane)))
    ),
    (bounds) => Effect.all(bounds)
  ).pipe(Effect.flatten)

const leftIn = (lanes: number) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: lanes }, (_, lane) => lane),
      (lane) => stream(deliveryStream(lane))
    ),
    (all) => all.flat().filter(({ subject }) => subject.includes(".due.") || subject.includes(".wait."))
  )

const by = "tester"
const runTimeNames = Array.from({ length: 6 }, (_, index) => `made-${index}`)
/** A killed dispatcher is counted out after three seconds, each change of the number has several steps, and some begin anew. */
const settledWithinMs = 60_000

// A broker that was killed answers again within a second or two, and a dispatcher that was is counted out after three.
const patiently = Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 100 })

interface Churn {
  readonly concurrency: number
  /** Whether they are disabled and enabled too. With shared consumers that puts off what is due, and so its order. */
  readonly pauses: boolean
  /** Filled with every endpoint that is made. */
  readonly lives: Array<Life>
}

/** Makes, changes and removes endpoints one by one, and makes them again, until it is stopped. */
const churn = Effect.fnUntraced(function* (receiver: TestReceiver, { concurrency, pauses, lives }: Churn) {
  const at = yield* WebhookEndpoints
  const disablings = new Map<string, number>()
  let isOver = false
  const sent = (name: string) => requestsTo(receiver, path(name)).length
  const make = Effect.fnUntraced(function* (name: string) {
    const settings = {
      Name: name,
      Url: receiver.url(path(name)),
      Concurrency: concurrency,
      InitialBackoffSeconds: 0.3,
      Headers: { [lifeHeader]: String(lives.length) }
    }
    const { startsAfter } = yield* at.create({ settings, by }).pipe(patiently)
    lives.push({ name, startsAfter })
  })
  const change = Effect.fnUntraced(function* (name: string) {
    const { revision } = yield* at.get(name).pipe(patiently)
    yield* at.change({ name, revision, changes: { Description: `changed at ${sent(name)}` }, by }).pipe(patiently)
    if (!pauses) return
    disablings.set(name, (disablings.get(name) ?? 0) + 1)
    yield* at.disable({ name, by }).pipe(patiently)
    yield* at.enable({ name, by }).pipe(patiently)
  })
  const remove = Effect.fnUntraced(function* (name: string) {
    yield* at.remove({ name, by }).pipe(patiently)
    yield* receiver.upToDate
    const index = lives.findLastIndex((life) => life.name === name)
    lives[index] = { ...lives[index]!, to: sent(name) }
  })
  for (const name of runTimeNames) yield* make(name)
  const round = Effect.gen(function* () {
    for (const [index, name] of runTimeNames.entries()) {
      if (isOver) return
      const before = sent(name)
      yield* eventually(() => isOver || sent(name) > before)
      if (index % 3 === 0) yield* change(name)
      if (index % 3 === 1) yield* Effect.andThen(remove(name), make(name))
    }
  })
  const turning = yield* Effect.forkScoped(Effect.repeat(round, { while: () => !isOver }))
  const stop = Effect.suspend(() => {
    isOver = true
    return Fiber.join(turning)
  })
  return { stop, disablings }
})

/** The last life of each name got every event up to the last. */
const areCaughtUp = (receiver: TestReceiver, lives: ReadonlyArray<Life>, last: number) =>
  Effect.sync(() =>
    lives.every(
      ({ name, startsAfter, to }) =>
        to !== undefined || startsAfter >= last || sequencesTo(receiver, path(name)).includes(last)
    )
  )

// Deliveries leave in order; what is put off leaves half a second later.
const lateAfterMs = 400

/** A process that delivers, or the broker, ended; `to`: the newest event of the time in which nobody delivered. */
interface HandOver {
  readonly beganMs: number
  readonly to: number
}

interface Times {
  readonly handOvers: ReadonlyArray<HandOver>
  /** By event; the order is theirs. */
  readonly times: ReadonlyMap<number, number>
  readonly receiver: TestReceiver
  readonly name: string
}

/**
 * The events too long after a later one of the same endpoint. What had not come when a process was told to end or the
 * broker died, and was published before nobody delivered, may have been on its way: it comes again after its ack wait,
 * behind what others begin with.
 */
const lateBy = ({ handOvers, times, receiver, name }: Times) => {
  const requests = requestsTo(receiver, path(name))
  const ranges = handOvers.map(({ beganMs, to }) => {
    const before = requests
      .filter(({ atMs }) => atMs <= beganMs)
      .map(({ headers }) => Number(headers["x-service-sequence"]))
    return { from: Math.max(0, ...before), to }
  })
  const newest = new Map<number, { readonly sequence: number; readonly atMs: number }>()
  const late = new Map<number, string>()
  for (const [sequence, atMs] of [...times].toSorted(([a, atA], [b, atB]) => atA - atB || a - b)) {
    if (ranges.some(({ from, to }) => from < sequence && sequence <= to)) continue
    const era = ranges.filter(({ to }) => to < sequence).length
    const before = newest.get(era) ?? { sequence: 0, atMs }
    if (sequence > before.sequence) newest.set(era, { sequence, atMs })
    else if (atMs - before.atMs > lateAfterMs) {
      late.set(sequence, `${sequence} ${atMs - before.atMs} ms after ${before.sequence}`)
    }
  }
  return late
}

interface Sendings {
  readonly handOvers: ReadonlyArray<HandOver>
  readonly records: Effect.Success<typeof attemptRecords>
}

/** The events that left late by the delivery log, and came late too; their retries aside. */
const late = (receiver: TestReceiver, name: string, { handOvers, records }: Sendings) => {
  const came = new Map<number, number>()
  for (const { headers, atMs } of requestsTo(receiver, path(name))) {
    const sequence = Number(headers["x-service-sequence"])
    came.set(sequence, Math.min(atMs, came.get(sequence) ?? atMs))
  }
  const left = new Map<number, number>()
  for (const { endpoint, sequence, startedAt } of records) {
    const [event, atMs] = [Number(sequence), Date.parse(String(startedAt))]
    if (endpoint === name) left.set(event, Math.min(atMs, left.get(event) ?? atMs))
  }
  // A broker that is killed loses the log's last moment.
  assert.isAbove(left.size, came.size / 2, `the log of ${name}`)
  const lateToLeave = lateBy({ handOvers, times: left, receiver, name })
  return [...lateBy({ handOvers, times: came, receiver, name })].flatMap(([sequence, text]) =>
    lateToLeave.has(sequence) ? [`${text}, and left ${lateToLeave.get(sequence)}`] : []
  )
}

/** Each life got its events, from the first after its making; none after its removal, when what waits is put away. */
const assertLives = Effect.fnUntraced(function* (receiver: TestReceiver, lives: ReadonlyArray<Life>, last: number) {
  const putAway = new Set(
    (yield* stream("ABANDONED")).flatMap((message) =>
      Option.toArray(readAbandoned(message)).map(
        ({ due: { delivery } }) => `${delivery.endpointId} ${delivery.sequence}`
      )
    )
  )
  for (const [index, { name, startsAfter, to }] of lives.entries()) {
    const told = `${name}, made after ${startsAfter}`
    const isIts = ({ headers }: ReceivedRequest) => headers[lifeHeader] === String(index)
    const sequencesOf = (requests: ReadonlyArray<ReceivedRequest>) =>
      requests.filter(isIts).map(({ headers }) => Number(headers["x-service-sequence"]))
    const requests = requestsTo(receiver, path(name))
    if (to !== undefined) assert.deepStrictEqual(sequencesOf(requests.slice(to)), [], `${told}: after its removal`)
    const got = new Set(sequencesOf(requests))
    const until = to === undefined ? last : Math.max(startsAfter, ...got)
    const wanted = Array.from({ length: until - startsAfter }, (_, place) => startsAfter + 1 + place)
    const missing = wanted.filter((sequence) => !got.has(sequence))
    const lost = to === undefined ? missing : missing.filter((each) => !putAway.has(`${endpointIdOf(name)} ${each}`))
    assert.deepStrictEqual(lost, [], told)
    const early = [...got].filter((sequence) => sequence <= startsAfter)
    assert.deepStrictEqual(early, [], `${told}: only what came after its making`)
  }
})

/** Where the lanes say that endpoints are, each in the lane that is its own. */
const placesIn = Effect.fnUntraced(function* (lanes: number) {
  const reader = yield* StreamReader
  const placed: Array<string> = []
  for (let lane = 0; lane < 4; lane += 1) {
    const counts = yield* reader.countBySubject(deliveryStream(lane), subjects.deliveries(lane).rosterOfAll)
    const ofFile = lane < lanes ? Object.keys((yield* readRoster(lane)).endpoints) : []
    const ids = [...ofFile, ...Object.keys(counts).map((subject) => subject.slice(subject.lastIndexOf(".") + 1))]
    for (const id of ids) assert.strictEqual(deliveryLaneOf(id, lanes), lane)
    placed.push(...ids)
  }
  return placed.toSorted()
})

/** Every endpoint has a place, and one alone. One that was made last gets it a moment after the answer of its making. */
const assertPlaces = Effect.fnUntraced(function* (lanes: number) {
  const wanted = [...names, ...runTimeNames].map(endpointIdOf).toSorted()
  yield* eventually(placesIn(lanes), { is: (places) => places.length >= wanted.length })
  assert.deepStrictEqual(yield* placesIn(lanes), wanted)
})

const administered = <A, E, R>(server: TestNatsServer, receiver: TestReceiver, test: Effect.Effect<A, E, R>) =>
  Effect.provide(explained(receiver, 4, test), operator.pipe(Layer.provideMerge(busOn(server, topologyOf(4)))))

// Of a dispatcher or the broker, of which each may have had one delivery of an endpoint unacked.
const killings = 4

/** Whatever came again was the same delivery. */
const assertSameAgain = (receiver: TestReceiver, name: string, repeatsMax: number) => {
  const ids = requestsTo(receiver, path(name)).map(({ headers }) => headers["x-service-delivery"])
  assert.strictEqual(new Set(ids).size, new Set(sequencesTo(receiver, path(name))).size, name)
  assert.isAtMost(repeats(ids), repeatsMax, name)
}

describe("deliveries over lanes", () => {
  it.live("from the start go each to the lane of its endpoint, once and in order", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* Effect.gen(function* () {
        yield* dispatcher(server, receiver, 4)
        const first = (yield* (yield* StreamReader).bounds("EVENTS")).lastSequence + 1
        const steady = yield* steadily(40, isBehind(receiver))
        yield* steady.after(60)
        const last = yield* steady.stop
        yield* eventually(() => isComplete(receiver, first, last))
        yield* eventually(leftIn(4), { is: (left) => left.length === 0 })
        for (const name of names) {
          assert.deepStrictEqual(
            sequencesTo(receiver, path(name)).toSorted((one, other) => one - other),
            firsts(receiver, name)
          )
          assert.isTrue(isAscending(sequencesTo(receiver, path(name))), name)
        }
        const used = new Set(names.map((name) => deliveryLaneOf(endpointIdOf(name), 4)))
        assert.isAbove(used.size, 1)
        for (const [lane, { lastSequence }] of (yield* streamsOf(4)).entries()) {
          assert.strictEqual(lastSequence > last - first, used.has(lane), `lane ${lane}`)
        }
      }).pipe((test) => explained(receiver, 4, test), Effect.provide(busOn(server, topologyOf(4))))
    })
  )

  it.live("change from 2 to 4 and back under load with every process killed, and lose nothing nor their order", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      // A retry is on its way while its endpoint moves.
      for (const name of names.slice(0, 2)) receiver.answer(path(name), (nth) => (nth % 10 === 3 ? 503 : 204))
      yield* Effect.gen(function* () {
        const [one, two] = yield* Effect.all([dispatcher(server, receiver, 2), dispatcher(server, receiver, 2)])
        const first = (yield* (yield* StreamReader).bounds("EVENTS")).lastSequence + 1
        const steady = yield* steadily(40, isBehind(receiver))
        yield* steady.after(40)
        yield* eventually(isSettledAt(2), { withinMs: settledWithinMs })

        const [three] = yield* Effect.all([dispatcher(server, receiver, 4), one.kill("SIGKILL")], {
          concurrency: "unbounded"
        })
        yield* steady.after(20)
        assert.isTrue(yield* isSettledAt(2), "the number waits for the last dispatcher of the old one")
        yield* two.kill("SIGTERM")
        const four = yield* dispatcher(server, receiver, 4)
        yield* three.kill("SIGKILL")
        yield* eventually(isSettledAt(4), { withinMs: settledWithinMs })
        yield* steady.after(20)

        yield* Effect.promise(() => server.kill9())
        yield* Effect.promise(() => server.start())
        yield* steady.after(20)
        const five = yield* dispatcher(server, receiver, 2)
        yield* four.kill("SIGKILL")
        yield* Effect.promise(() => server.kill9())
        yield* Effect.promise(() => server.start())
        yield* eventually(isSettledAt(2), { withinMs: settledWithinMs })
        yield* steady.after(20)
        const last = yield* steady.stop
        yield* eventually(() => isComplete(receiver, first, last))
        yield* eventually(leftIn(4), { is: (left) => left.length === 0 })
        yield* five.kill("SIGTERM")

        for (const name of names) {
          const requests = requestsTo(receiver, path(name))
          const ids = requests.map(({ headers }) => headers["x-service-delivery"])
          const sequences = sequencesTo(receiver, path(name))
          // Whatever came again was the same delivery: a retry, or unacked when a process was killed.
          assert.strictEqual(new Set(ids).size, new Set(sequences).size, name)
          if (!names.slice(0, 2).includes(name)) assert.isAtMost(repeats(ids), 5, name)
          assert.isTrue(isAscending(firsts(receiver, name)), `${name} got ${firsts(receiver, name).join(" ")}`)
        }
      }).pipe((test) => explained(receiver, 4, test), Effect.provide(busOn(server, topologyOf(4))))
    })
  )

  it.live("change from 2 to 4 while endpoints are made, changed and removed and every process is killed", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* administered(
        server,
        receiver,
        Effect.gen(function* () {
          const lives: Array<Life> = []
          const [one, two] = yield* Effect.all([dispatcher(server, receiver, 2), dispatcher(server, receiver, 2)])
          const first = (yield* (yield* StreamReader).bounds("EVENTS")).lastSequence + 1
          const steady = yield* steadily(30, isBehind(receiver, lives))
          const churning = yield* churn(receiver, { concurrency: 1, pauses: true, lives })
          yield* steady.after(60)
          const [three] = yield* Effect.all([dispatcher(server, receiver, 4), one.kill("SIGKILL")], {
            concurrency: "unbounded"
          })
          yield* steady.after(30)
          yield* two.kill("SIGKILL")
          const four = yield* dispatcher(server, receiver, 4)
          yield* three.kill("SIGKILL")
          yield* Effect.promise(() => server.kill9())
          yield* Effect.promise(() => server.start())
          yield* eventually(isSettledAt(4), { withinMs: settledWithinMs })
          yield* steady.after(60)
          yield* churning.stop
          const last = yield* steady.stop
          yield* eventually(() => isComplete(receiver, first, last))
          yield* eventually(areCaughtUp(receiver, lives, last))
          yield* eventually(leftIn(4), { is: (left) => left.length === 0 })
          yield* assertPlaces(4)
          yield* four.kill("SIGTERM")
          yield* assertLives(receiver, lives, last)
          assert.isAbove(lives.length, runTimeNames.length, "none was removed")
          for (const name of [...names, ...runTimeNames]) {
            assert.isTrue(isAscending(firsts(receiver, name)), `${name} got ${firsts(receiver, name).join(" ")}`)
            // One that is disabled breaks off what is on its way.
            assertSameAgain(receiver, name, killings + (churning.disablings.get(name) ?? 0))
          }
        })
      )
    })
  )

  it.live(
    "change from 2 to 4 and back with more endpoints than have consumers of their own, made and removed too",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        for (const name of names.slice(0, 2)) receiver.answer(path(name), (nth) => (nth % 10 === 3 ? 503 : 204))
        const inPartitions = { PartitionsAbove: 3 }
        // With shared consumers an endpoint that is full has its deliveries put off, and so out of order: all that waits
        // while a process starts finds room.
        const roomy = 512
        const many = (lanes: number) =>
          startRoleProcess(server, "webhook-dispatcher", {
            Webhooks: endpoints(receiver).map((endpoint) => ({ ...endpoint, Concurrency: roomy })),
            WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], Lanes: lanes, ...inPartitions }
          })
        yield* administered(
          server,
          receiver,
          Effect.gen(function* () {
            const lives: Array<Life> = []
            const one = yield* many(2)
            const first = (yield* (yield* StreamReader).bounds("EVENTS")).lastSequence + 1
            const steady = yield* steadily(30, isBehind(receiver, lives, waitingAtOnceMax))
            const churning = yield* churn(receiver, { concurrency: roomy, pauses: false, lives })
            yield* steady.after(60)
            const handOvers: Array<HandOver> = []
            const handedOver = Effect.fnUntraced(function* (ends: Effect.Effect<unknown>) {
              const beganMs = yield* Clock.currentTimeMillis
              yield* ends
              handOvers.push({ beganMs, to: steady.newest() })
            })
            yield* handedOver(Effect.andThen(one.kill("SIGTERM"), one.ended))
            const two = yield* many(4)
            yield* eventually(isSettledAt(4), { withinMs: settledWithinMs })
            yield* steady.after(30)
            yield* handedOver(Effect.promise(() => server.kill9().then(() => server.start())))
            yield* steady.after(30)
            yield* handedOver(Effect.andThen(two.kill("SIGTERM"), two.ended))
            const three = yield* many(2)
            yield* eventually(isSettledAt(2), { withinMs: settledWithinMs })
            yield* steady.after(30)
            yield* churning.stop
            const last = yield* steady.stop
            yield* eventually(() => isComplete(receiver, first, last))
            yield* eventually(areCaughtUp(receiver, lives, last))
            yield* eventually(leftIn(4), { is: (left) => left.length === 0 })
            yield* assertPlaces(2)
            yield* three.kill("SIGTERM")
            yield* three.ended
            const records = yield* attemptRecords
            yield* assertLives(receiver, lives, last)
            assert.isAbove(lives.length, runTimeNames.length, "none was removed")
            for (const name of [...names, ...runTimeNames]) {
              assertSameAgain(receiver, name, Number.POSITIVE_INFINITY)
              assert.deepStrictEqual(late(receiver, name, { handOvers, records }), [], name)
            }
          })
        )
      })
  )
})
