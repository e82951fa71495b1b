/**
 * Admission decides which callers can start to be heard: a queue of waiting callers, and `admit`'s decision based on
 * what is measured of the present listeners. A caller starts at once if nothing holds it up. While a caller waits or a
 * listener runs short, a listener with a full buffer yields: it gets no more audio until it has less.
 */
import { Clock, Context, Deferred, Effect, Layer, type Scope } from "effect"
import { speechSampleRateHz } from "#speech/contract"
import { Configuration } from "#configuration"
import { loopLateness, Metrics } from "#runtime"
import { admit, type AdmissionVerdict, type Asker, lateMsMax, type Listener, listeners } from "#speech"
import { SpeechOverloaded } from "../refusals.ts"
import { beginnings, beginSeconds, refusals, waitingCallers } from "../metrics.ts"

interface Entrance {
  /** The engine that speaks. */
  readonly engine: string
  readonly arrivedAtMs: number
  /** Whether the caller plays the audio as it comes. */
  readonly plays: boolean
  /** How long its audio will be, approximately. */
  readonly soundMs: number
  /** The same for a repeated request. */
  readonly request: string
  /** Whether it waits its turn instead of being told to come back: a live connection's next words. */
  readonly waitsTurn?: boolean
  /** Whether its listener has started with earlier words, and would fall silent without these. */
  readonly isContinuation?: boolean
}

/** How fast a session can go while there are listeners. */
export interface SessionPace {
  /** The time until which it looks for a sequencer. */
  readonly begunByMs: () => number
  /** The caller was not refused in time, and has waited long enough for a sequencer that accepts voluntarily. */
  readonly mustBegin: () => boolean
  /** Waits until it can take more audio. */
  readonly turn: Effect.Effect<void>
  /** How far it can run ahead. */
  readonly windowSamplesMax: () => number
}

export interface Pace extends SessionPace {
  readonly listener: Listener
}

interface Waiter extends Entrance {
  readonly decided: Deferred.Deferred<Listener, SpeechOverloaded>
  isPromised: boolean
  listener: Listener | undefined
}

// The rest of the second within which a refusal is due is for the sequencer's answer and for two busy cores.
const decideWithinMs = 500
const refusedWithinMs = 750
// A caller that was promised a slot also waits for a sequencer. So does one whose refusal deadline passed while this
// process itself was late.
const patientlyMs = 5_000
// Within that time, sequencers can accept such a caller voluntarily, so that the idlest does; then any must.
const willinglyMsMax = 2_500
// Reading and refusing a thousand callers takes one second of a processor.
const waitingMax = 256
// More than come back within a minute, the longest time that one is told to wait.
const rememberedMax = 1_024
// A slot becomes free every few milliseconds, and the next caller takes it.
const lookEveryMs = 20
// A buffer that lasts longer than a crowd takes to start.
const plentyMs = 5_000
// After this long it checks again whether the others still need it to wait.
const heldMsMax = 250
// A crowded window holds only what a listener should have buffered, and what is in flight to it.
const crowdedWindowSamples = 5 * speechSampleRateHz

// A piece is up to half a second long. An engine that is faster than that would keep all roles busy with one book.
const backgroundEveryMs = 10

type Refusal = Extract<AdmissionVerdict, { readonly _tag: "Refuse" }>

type RecentlyRefused = Pick<Entrance, "engine" | "request"> & { readonly untilMs: number }

/** The callers waiting to start, and the state that decides about them. */
interface AdmissionQueue extends Effect.Success<typeof queueOf> {}

const gaugesOf = Effect.map(Metrics, (metrics) => ({
  beginnings: metrics.gauge(beginnings),
  waiting: metrics.gauge(waitingCallers),
  seconds: metrics.gauge(beginSeconds)
}))

const queueOf = Effect.gen(function* () {
  const { SpeechApi } = yield* Configuration
  const clock = yield* Clock.Clock
  const beginWithinMs = SpeechApi.FirstSoundSecondsMax * 1_000
  return {
    limits: { awaitingMax: SpeechApi.BeginningsAtOnce, decideWithinMs, beginWithinMs, waitingMax },
    listening: listeners(),
    lateMs: yield* loopLateness,
    nowMs: () => clock.currentTimeMillisUnsafe(),
    scope: yield* Effect.scope,
    refused: (yield* Metrics).counter(refusals),
    gauges: yield* gaugesOf,
    waiting: [] as ReadonlyArray<Waiter>,
    /** Callers that were told to come back; until then they count as ahead of later callers. */
    recentlyRefused: [] as ReadonlyArray<RecentlyRefused>,
    /** A loop is already deciding every few milliseconds. */
    isWatched: false
  }
})

