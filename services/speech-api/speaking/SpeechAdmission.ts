/**
 * Who may begin to be heard: a queue of those who asked, and the decision of `admit` over what is measured of those
 * who listen. An answer that is held up by nothing begins at once. While somebody waits or is in need, who has
 * plenty in store gives way: it is not fed until it has less.
 */
import { Clock, Context, Deferred, Effect, Layer, type Scope } from "effect"
import { speechSampleRateHz } from "#contracts"
import { Configuration, type CounterHandle, loopLateness, Metrics } from "#runtime"
import {
  admit,
  type AdmissionLimits,
  type AdmissionVerdict,
  lateMsMax,
  type Listener,
  listeners,
  type Listeners
} from "#speech"
import { SpeechOverloaded } from "./refusals.ts"
import { beginnings, beginSeconds, leastStore, refusals, waitingCallers } from "../metrics.ts"

export interface Entrance {
  /** The engine that speaks. */
  readonly engine: string
  readonly arrivedAtMs: number
  /** Whether the caller plays what it gets as it comes. */
  readonly plays: boolean
}

/** How fast an answer may go, as long as others are there. */
export interface Pace {
  readonly listener: Listener
  /** Until then a sequencer is looked for. */
  readonly begunByMs: () => number
  /** Waits until it is right to take more sound for it. */
  readonly turn: Effect.Effect<void>
  /** How far it may run ahead. */
  readonly windowSamplesMax: () => number
}

interface Waiter extends Entrance {
  readonly decided: Deferred.Deferred<Listener, SpeechOverloaded>
  isPromised: boolean
  listener: Listener | undefined
}

// The rest of the second in which a refusal is told goes to the sequencer's answer and to two busy cores.
const decideWithinMs = 500
const refusedWithinMs = 750
// Who was promised to be served waits for a sequencer, too; and while we are late ourselves no silence tells anything.
const patientlyMs = 5_000
// A thousand callers read and refused take a second of a processor.
const waitingMax = 256
// A beginning comes through every few milliseconds, and is followed by the next.
const lookEveryMs = 20
// A store that outlasts what a crowd takes to begin.
const plentyMs = 5_000
// It looks again whether the others still need it to wait.
const heldMsMax = 250
// A crowd's windows hold no more than what a listener should have in store, and the way to it.
const crowdedWindowSamples = 5 * speechSampleRateHz
// Sent away, a caller comes back after some seconds; those are counted as being before who comes later.
const rememberedMs = 5_000

type Refusal = Extract<AdmissionVerdict, { readonly _tag: "Refuse" }>

/** Who waits to begin, and what decides about them. */
interface AdmissionQueue {
  readonly limits: AdmissionLimits
  readonly listening: Listeners
  readonly lateMs: () => number
  readonly nowMs: () => number
  readonly scope: Scope.Scope
  readonly refused: CounterHandle<"reason">
  readonly gauges: Gauges
  waiting: ReadonlyArray<Waiter>
  sentAway: ReadonlyArray<{ readonly engine: string; readonly atMs: number }>
  /** Somebody decides again every few milliseconds. */
  isWatched: boolean
}

const gaugesOf = Effect.map(Metrics, (metrics) => ({
  beginnings: metrics.gauge(beginnings),
  waiting: metrics.gauge(waitingCallers),
  seconds: metrics.gauge(beginSeconds),
  store: metrics.gauge(leastStore)
}))
type Gauges = Effect.Success<typeof gaugesOf>

const queueOf = Effect.gen(function* () {
  const { SpeechApi } = yield* Configuration
  const clock = yield* Clock.Clock
  const beginWithinMs = SpeechApi.FirstSoundSecondsMax * 1_000
  const queue: AdmissionQueue = {
    limits: { youngMax: SpeechApi.BeginningsAtOnce, decideWithinMs, beginWithinMs, waitingMax },
    listening: listeners(),
    lateMs: yield* loopLateness,
    nowMs: () => clock.currentTimeMillisUnsafe(),
    scope: yield* Effect.scope,
    refused: (yield* Metrics).counter(refusals),
    gauges: yield* gaugesOf,
    waiting: [],
    sentAway: [],
    isWatched: false
  }
  return queue
})

export class SpeechAdmission extends Context.Service<
  SpeechAdmission,
  {
    /** Takes a place among those who listen, until the scope closes. */
    readonly enter: (entrance: Entrance) => Effect.Effect<Pace, SpeechOverloaded, Scope.Scope>
    /** Counts a refusal that another part decided on. */
    readonly refused: (reason: string) => void
  }
>()("starling/speech-api/SpeechAdmission") {
  static readonly layer = Layer.effect(
    SpeechAdmission,
    Effect.map(queueOf, (queue) =>
      SpeechAdmission.of({
        enter: (entrance) => enter(queue, entrance),
        refused: (reason) => queue.refused.inc({ reason })
      })
    )
  )
}

