/**
 * The fleet over HTTP: its live processes, the broker's streams, the speech instances, and the settings of this
 * process.
 */
import { Cache, Context, Effect, Exit, Layer, Stream } from "effect"
import {
  type BrokerStream,
  ConditionsGroup,
  consumersShownMax,
  FleetGroup,
  HistoryGroup,
  SettingsGroup,
  SpeechGroup,
  type StreamConsumer,
  StreamsGroup,
  TimelineGroup
} from "#console/api"
import { Admission, Caller, eventsAnswer, HttpCall, jsonAnswer, jsonEvent, notFound, routesOf } from "#http"
import {
  type BusError,
  type ConsumerFigures,
  Consumers,
  Kv,
  Leases,
  type StreamFigures,
  StreamReader,
  type Topology,
  topologyOf
} from "#bus"
import { deliveryLanesMax, isoTime } from "#base"
import { Configuration, ConfigurationOrigin, effectiveSettings, isJson } from "#configuration"
import { SpeechFigures } from "#speech/contract"
import { Secrets } from "#runtime"
import { ConditionWatch } from "../ConditionWatch.ts"
import { FleetHistory } from "../FleetHistory.ts"
import { FleetWatch } from "../FleetWatch.ts"
import { Timeline } from "../Timeline.ts"
import { apiOptions, cursorText, offsetOf, refusing, timesOf, whileSignedIn } from "./requests.ts"

export const fleetRoutes = routesOf(
  FleetGroup,
  {
    getFleet: () =>
      Effect.gen(function* () {
        const shown = yield* (yield* FleetWatch).frame
        return jsonAnswer({ ...shown, conditions: yield* (yield* ConditionWatch).now })
      }),

    streamFleet: () =>
      Effect.gen(function* () {
        yield* (yield* Admission).enter((yield* Caller).workspace)
        const { frames } = yield* FleetWatch
        const { now } = yield* ConditionWatch
        const whole = Stream.mapEffect(frames, (frame) => Effect.map(now, (conditions) => ({ ...frame, conditions })))
        return yield* eventsAnswer(whileSignedIn(Stream.map(whole, (frame) => jsonEvent(frame))))
      })
  },
  apiOptions
)

export const conditionRoutes = routesOf(
  ConditionsGroup,
  { listConditions: () => Effect.flatMap(ConditionWatch, ({ now }) => Effect.map(now, (all) => jsonAnswer(all))) },
  apiOptions
)

export const historyRoutes = routesOf(
  HistoryGroup,
  {
    getHistory: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        return jsonAnswer(yield* (yield* FleetHistory).view(asked))
      })
  },
  apiOptions
)

export const timelineRoutes = routesOf(
  TimelineGroup,
  {
    getTimeline: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } = yield* timesOf(asked)
        const all = yield* (yield* Timeline).all
        const items = all.filter(({ at, kind }) => {
          const atMs = Date.parse(at)
          return atMs >= sinceMs && atMs <= untilMs && (asked.kind === undefined || kind === asked.kind)
        })
        return jsonAnswer({ items })
      })
  },
  apiOptions
)

// More pods than any fleet has; a record has 16 KiB at most.
const processesMax = 256

export const speechRoutes = routesOf(
  SpeechGroup,
  {
    getSpeech: () =>
      Effect.gen(function* () {
        const bucket = yield* refusing((yield* Kv).open("speech-figures", SpeechFigures))
        const announced = yield* refusing(Stream.runCollect(Stream.take(bucket.scan("*"), processesMax)))
        const voices = new Map(
          announced.flatMap(({ value }) => value.voices.map((voice) => [voice.id, voice] as const))
        )
        return jsonAnswer({
          sessions: announced.reduce((sum, { value }) => sum + value.sessions, 0),
          processes: announced.map(({ key, value: { startedAtMs, voices: _voices, ...figures } }) => ({
            instance: key,
            startedAt: isoTime(startedAtMs),
            ...figures
          })),
          // A process takes its voices with it when it goes.
          voices: [...voices.values()].map((voice) => ({ ...voice, hasPreview: true }))
        })
      })
  },
  apiOptions
)

/** Redacts the secrets known to this process from every text in a value: one can be where none belongs. */
const redacted = (value: unknown, redact: (text: string) => string): unknown => {
  if (typeof value === "string") return redact(value)
  if (Array.isArray(value)) return value.map((entry) => redacted(entry, redact))
  if (!isJson(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, redacted(part, redact)]))
}

export const settingRoutes = routesOf(
  SettingsGroup,
  {
    listSettings: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const { offset, limit } = yield* offsetOf(asked)
        const { file, sources } = yield* ConfigurationOrigin
        const { redact } = yield* Secrets
        const all = effectiveSettings(yield* Configuration, sources).filter(
          ({ key }) => asked.section === undefined || key.startsWith(`${asked.section}.`)
        )
        const items = all.slice(offset, offset + limit).map((setting) => ({
          ...setting,
          value: redacted(setting.value, redact),
          default: redacted(setting.default, redact)
        }))
        const next = offset + items.length
        return jsonAnswer({ file, items, nextCursor: next >= all.length ? null : cursorText(String(next)) })
      })
  },
  apiOptions
)

const timeOrNull = (epochMs: number | null) => (epochMs === null ? null : isoTime(epochMs))

const consumerView = ({ filterSubjects, lastDeliveredAtMs, ...rest }: ConsumerFigures): StreamConsumer => ({
  ...rest,
  subjects: filterSubjects,
  lastDeliveredAt: timeOrNull(lastDeliveredAtMs)
})