export class SpeechAdmission extends Context.Service<
  SpeechAdmission,
  {
    /** Takes a slot among the listeners, until the scope closes. */
    readonly enter: (entrance: Entrance) => Effect.Effect<Pace, SpeechOverloaded, Scope.Scope>
    /** For a session that nobody listens to: it takes no slot, and rests while a listener or a caller needs this process. */
    readonly background: Effect.Effect<Pace>
    /** Counts a refusal that another part decided on. */
    readonly refused: (reason: (typeof refusals.values.reason)[number]) => void
  }
>()("starling/speech-api/SpeechAdmission") {
  static readonly layer = Layer.effect(
    SpeechAdmission,
    Effect.map(queueOf, (queue) =>
      SpeechAdmission.of({
        enter: (entrance) => enter(queue, entrance),
        background: Effect.sync(() => backgroundPace(queue)),
        refused: (reason) => queue.refused.inc({ reason })
      })
    )
  )
}

const enter = Effect.fnUntraced(function* (queue: AdmissionQueue, entrance: Entrance) {
  const decided = Deferred.makeUnsafe<Listener, SpeechOverloaded>()
  const { isContinuation = false, request, waitsTurn = false } = entrance
  const waiter: Waiter = { ...entrance, decided, isPromised: isContinuation || waitsTurn, listener: undefined }
  yield* Effect.addFinalizer(() => Effect.sync(() => leave(queue, waiter)))
  queue.recentlyRefused = withoutOne(queue.recentlyRefused, request)
  if (isContinuation) begin(queue, waiter)
  else queue.waiting = [...queue.waiting, waiter]
  decide(queue)
  if (queue.waiting.includes(waiter)) yield* Effect.forkIn(decideWhileOneWaits(queue), queue.scope)
  return paceOf(queue, waiter, yield* Deferred.await(decided))
})

/** A caller that comes back counts once, however often it asks. */
const withoutOne = (recentlyRefused: ReadonlyArray<RecentlyRefused>, request: string) => {
  const at = recentlyRefused.findIndex((one) => one.request === request)
  return at < 0 ? recentlyRefused : recentlyRefused.toSpliced(at, 1)
}

const decideWhileOneWaits = Effect.fnUntraced(function* (queue: AdmissionQueue) {
  if (queue.isWatched) return
  queue.isWatched = true
  while (queue.waiting.length > 0) {
    yield* Effect.sleep(lookEveryMs)
    decide(queue)
  }
  queue.isWatched = false
})

/** Decides on every waiting caller, first come, first served. */
const decide = (queue: AdmissionQueue) => {
  queue.recentlyRefused = queue.recentlyRefused.filter(({ untilMs }) => queue.nowMs() < untilMs)
  const ahead = new Map<string, number>()
  const recentlyRefused = new Map<string, number>()
  for (const { engine } of queue.recentlyRefused) count(recentlyRefused, engine)
  queue.waiting = queue.waiting.filter((waiter) => {
    const { engine } = waiter
    const before = { ahead: ahead.get(engine) ?? 0, recentlyRefused: recentlyRefused.get(engine) ?? 0 }
    const verdict = verdictOn(queue, waiter, before)
    if (verdict._tag === "Begin") begin(queue, waiter)
    if (verdict._tag === "Refuse") {
      refuse(queue, waiter, verdict)
      count(recentlyRefused, engine)
    }
    if (verdict._tag === "Begin" || verdict._tag === "Refuse") return false
    waiter.isPromised ||= verdict._tag === "Promise"
    count(ahead, engine)
    return true
  })
  show(queue)
}

const count = (counts: Map<string, number>, engine: string) => counts.set(engine, (counts.get(engine) ?? 0) + 1)

type Before = Pick<Asker, "ahead" | "recentlyRefused">

const verdictOn = (queue: AdmissionQueue, waiter: Waiter, before: Before) => {
  const { gauges, lateMs, limits, listening, nowMs } = queue
  const { engine, arrivedAtMs, isPromised } = waiter
  const load = { ...listening.load(engine, nowMs()), lateMs: lateMs() }
  gauges.seconds.set({ engine }, load.fullMs / 1_000)
  return admit(load, { ...before, waitedMs: nowMs() - arrivedAtMs, isPromised }, limits)
}

