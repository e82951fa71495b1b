/**
 * The event of a launch refused for lack of disk space. A runner on a full disk asks every few seconds and is refused
 * every time, so one event is published per runner and mount, and another once the suggested time for the next try has
 * come. Each replica can publish its own; no pickup waits for it or fails with it.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { jsonCodec, Publisher } from "#bus"
import type { PickupQuestion } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { Envelope, eventSchemaVersion, isoTime, setNewest, subjects } from "#base"
import { fullDisk } from "./ready-items.ts"

// Far more runners than one replica answers; beyond it the oldest entry is evicted, and its event can be repeated.
const rememberedMax = 10_000

const event = "disk.deferred"
const envelopes = jsonCodec(Envelope)

export class FullDisks extends Context.Service<
  FullDisks,
  { readonly report: (question: Pick<PickupQuestion, "runner" | "disks">) => Effect.Effect<void> }
>()("starling/pipeline-api/FullDisks") {
  static readonly layer = Layer.effect(
    FullDisks,
    Effect.gen(function* () {
      const { DiskGuard } = yield* Configuration
      const publisher = yield* Publisher
      const retryMs = Math.round(DiskGuard.RetryAfterSeconds * 1_000)
      /** Until when a runner's mount makes no further event, the oldest first. */
      const quietUntilMs = new Map<string, number>()

      const report = Effect.fn("FullDisks.tell")(function* (question: Pick<PickupQuestion, "runner" | "disks">) {
        const full = fullDisk(question, DiskGuard)
        if (full === undefined) return
        const nowMs = yield* Clock.currentTimeMillis
        const key = JSON.stringify([question.runner, full.mountPath])
        if (nowMs < (quietUntilMs.get(key) ?? 0)) return
        // Recorded before the event is published, so that many concurrent questions make one event.
        setNewest(quietUntilMs, key, nowMs + retryMs, rememberedMax)
        const envelope: Envelope = {
          eventSchemaVersion,
          event,
          occurredAt: isoTime(nowMs),
          workItem: null,
          project: null,
          details: {
            mountPath: full.mountPath,
            freeBytes: full.freeBytes,
            thresholdBytes: DiskGuard.MinFreeBytes,
            suggestedRetryAt: isoTime(nowMs + retryMs)
          }
        }
        const forget = Effect.sync(() => quietUntilMs.delete(key))
        yield* publisher.publish(subjects.event(event), envelopes, envelope).pipe(
          Effect.tapError(() => forget),
          Effect.catch((error) => Effect.logWarning("a full disk could not be reported", error))
        )
      })
      return FullDisks.of({ report })
    })
  )
}
