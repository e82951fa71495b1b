/**
 * The consent record: which speaker agreed to a cloned voice. It is written before the voice exists, and outlives it.
 */
import { Context, Effect, Layer, Stream } from "effect"
import { type BusError, kept, Kv, records, replaced } from "#bus"
import { isoTime } from "#base"
import { ConsentRecord, keyFor, keysOf } from "./records.ts"
import type { VoiceAddress } from "./VoiceFiles.ts"

/** For the command that shows consents. */
export type { ConsentRecord } from "./records.ts"
export { VoiceFiles } from "./VoiceFiles.ts"

export class Consents extends Context.Service<
  Consents,
  {
    /** Replaces a record that an interrupted create wrote for the same voice. */
    readonly keep: (record: ConsentRecord) => Effect.Effect<void, BusError>
    /** Records that the voice is gone. True if there is a consent. */
    readonly close: (address: VoiceAddress) => Effect.Effect<boolean, BusError>
    /** The records of one workspace, or of all. */
    readonly list: (workspace?: string) => Stream.Stream<ConsentRecord, BusError>
  }
>()("starling/speech-api/Consents") {
  static readonly layer = Layer.effect(
    Consents,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("consents", ConsentRecord)

      const consents = records(bucket)

      const keep = (record: ConsentRecord) =>
        Effect.asVoid(
          consents.change(keyFor({ workspace: record.workspace, id: record.voiceId }), () => replaced(record))
        )
      const close = (address: VoiceAddress) =>
        Effect.map(
          consents.change(keyFor(address), (before, { nowMs }) =>
            before === undefined || before.voiceDeletedAt !== null
              ? kept(before)
              : replaced({ ...before, voiceDeletedAt: isoTime(nowMs) })
          ),
          ({ value }) => value !== undefined
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
