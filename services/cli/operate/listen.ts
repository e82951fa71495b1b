/**
 * `listen`: delivers events to a port of this machine as they are published, signed like a webhook. It reads the
 * console's live events and posts them itself, so the fleet has no endpoint for it: however it ends, nothing is left
 * behind. A broken connection is reopened and resumes after the last event.
 */
import { randomBytes, randomUUID } from "node:crypto"
import { Clock, Effect, Queue, Ref, Result, Schema, type Scope, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { compileFilter, decodeEnvelope, entityOf, isoTime, secretFault } from "#base"
import { type Delivery, endpointIdOf, partitionOf } from "#webhooks/contract"
import { LiveEvent } from "#console/api"
import { requestHeaders, type Signing, standardWebhooksKey } from "#webhooks"
import { CommandRefused, misused, noFleet, note, print, secretIn } from "../console.ts"
import { isAbsent } from "../home-fleet.ts"
import { slipsIn } from "./catalogue.ts"
import { withoutUndefined, type OnConsole, onConsole, placeOf, refusedBy } from "./client.ts"

interface ListenOrder extends OnConsole {
  readonly forwardTo: string
  readonly filter: ReadonlyArray<string>
  /** A file with the secret; otherwise one is generated for this run. */
  readonly secret: string | undefined
  readonly atOnce: number
  readonly printBody: boolean
  readonly json: boolean
}

interface FeedCursor {
  readonly url: string
  readonly token: string
}

type Live = typeof LiveEvent.Type

/** How the events reach the port. */
interface Forwarding extends Pick<ListenOrder, "forwardTo" | "printBody" | "json"> {
  readonly signing: Signing
}

// A few events of each lane can wait; beyond that the console is not read any further, and the broker waits.
const laneRoom = 64
// A restart of the console takes seconds; a fleet that is away longer was stopped.
const outageMsMax = 60_000
const againAfter = "500 millis"

export const listen = Effect.fnUntraced(function* (order: ListenOrder) {
  const { filter, forwardTo } = order
  if (!/^https?:$/u.test(URL.canParse(forwardTo) ? new URL(forwardTo).protocol : "")) {
    return yield* misused(`--forward-to ${forwardTo}? it is a URL such as http://localhost:3000/hooks`)
  }
  const place = yield* placeOf(order)
  const secret =
    order.secret === undefined ? `whsec_${randomBytes(32).toString("base64")}` : yield* secretIn(order.secret)
  const fault = secretFault("standardWebhooks", secret)
  if (fault?.isNoSecret === true) return yield* misused(`--secret is none: ${fault.message}`)
  if (fault !== undefined) yield* note(`--secret: ${fault.message}`)
  const forwarding: Forwarding = { ...order, signing: signingWith(secret) }
  const lanes = yield* openLanes(order.atOnce, (event) => forward(event, forwarding))
  const wants = compileFilter(filter)
  const newest = yield* onConsole(order, (client) => client.listEvents({ query: { limit: "1" } }))
  const seen = yield* Ref.make(newest.items[0]?.sequence ?? 0)
  const take = Effect.fnUntraced(function* (event: Live) {
    yield* Ref.set(seen, event.sequence)
    if (event.envelope === null) return yield* new CommandRefused({ reason: "this token may not read payloads" })
    if (wants(event.event)) yield* Queue.offer(laneOf(lanes, event), event)
  })
  for (const slip of yield* onConsole(order, (client) => slipsIn(client, filter))) yield* note(slip)

  const connection: Connection = { hasBegun: false, brokenSinceMs: undefined }
  while (true) {
    const after = yield* Ref.get(seen)
    const [only, ...others] = filter
    const query = { event: others.length === 0 ? only : undefined, after }
    const connected = Effect.suspend(() => {
      const text = connection.hasBegun ? "connected again" : beginning(order, secret)
      Object.assign(connection, { hasBegun: true, brokenSinceMs: undefined })
      return note(text)
    })
    const ended = yield* Effect.result(Stream.runForEach(live(place, query, connected), take))
    const error = Result.isFailure(ended) ? ended.failure : new Broken({ reason: "the console ended the stream" })
    if (!(error instanceof Broken)) return yield* error
    yield* again(connection, error, place)
  }
}, Effect.scoped)

interface Connection {
  hasBegun: boolean
  brokenSinceMs: number | undefined
}

/** Waits before the next connection. Fails if there was none before, or if the console stays away. */
const again = Effect.fnUntraced(function* (connection: Connection, error: Broken, { url }: FeedCursor) {
  const nowMs = yield* Clock.currentTimeMillis
  const isLost = nowMs - (connection.brokenSinceMs ?? nowMs) > outageMsMax
  if (!connection.hasBegun || isLost) {
    if (error.isAbsent === true)
      return yield* noFleet(`no console answers at ${url}; start the fleet with ./starling up`)
    return yield* new CommandRefused({ reason: `the console at ${url}: ${error.reason}` })
  }
  if (connection.brokenSinceMs === undefined) yield* note(`the connection broke (${error.reason}); trying again`)
  connection.brokenSinceMs ??= nowMs
  yield* Effect.sleep(againAfter)
})

const beginning = ({ filter, forwardTo }: ListenOrder, secret: string) =>
  [
    `${filter.length === 0 ? "all events but progress" : filter.join(", ")} → ${forwardTo}; Ctrl-C ends it`,
    `signed with ${secret}`
  ].join("\n")

const signingWith = (secret: string): Signing => ({
  secrets: [{ key: secret, notAfterMs: null }],
  standardWebhooksKeys: [{ key: standardWebhooksKey(secret), notAfterMs: null }],
  headers: undefined
})

type Lanes = ReadonlyArray<Queue.Queue<Live>>

/** Each lane processes one event after the other: those about the same entity share a lane, and stay in order. */
const openLanes = Effect.fnUntraced(function* (
  count: number,
  act: (event: Live) => Effect.Effect<void>
): Effect.fn.Return<Lanes, never, Scope.Scope> {
  return yield* Effect.forEach(Array.from({ length: count }), () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<Live>(laneRoom)
      yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(queue), act)))
      return queue
    })
  )
})

