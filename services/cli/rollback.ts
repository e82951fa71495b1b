/**
 * Prepares a broker for being taken over again by a release without accounts. That release keeps its LOG position among
 * the events, refuses an event whose subject names its publisher, and knows only a store with a single account. The
 * next upgrade needs nothing: of two cursors the further one counts.
 */
import { Effect, Layer, Option, Redacted, Result, Stream } from "effect"
import { eventRelayPlace } from "#actors"
import { busServices, header, mayComeFromOutside, Nats, Publisher, type SourceMessage, StreamReader } from "#bus"
import { storedEventName, subjects } from "#base"
import { natsFolder, readSettings } from "#fleet"
import { brokerAlone, NatsServer } from "#fleet/broker"
import { dataFolder, keeperUser } from "#fleet/broker-users"
import { moveStoreBack } from "#fleet/broker-store"
import { Metrics, Role } from "#runtime"
import { readDeliveryLanes, readFanOutCursor } from "#webhooks"
import { brokerLogin, busOf } from "./connection.ts"
import { CommandRefused, fileOf, print } from "./console.ts"

interface RollbackOrder {
  readonly nats: string | undefined
  /** The data of a stopped server outside this home. */
  readonly store: string | undefined
}

export const beforeRollback = Effect.fnUntraced(function* ({ nats, store }: RollbackOrder) {
  if (store !== undefined) {
    yield* moveStoreBack(yield* fileOf(store))
    return yield* print("the store is as a release before accounts expects it")
  }
  const { home } = yield* readSettings
  const login = yield* Effect.result(brokerLogin(nats, keeperUser))
  if (Result.isSuccess(login)) {
    if (login.success.isHome) {
      return yield* new CommandRefused({
        reason: `a fleet runs in ${home}; stop it first, for its roles would write meanwhile`
      })
    }
    return yield* Effect.provide(handBack, busOf(nats, { keptUser: keeperUser }))
  }
  const { failure } = login
  if (!(failure instanceof CommandRefused) || failure.exitCode !== 69) return yield* failure
  yield* Effect.provide(handBack, Layer.provideMerge(busAlone, brokerAlone(home)))
  yield* moveStoreBack(dataFolder(natsFolder(home)))
})

const busAlone = Layer.unwrap(
  Effect.map(NatsServer, ({ url, passwordOf }) =>
    busServices.pipe(
      Layer.provideMerge(
        Nats.layerWith({
          servers: [url],
          name: "command",
          user: keeperUser,
          password: Redacted.make(passwordOf(keeperUser))
        })
      ),
      Layer.provideMerge(Metrics.layerTest),
      Layer.provide(Layer.succeed(Role, "operator"))
    )
  )
)

/** On a broker whose roles are stopped. A second run changes nothing more. */
const handBack = Effect.gen(function* () {
  yield* closeToServices
  const position = yield* cursorBack
  const renamed = yield* renameEvents
  yield* print(
    `the relay of a release before accounts goes on after record ${position} of LOG; ${renamed} events of services wait under its subjects`
  )
})

/**
 * The broker runs until it is stopped, and services with it: events published after the renaming would have a subject
 * that the earlier release refuses. Their publishes fail as not stored instead, and they retry. The streams of either
 * release open EVENTS again.
 */
const closeToServices = Effect.gen(function* () {
  const nats = yield* Nats
  yield* nats.use("close EVENTS to services", async ({ manager }) => {
    const { config } = await manager.streams.info("EVENTS")
    const open = config.subjects.filter((subject) => storedEventName(subject)?.from === undefined)
    if (open.length < config.subjects.length) await manager.streams.update("EVENTS", { subjects: open })
  })
})

const cursorBack = Effect.gen(function* () {
  const { stream, subject, codec } = eventRelayPlace
  const stored = yield* (yield* StreamReader).last(stream, subject)
  if (Option.isNone(stored)) return 0
  const { data } = stored.value
  yield* (yield* Publisher).publishRaw(subjects.eventsCursor, data)
  return Option.match(Result.getSuccess(codec.decode(stored.value)), {
    onNone: () => 0,
    onSome: ({ cursor }) => cursor.position
  })
})

/**
 * Events from outside that an endpoint can still need are moved to the subject of their name. An endpoint that already
 * had one gets it again, which is rare: only a paused endpoint keeps the others waiting.
 */
const renameEvents = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds("EVENTS")
  const from = yield* firstNeeded
  if (from > lastSequence) return 0
  const waiting = reader
    .range("EVENTS", { fromSequence: from, toSequence: lastSequence })
    .pipe(Stream.filter(({ subject }) => storedEventName(subject)?.from !== undefined))
  return yield* Stream.runFoldEffect(
    waiting,
    () => 0,
    (count, message) => Effect.as(rename(message), count + 1)
  )
})

const rename = Effect.fnUntraced(function* ({ subject, sequence, data, header: valueOf }: SourceMessage) {
  const name = storedEventName(subject)?.name ?? ""
  const traceparent = valueOf(header.traceparent)
  const headers = traceparent === undefined ? [] : [[header.traceparent, traceparent] as const]
  if (mayComeFromOutside(name)) yield* (yield* Publisher).publishRaw(subjects.event(name), data, { headers })
  yield* (yield* StreamReader).remove("EVENTS", sequence)
})

/** The first event still missing from any endpoint, over all lanes. */
const firstNeeded = Effect.gen(function* () {
  const { streams } = yield* readDeliveryLanes
  const places = yield* Effect.forEach(
    Array.from({ length: streams }, (_, lane) => lane),
    (lane) =>
      Effect.map(readFanOutCursor(lane), (cursor) =>
        Option.match(cursor, {
          onNone: () => 1,
          onSome: ({ position, next }) => Math.min(position + 1, ...Object.values(next))
        })
      )
  )
  return Math.max(1, Math.min(...places))
})
