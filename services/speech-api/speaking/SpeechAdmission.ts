/**
 * Who may begin to be heard: a line of those who asked, and the decision of `admit` over what is measured of those
 * who listen. An answer that is held up by nothing begins at once. While somebody waits or is in need, who has
 * plenty in store gives way: it is not fed until it has less.
 */
import { Clock, Context, Deferred, Effect, Layer, type Scope } from "effect"
import { speechSampleRateHz } from "#contracts"
import { Configuration, loopLateness, Metrics } from "#runtime"
import { type AdmissionLimits, admit, lateMsMax, type Listener, listeners, type RefusalReason } from "#speech"
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
    Effect.gen(function* () {
      const { SpeechApi } = yield* Configuration
      const clock = yield* Clock.Clock
      const metrics = yield* Metrics
      const refused = metrics.counter(refusals)
      const gauges = {
        beginnings: metrics.gauge(beginnings),
        waiting: metrics.gauge(waitingCallers),
        seconds: metrics.gauge(beginSeconds),
        store: metrics.gauge(leastStore)
      }
      const limits: AdmissionLimits = {
        youngMax: SpeechApi.BeginningsAtOnce,
        decideWithinMs,
        beginWithinMs: SpeechApi.FirstSoundSecondsMax * 1_000,
        waitingMax
      }
      const late = yield* loopLateness
      const scope = yield* Effect.scope
      const book = listeners()
      const nowMs = () => clock.currentTimeMillisUnsafe()
      let line: ReadonlyArray<Waiter> = []
      let sentAway: ReadonlyArray<{ readonly engine: string; readonly atMs: number }> = []
      let isLooking = false

      const show = () => {
        gauges.beginnings.set({}, book.counts(nowMs()).young)
        gauges.waiting.set({}, line.length)
        gauges.store.set({}, book.leastStoreMs(nowMs()) / 1_000)
      }
      const verdictOn = ({ engine, arrivedAtMs, isPromised }: Waiter, ahead: number) => {
        const load = { ...book.load(engine, nowMs()), lateMs: late() }
        gauges.seconds.set({ engine }, load.growMs / 1_000)
        const sent = sentAway.filter((one) => one.engine === engine).length
        return admit(load, { ahead, waitedMs: nowMs() - arrivedAtMs, isPromised, sentAway: sent }, limits)
      }
      const begin = (waiter: Waiter) => {
        waiter.listener = book.enter({ group: waiter.engine, nowMs: nowMs(), plays: waiter.plays })
        Deferred.doneUnsafe(waiter.decided, Effect.succeed(waiter.listener))
      }
      const refuse = (waiter: Waiter, reason: RefusalReason, retryAfterSeconds: number) => {
        refused.inc({ reason })
        sentAway = [...sentAway, { engine: waiter.engine, atMs: nowMs() }]
        Deferred.doneUnsafe(waiter.decided, Effect.fail(new SpeechOverloaded({ reason, retryAfterSeconds })))
      }
      /** Decides on everybody in line, first come first served. */
      const look = () => {
        sentAway = sentAway.filter(({ atMs }) => nowMs() - atMs < rememberedMs)
        const ahead = new Map<string, number>()
        line = line.filter((waiter) => {
          const before = ahead.get(waiter.engine) ?? 0
          const verdict = verdictOn(waiter, before)
          if (verdict._tag === "Begin") begin(waiter)
          if (verdict._tag === "Refuse") refuse(waiter, verdict.reason, verdict.retryAfterSeconds)
          if (verdict._tag === "Begin" || verdict._tag === "Refuse") return false
          waiter.isPromised ||= verdict._tag === "Promise"
          ahead.set(waiter.engine, before + 1)
          return true
        })
        show()
      }
      const lookWhileOneWaits = Effect.gen(function* () {
        if (isLooking) return
        isLooking = true
        while (line.length > 0) {
          yield* Effect.sleep(lookEveryMs)
          look()
        }
        isLooking = false
      })

      const isCrowded = () => line.length > 0 || book.isAnyInNeed(nowMs())
      const turnOf = (listener: Listener) =>
        Effect.gen(function* () {
          for (;;) {
            const spareMs = listener.storeMs(nowMs()) - plentyMs
            if (spareMs <= 0 || !isCrowded()) return
            yield* Effect.sleep(Math.min(heldMsMax, spareMs))
          }
        })
      const paceOf = ({ isPromised, arrivedAtMs }: Waiter, listener: Listener, begunAtMs: number): Pace => ({
        listener,
        begunByMs: () => (isPromised || late() > lateMsMax ? begunAtMs + patientlyMs : arrivedAtMs + refusedWithinMs),
        turn: turnOf(listener),
        windowSamplesMax: () => (isCrowded() ? crowdedWindowSamples : Number.POSITIVE_INFINITY)
      })
      const leave = (waiter: Waiter) => {
        line = line.filter((other) => other !== waiter)
        waiter.listener?.leave(nowMs())
        show()
      }

      const enter = Effect.fnUntraced(function* (entrance: Entrance) {
        const decided = Deferred.makeUnsafe<Listener, SpeechOverloaded>()
        const waiter: Waiter = { ...entrance, decided, isPromised: false, listener: undefined }
        yield* Effect.addFinalizer(() => Effect.sync(() => leave(waiter)))
        line = [...line, waiter]
        look()
        if (line.includes(waiter)) yield* Effect.forkIn(lookWhileOneWaits, scope)
        return paceOf(waiter, yield* Deferred.await(decided), nowMs())
      })
      return SpeechAdmission.of({ enter, refused: (reason) => refused.inc({ reason }) })
    })
  )
}