const begin = (queue: AdmissionQueue, waiter: Waiter) => {
  const { listening, nowMs } = queue
  const { engine, plays, soundMs } = waiter
  waiter.listener = decidingOnFirstAudio(queue, listening.enter({ engine, nowMs: nowMs(), plays, soundMs }))
  Deferred.doneUnsafe(waiter.decided, Effect.succeed(waiter.listener))
}

/** Once one is heard, the next can start: at once, not at the next check. */
const decidingOnFirstAudio = (queue: AdmissionQueue, listener: Listener): Listener => ({
  ...listener,
  got: (seconds, nowMs) => {
    const hadAudio = listener.hasAudio()
    listener.got(seconds, nowMs)
    if (!hadAudio && listener.hasAudio() && queue.waiting.length > 0) decide(queue)
  }
})

const refuse = (queue: AdmissionQueue, waiter: Waiter, { reason, retryAfterSeconds }: Refusal) => {
  queue.refused.inc({ reason })
  const { engine, request } = waiter
  const untilMs = queue.nowMs() + retryAfterSeconds * 1_000
  queue.recentlyRefused = [...queue.recentlyRefused.slice(1 - rememberedMax), { engine, request, untilMs }]
  Deferred.doneUnsafe(waiter.decided, Effect.fail(new SpeechOverloaded({ reason, retryAfterSeconds })))
}

const leave = (queue: AdmissionQueue, waiter: Waiter) => {
  queue.waiting = queue.waiting.filter((other) => other !== waiter)
  waiter.listener?.leave(queue.nowMs())
  show(queue)
}

const show = ({ gauges, listening, nowMs, waiting }: AdmissionQueue) => {
  gauges.beginnings.set({}, listening.buffering(nowMs()))
  gauges.waiting.set({}, waiting.length)
}

const paceOf = (queue: AdmissionQueue, waiter: Waiter, listener: Listener): Pace => {
  const { lateMs, limits, nowMs } = queue
  const { arrivedAtMs } = waiter
  const refusedByMs = arrivedAtMs + Math.min(refusedWithinMs, limits.beginWithinMs)
  const begunAtMs = nowMs()
  // Its first audio can be due later than the end of the search for a sequencer.
  const mustBeginAtMs = Math.min(arrivedAtMs + limits.beginWithinMs, begunAtMs + willinglyMsMax)
  const isPromised = () => (waiter.isPromised ||= lateMs() > lateMsMax && nowMs() >= refusedByMs)
  const isContinuation = waiter.isContinuation === true
  return {
    listener,
    begunByMs: () => (isPromised() ? begunAtMs + patientlyMs : refusedByMs),
    mustBegin: () => isContinuation || (isPromised() && nowMs() >= mustBeginAtMs),
    turn: turnOf(queue, listener),
    windowSamplesMax: () => (isCrowded(queue) ? crowdedWindowSamples : Number.POSITIVE_INFINITY)
  }
}

const turnOf = (queue: AdmissionQueue, listener: Listener) =>
  Effect.gen(function* () {
    for (;;) {
      const spareMs = listener.bufferedMs(queue.nowMs()) - plentyMs
      if (spareMs <= 0 || !isCrowded(queue)) return
      // It yields voluntarily: this does not indicate that too little audio is made.
      listener.rests(queue.nowMs())
      yield* Effect.sleep(Math.min(heldMsMax, spareMs))
    }
  })

const nobody: Listener = {
  wants: () => {},
  got: () => {},
  rests: () => {},
  bufferedMs: () => plentyMs,
  mayBegin: () => true,
  hasAudio: () => true,
  leave: () => {}
}

const backgroundPace = (queue: AdmissionQueue): Pace => {
  const begunByMs = queue.nowMs() + patientlyMs
  return {
    listener: nobody,
    begunByMs: () => begunByMs,
    mustBegin: () => false,
    turn: Effect.gen(function* () {
      yield* Effect.sleep(backgroundEveryMs)
      while (isCrowded(queue)) yield* Effect.sleep(heldMsMax)
    }),
    windowSamplesMax: () => crowdedWindowSamples
  }
}

const isCrowded = ({ listening, nowMs, waiting }: AdmissionQueue) =>
  waiting.length > 0 || listening.isAnyInNeed(nowMs())