const enter = Effect.fnUntraced(function* (queue: AdmissionQueue, entrance: Entrance) {
  const decided = Deferred.makeUnsafe<Listener, SpeechOverloaded>()
  const waiter: Waiter = { ...entrance, decided, isPromised: false, listener: undefined }
  yield* Effect.addFinalizer(() => Effect.sync(() => leave(queue, waiter)))
  queue.waiting = [...queue.waiting, waiter]
  decide(queue)
  if (queue.waiting.includes(waiter)) yield* Effect.forkIn(decideWhileOneWaits(queue), queue.scope)
  return paceOf(queue, waiter, yield* Deferred.await(decided))
})

const decideWhileOneWaits = Effect.fnUntraced(function* (queue: AdmissionQueue) {
  if (queue.isWatched) return
  queue.isWatched = true
  while (queue.waiting.length > 0) {
    yield* Effect.sleep(lookEveryMs)
    decide(queue)
  }
  queue.isWatched = false
})

/** On everybody who waits, first come first served. */
const decide = (queue: AdmissionQueue) => {
  queue.sentAway = queue.sentAway.filter(({ atMs }) => queue.nowMs() - atMs < rememberedMs)
  const ahead = new Map<string, number>()
  queue.waiting = queue.waiting.filter((waiter) => {
    const before = ahead.get(waiter.engine) ?? 0
    const verdict = verdictOn(queue, waiter, before)
    if (verdict._tag === "Begin") begin(queue, waiter)
    if (verdict._tag === "Refuse") refuse(queue, waiter, verdict)
    if (verdict._tag === "Begin" || verdict._tag === "Refuse") return false
    waiter.isPromised ||= verdict._tag === "Promise"
    ahead.set(waiter.engine, before + 1)
    return true
  })
  show(queue)
}

const verdictOn = (queue: AdmissionQueue, { engine, arrivedAtMs, isPromised }: Waiter, ahead: number) => {
  const { gauges, lateMs, limits, listening, nowMs, sentAway } = queue
  const load = { ...listening.load(engine, nowMs()), lateMs: lateMs() }
  gauges.seconds.set({ engine }, load.growMs / 1_000)
  const sent = sentAway.filter((one) => one.engine === engine).length
  return admit(load, { ahead, waitedMs: nowMs() - arrivedAtMs, isPromised, sentAway: sent }, limits)
}

const begin = ({ listening, nowMs }: AdmissionQueue, waiter: Waiter) => {
  waiter.listener = listening.enter({ group: waiter.engine, nowMs: nowMs(), plays: waiter.plays })
  Deferred.doneUnsafe(waiter.decided, Effect.succeed(waiter.listener))
}

const refuse = (queue: AdmissionQueue, waiter: Waiter, { reason, retryAfterSeconds }: Refusal) => {
  queue.refused.inc({ reason })
  queue.sentAway = [...queue.sentAway, { engine: waiter.engine, atMs: queue.nowMs() }]
  Deferred.doneUnsafe(waiter.decided, Effect.fail(new SpeechOverloaded({ reason, retryAfterSeconds })))
}

const leave = (queue: AdmissionQueue, waiter: Waiter) => {
  queue.waiting = queue.waiting.filter((other) => other !== waiter)
  waiter.listener?.leave(queue.nowMs())
  show(queue)
}

const show = ({ gauges, listening, nowMs, waiting }: AdmissionQueue) => {
  gauges.beginnings.set({}, listening.counts(nowMs()).young)
  gauges.waiting.set({}, waiting.length)
  gauges.store.set({}, listening.leastStoreMs(nowMs()) / 1_000)
}

const paceOf = (queue: AdmissionQueue, { isPromised, arrivedAtMs }: Waiter, listener: Listener): Pace => {
  const { lateMs, nowMs } = queue
  const begunAtMs = nowMs()
  return {
    listener,
    begunByMs: () => (isPromised || lateMs() > lateMsMax ? begunAtMs + patientlyMs : arrivedAtMs + refusedWithinMs),
    turn: turnOf(queue, listener),
    windowSamplesMax: () => (isCrowded(queue) ? crowdedWindowSamples : Number.POSITIVE_INFINITY)
  }
}

const turnOf = (queue: AdmissionQueue, listener: Listener) =>
  Effect.gen(function* () {
    for (;;) {
      const spareMs = listener.storeMs(queue.nowMs()) - plentyMs
      if (spareMs <= 0 || !isCrowded(queue)) return
      yield* Effect.sleep(Math.min(heldMsMax, spareMs))
    }
  })

const isCrowded = ({ listening, nowMs, waiting }: AdmissionQueue) =>
  waiting.length > 0 || listening.isAnyInNeed(nowMs())
