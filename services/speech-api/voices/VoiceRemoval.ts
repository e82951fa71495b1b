/**
 * Removes voices: those that a caller deletes, those whose making failed, and those that a dying process left behind.
 * First the voice stops being one, then its sample and picture go, then its consent is noted as over (its recording
 * stays), and last its record goes. Any step may be repeated, by any process.
 */
import { Clock, Context, Effect, Layer, Schedule, Stream } from "effect"
import { type BusError, Objects } from "#bus"
import { Metrics } from "#runtime"
import { ClonedVoices, type TakenPlace } from "./ClonedVoices.ts"
import { Consents } from "./Consents.ts"
import { voicesSwept } from "../metrics.ts"
import { VoiceFiles, type VoicePlace } from "./VoiceFiles.ts"

export class VoiceRemoval extends Context.Service<
  VoiceRemoval,
  {
    /** True when it was a voice until now; it is gone even if some of its parts could not be removed yet. */
    readonly remove: (place: VoicePlace) => Effect.Effect<boolean, BusError>
    /** Drops a voice whose making failed. Never fails: the sweep removes what is left. */
    readonly giveUp: (place: TakenPlace) => Effect.Effect<void>
    /** Removes what unfinished makings and removals left behind; answers with the number of voices. */
    readonly sweep: Effect.Effect<number, BusError>
  }
>()("starling/speech-api/VoiceRemoval") {
  static readonly layer = Layer.effect(
    VoiceRemoval,
    Effect.gen(function* () {
      const voices = yield* ClonedVoices
      const consents = yield* Consents
      const files = yield* VoiceFiles
      const objects = yield* Objects
      const swept = (yield* Metrics).counter(voicesSwept)

      const clear = Effect.fnUntraced(function* (place: VoicePlace) {
        yield* files.remove(place, "sample")
        yield* files.remove(place, "avatar")
        yield* files.remove(place, "reference")
        const isConsented = yield* consents.close(place)
        if (!isConsented) yield* files.remove(place, "consent")
        yield* voices.forget(place)
      })
      const clearLater = (place: VoicePlace) =>
        clear(place).pipe(
          Effect.catch((error) => Effect.logWarning("a voice could not be cleared away yet", error)),
          Effect.annotateLogs({ voice: place.id })
        )

      const remove = Effect.fn("VoiceRemoval.remove")(function* (place: VoicePlace) {
        const wasVoice = yield* voices.leave(place)
        if (wasVoice) yield* clearLater(place)
        return wasVoice
      }, Effect.uninterruptible)

      const giveUp = Effect.fn("VoiceRemoval.giveUp")((place: TakenPlace) =>
        Effect.flatMap(voices.leave(place, place.revision), (hasLeft) =>
          hasLeft ? clearLater(place) : Effect.void
        ).pipe(
          Effect.catch((error) => Effect.logWarning("a voice could not be given up yet", error)),
          Effect.uninterruptible
        )
      )

      const sweep = Effect.gen(function* () {
        const stalled = voices.stalled((yield* Clock.currentTimeMillis) - stalledAfterMs)
        const count = yield* Stream.runFoldEffect(
          stalled,
          () => 0,
          Effect.fnUntraced(function* (sum, { value, revision }) {
            // Another process may have moved it on since it was seen.
            if (!(yield* voices.leave(value, revision))) return sum
            yield* clear(value)
            return sum + 1
          })
        )
        for (const store of stores) yield* objects.removeUnfinished(store, stalledAfterMs)
        swept.inc({}, count)
        return count
      }).pipe(Effect.withSpan("VoiceRemoval.sweep"))

      return VoiceRemoval.of({ remove, giveUp, sweep })
    })
  )

  /** Sweeps at intervals. Several processes may do so at once. */
  static readonly sweeping = Layer.effectDiscard(
    Effect.gen(function* () {
      const removal = yield* VoiceRemoval
      const sweep = removal.sweep.pipe(
        Effect.tap((count) =>
          count === 0
            ? Effect.void
            : Effect.logWarning("cleared away voices whose makers are gone").pipe(Effect.annotateLogs({ count }))
        ),
        Effect.catch((error) => Effect.logWarning("voices could not be swept", error))
      )
      yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))
    })
  )
}

// A create ends or is broken off after five minutes at the latest.
const stalledAfterMs = 900_000
const sweepEvery = "10 minutes"
const stores = ["voice-samples", "consent-recordings"]