const laneOf = (lanes: Lanes, { entity, sequence }: Live) => {
  const { length } = lanes
  const lane = lanes[entity === null ? sequence % length : partitionOf(endpointIdOf(entity), length)]
  if (lane === undefined) throw new RangeError("there are no lanes")
  return lane
}

/** The connection ended and can be reopened. */
class Broken extends Schema.TaggedError<Broken>()("Broken", {
  reason: Schema.String,
  isAbsent: Schema.optionalKey(Schema.Boolean)
}) {}

// The console sends something every ten seconds, if only a sign of life.
const silenceMax = "30 seconds"
// The largest event is 1 MiB; as JSON in JSON it takes at most twice that.
const messageCharactersMax = 4 * 1_024 * 1_024

interface LiveQuery {
  readonly event: string | undefined
  /** Events after it, including those published before the connection is made. */
  readonly after: number
}

/** The console's live events. Fails with `Broken` when the connection breaks, otherwise with the refusal. */
const live = ({ url, token }: FeedCursor, query: LiveQuery, connected: Effect.Effect<void>) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const asked = withoutUndefined({ event: query.event, after: String(query.after) })
      const response = yield* Effect.tryPromise({
        try: (signal) =>
          fetch(`${url}/events/live?${new URLSearchParams(asked as Record<string, string>).toString()}`, {
            headers: { authorization: `Bearer ${token}` },
            signal
          }),
        catch: brokenBy
      })
      const { body } = response
      if (!response.ok || body === null) return yield* refused(response, url)
      yield* connected
      return Stream.fromReadableStream({ evaluate: () => body, onError: brokenBy }).pipe(
        Stream.timeoutOrElse({
          duration: silenceMax,
          orElse: () => Stream.fail(new Broken({ reason: "the console is silent" }))
        }),
        Stream.decodeText,
        Stream.pipeThroughChannel(Sse.decode({ maxEventSize: messageCharactersMax })),
        Stream.catchTags({
          SseError: ({ message }) => Stream.fail(new CommandRefused({ reason: `the console's events: ${message}` })),
          // The console requests a new connection after a time.
          Retry: () => Stream.fail(new Broken({ reason: "the console asks for another connection" }))
        }),
        Stream.mapEffect(({ data }) => decodeLive(data))
      )
    })
  )