type Measured = Omit<StreamFigures, "lostAt">

const stateView = ({ ageMsMax, firstAtMs, lastAtMs, consumers, ...rest }: Measured): BrokerStream["state"] => ({
  ...rest,
  ageSecondsMax: ageMsMax === null ? null : ageMsMax / 1_000,
  firstAt: timeOrNull(firstAtMs),
  lastAt: timeOrNull(lastAtMs),
  consumerCount: consumers
})

/** The consumers with the largest backlogs, busiest first. Pure. */
export const busiest = (consumers: ReadonlyArray<ConsumerFigures>): ReadonlyArray<ConsumerFigures> =>
  consumers
    .toSorted((left, right) => workOf(right) - workOf(left) || (left.name < right.name ? -1 : 1))
    .slice(0, consumersShownMax)

const workOf = ({ pending, unacked }: ConsumerFigures) => pending + unacked

type Declared = Pick<BrokerStream, "name" | "kind" | "purpose" | "atLimit"> & { readonly stored: string }

/** Everything the topology declares; `stored`: the broker's name for it. */
const declaredIn = (topology: Topology): ReadonlyArray<Declared> => [
  ...topology.streams.map(({ name, why, discard }): Declared => ({
    name,
    kind: "stream",
    purpose: why,
    atLimit: discard === "new" ? "refuses" : "evicts",
    stored: name
  })),
  ...topology.buckets.map(({ name, why }): Declared => ({
    name,
    kind: "bucket",
    purpose: why,
    atLimit: "refuses",
    stored: `KV_${name}`
  })),
  ...topology.objectStores.map(({ name, why }): Declared => ({
    name,
    kind: "store",
    purpose: why,
    atLimit: "refuses",
    stored: `OBJ_${name}`
  }))
]

// A stream without a leader does not answer at all, and must not hide the others.
const answerWithin = "2 seconds"
// About fifty requests in all; the broker answers each in well under a millisecond.
const questionsAtOnce = 16

/** A stream's current state, or why it is unknown. */
const lookAt = Effect.fnUntraced(function* ({ stored, ...head }: Declared) {
  const reader = yield* StreamReader
  const consumers = yield* Consumers
  const firstConsumers = head.kind === "stream" ? consumers.page(stored, 0) : Effect.succeed({ consumers: [] })
  return yield* Effect.all([reader.figures(stored), firstConsumers], { concurrency: 2 }).pipe(
    Effect.map(([{ lostAt, ...figures }, page]): BrokerStream => ({
      ...head,
      state: stateView(figures),
      trouble: lostAt === undefined ? null : `lost at ${lostAt} with all that lay in it, and made again`,
      consumers: busiest(page.consumers).map(consumerView)
    })),
    Effect.timeoutOrElse({ duration: answerWithin, orElse: () => Effect.succeed(silent(head, "no answer in time")) }),
    Effect.catch((error) => Effect.succeed(silent(head, troubleOf(error))))
  )
})

const silent = (head: Omit<Declared, "stored">, trouble: string): BrokerStream => ({
  ...head,
  state: null,
  trouble,
  consumers: []
})

const troubleOf = (error: BusError) => {
  if (error._tag === "BusNotFound") return "the broker does not have it"
  if (error._tag === "BusRefused" && error.forbidden !== undefined)
    return "the broker's user console may not look at it"
  return error.detail
}

const lookAtAll = Effect.gen(function* () {
  const { WebhookDelivery } = yield* Configuration
  // With the broker away nothing is known, which is a refusal.
  yield* (yield* StreamReader).bounds("AUDIT")
  return yield* Effect.forEach(declaredIn(topologyOf(WebhookDelivery.Lanes)), lookAt, { concurrency: questionsAtOnce })
})

/** A result is reused for a second, so that many viewers cost the broker no more than one. */
export class StreamsSeen extends Context.Service<
  StreamsSeen,
  { readonly all: Effect.Effect<ReadonlyArray<BrokerStream>, BusError> }
>()("starling/console/StreamsSeen") {
  static readonly layer = Layer.effect(
    StreamsSeen,
    Effect.gen(function* () {
      const context = yield* Effect.context<StreamReader | Consumers>()
      const cache = yield* Cache.makeWith(() => Effect.provideContext(lookAtAll, context), {
        capacity: 1,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? "1 second" : "0 millis")
      })
      return StreamsSeen.of({ all: Cache.get(cache, "all") })
    })
  )
}

export const streamRoutes = routesOf(
  StreamsGroup,
  {
    listStreams: () =>
      Effect.gen(function* () {
        return jsonAnswer({ items: yield* refusing((yield* StreamsSeen).all) })
      }),

    listConsumers: ({ query }) =>
      Effect.gen(function* () {
        const { offset, limit } = yield* offsetOf(yield* query)
        const { stream = "" } = (yield* HttpCall).params
        const known = topologyOf(deliveryLanesMax).streams.some(({ name }) => name === stream)
        if (!known) return yield* notFound("there is no such stream")
        const { total, consumers } = yield* refusing((yield* Consumers).page(stream, offset))
        const items = consumers.slice(0, limit).map(consumerView)
        const next = offset + items.length
        return jsonAnswer({
          items,
          nextCursor: items.length === 0 || next >= total ? null : cursorText(String(next))
        })
      }),

    listLeases: () =>
      Effect.gen(function* () {
        const held = yield* refusing((yield* Leases).held)
        return jsonAnswer({
          items: held.map(({ key, holder, untilMs }) => ({ key, holder, until: isoTime(untilMs) }))
        })
      })
  },
  apiOptions
)
