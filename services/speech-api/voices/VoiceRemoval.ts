/**
 * Removes voices: those that a caller deletes, those whose creation failed, and those that a dying process left behind.
 * First the voice stops being one, then its sample and picture are removed, then its consent is marked as ended (its
 * recording stays), and last its record is removed. Any step can be repeated, by any process.
 */
import { Clock, Context, Effect, Layer, Schedule, Stream } from "effect"
import { type BusError, Objects } from "#bus"
import { ClonedVoices, type Reservation } from "./ClonedVoices.ts"
import { Consents } from "./Consents.ts"
import { VoiceFiles, type VoiceAddress } from "./VoiceFiles.ts"

export class VoiceRemoval extends Context.Service<
  VoiceRemoval,
  {
    /** True if it was a voice until now; it is gone even if some of its parts could not be removed yet. */
    readonly remove: (address: VoiceAddress) => Effect.Effect<boolean, BusError>
    /** Drops a voice whose creation failed. Never fails: the sweep removes the rest. */
    readonly giveUp: (reservation: Reservation) => Effect.Effect<void>
    /** Removes what unfinished creations and removals left behind; returns the number of voices. */
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

      const clear = Effect.fnUntraced(function* (address: VoiceAddress) {
        yield* files.remove(address, "sample")
        yield* files.remove(address, "avatar")
        yield* files.remove(address, "reference")
        const isConsented = yield* consents.close(address)
        if (!isConsented) yield* files.remove(address, "consent")
        yield* voices.erase(address)
      })
      const clearNow = (address: VoiceAddress) =>
        clear(address).pipe(
          Effect.catch((error) => Effect.logWarning("a voice could not be cleared away yet", error)),
          Effect.annotateLogs({ voice: address.id })
        )

      const remove = Effect.fn("VoiceRemoval.remove")(function* (address: VoiceAddress) {
        const wasVoice = yield* voices.retire(address)
        if (wasVoice) yield* clearNow(address)
        return wasVoice
      }, Effect.uninterruptible)

      const giveUp = Effect.fn("VoiceRemoval.giveUp")((reservation: Reservation) =>
        Effect.flatMap(voices.retire(reservation, reservation.revision), (isRetired) =>
          isRetired ? clearNow(reservation) : Effect.void
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
            // Another process can have changed it since it was read.
            if (!(yield* voices.retire(value, revision))) return sum
            yield* clear(value)
            return sum + 1
          })
        )
        for (const store of stores) yield* objects.removeUnfinished(store, stalledAfterMs)
        return count
      }).pipe(Effect.withSpan("VoiceRemoval.sweep"))

      return VoiceRemoval.of({ remove, giveUp, sweep })
    })
  )

  /** Sweeps at intervals. Several processes can do so at once. */
  static readonly sweeping = Layer.effectDiscard(
    Effect.gen(function* () {
      const removal = yield* VoiceRemoval
      const sweep = removal.sweep.pipe(
        Effect.tap((count) =>
          count === 0
            ? Effect.void
            : Effect.logWarning("cleared away voices whose creation or removal was cut off").pipe(
                Effect.annotateLogs({ count })
              )
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