const brokenBy = (cause: unknown) => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return new Broken({ reason: inner instanceof Error ? inner.message : String(inner), isAbsent: isAbsent(cause) })
}

const refused = Effect.fnUntraced(function* (response: Response, url: string) {
  const text = yield* Effect.tryPromise({ try: () => response.text(), catch: brokenBy })
  // The broker is away, or there are too many listeners: both can pass.
  if (response.status === 503) return yield* new Broken({ reason: "the console is not available" })
  const envelope = Result.getOrElse(Schema.decodeResult(Schema.fromJsonString(Schema.Unknown))(text), () => text)
  return yield* refusedBy(envelope, url)
})

const decode = Schema.decodeEffect(Schema.fromJsonString(LiveEvent))
const decodeLive = (data: string) =>
  Effect.mapError(
    decode(data),
    (error) => new CommandRefused({ reason: `the console sent no event: ${error.message}` })
  )

// Same as a dispatcher's default.
const answerWithinMs = 10_000
const answerBytesMax = 64 * 1_024

interface Answer {
  readonly status?: number
  readonly error?: string
}

const forward = Effect.fnUntraced(function* (event: Live, { forwardTo, signing, json, printBody }: Forwarding) {
  const body = new TextEncoder().encode(event.envelope ?? "")
  const startedMs = yield* Clock.currentTimeMillis
  const headers = requestHeaders(signing, { delivery: deliveryOf(event, startedMs), body }, startedMs)
  const before = performance.now()
  const answer = yield* Effect.tryPromise((signal) => post(forwardTo, { headers, body, signal })).pipe(
    Effect.map((status): Answer => ({ status })),
    Effect.timeoutOrElse({
      duration: answerWithinMs,
      orElse: () => Effect.succeed<Answer>({ error: `no answer within ${answerWithinMs / 1_000} s` })
    }),
    Effect.catch((error) => Effect.succeed<Answer>({ error: brokenBy(error.cause).reason }))
  )
  const ms = Math.round((performance.now() - before) * 10) / 10
  const at = isoTime(startedMs)
  if (json) {
    const { sequence, event: name, entity } = event
    const shown = printBody ? { body: event.envelope } : {}
    return yield* print(JSON.stringify({ at, sequence, event: name, entity, ...answer, ms, ...shown }))
  }
  yield* print(`${at} #${event.sequence} ${event.event} → ${answer.status ?? answer.error} in ${ms} ms`)
  if (printBody) yield* print(prettyOf(event.envelope ?? ""))
})

const post = async (
  url: string,
  request: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array<ArrayBuffer>
    readonly signal: AbortSignal
  }
) => {
  const response = await fetch(url, { method: "POST", redirect: "manual", ...request })
  // Read, so that the connection can be reused; a long answer is truncated.
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += (part as Uint8Array).length
    if (bytes > answerBytesMax) break
  }
  return response.status
}

const deliveryOf = ({ event, sequence, envelope, storedAt }: Live, nowMs: number): Delivery => {
  const read = Result.getOrUndefined(decodeEnvelope(jsonOf(envelope ?? "")))?.envelope
  const entity = read === undefined ? undefined : entityOf(read)
  return {
    deliveryId: randomUUID(),
    endpointId: "listen",
    event,
    // A publisher may have sent one that is not in the catalogue.
    schemaVersion: read?.eventSchemaVersion ?? "0.0.0",
    sequence,
    attempt: 1,
    storedAt: Date.parse(storedAt),
    dueAt: nowMs,
    ...(entity === undefined ? {} : { entity })
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const prettyOf = (text: string) => {
  const value = jsonOf(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}
