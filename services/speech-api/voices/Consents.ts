/**
 * The consent record: which speaker agreed to a cloned voice. It is written before the voice exists, and outlives it.
 */
import { Clock, Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { type BusError, Kv } from "#bus"
import { isoTime } from "#contracts"
import { ConsentRecord, keyFor, keysOf } from "./records.ts"
import type { VoiceAddress } from "./VoiceFiles.ts"

/** For the command that shows consents. */
export type { ConsentRecord } from "./records.ts"
export { VoiceFiles } from "./VoiceFiles.ts"

export class Consents extends Context.Service<
  Consents,
  {
    /** Replaces a record that a create that was cut off wrote for the same voice. */
    readonly keep: (record: ConsentRecord) => Effect.Effect<void, BusError>
    /** Notes that the voice is gone. True when there is a consent. */
    readonly close: (address: VoiceAddress) => Effect.Effect<boolean, BusError>
    /** The records of one workspace, or of all. */
    readonly list: (workspace?: string) => Stream.Stream<ConsentRecord, BusError>
  }
>()("starling/speech-api/Consents") {
  static readonly layer = Layer.effect(
    Consents,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("consents", ConsentRecord)

      const keep = Effect.fn("Consents.keep")(function* (record: ConsentRecord) {
        const key = keyFor({ workspace: record.workspace, id: record.voiceId })
        const before = yield* bucket.get(key)
        if (Option.isNone(before)) yield* bucket.create(key, record)
        else yield* bucket.update(key, record, before.value.revision)
      })

      const closeOnce = Effect.fnUntraced(function* (address: VoiceAddress) {
        const entry = yield* bucket.get(keyFor(address))
        if (Option.isNone(entry)) return false
        const { key, value, revision } = entry.value
        if (value.voiceDeletedAt !== null) return true
        const voiceDeletedAt = isoTime(yield* Clock.currentTimeMillis)
        yield* bucket.update(key, { ...value, voiceDeletedAt }, revision)
        return true
      })
      const close = Effect.fn("Consents.close")((address: VoiceAddress) =>
        Effect.retry(closeOnce(address), {
          while: (error) => error._tag === "RevisionConflict",
          schedule: Schedule.recurs(closeTriesMax)
        })
      )
      return Consents.of({
        keep,
        close,
        list: (workspace) =>
          Stream.map(bucket.scan(workspace === undefined ? ">" : keysOf(workspace)), ({ value }) => value)
      })
    })
  )
}

// At most two deletes and a sweep run at once.
const closeTriesMax = 5
