/**
 * Cloned voices by workspace. A voice is reserved before anything else of it is written (`Making`), becomes a voice
 * once all of it is stored (`Ready`), and stops being one before anything of it is removed (`Leaving`). So whatever a
 * dying process leaves behind has a record that the sweep finds. Reads go to the leader.
 */
import { Context, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import {
  type BusError,
  BusUnavailable,
  deleted,
  kept,
  Kv,
  type KvEntry,
  records,
  replaced,
  type DecisionContext
} from "#bus"
import { isoTime } from "#base"
import { Configuration } from "#configuration"
import type { VoiceAddress } from "./VoiceFiles.ts"
import { type ClonedVoice, keyFor, keyOf, keysOf, VoiceRecord } from "./records.ts"

/** The workspace has reached its number of voices. */
export class TooManyVoices extends Schema.TaggedError<TooManyVoices>()("TooManyVoices", {
  voicesMax: Schema.Int
}) {}

/** A voice of the workspace that counts, but is not a voice yet. */
export interface Reservation extends VoiceAddress {
  readonly key: string
  readonly revision: number
}

export class ClonedVoices extends Context.Service<
  ClonedVoices,
  {
    /** Nothing for a voice that is not ready, is gone, never existed, or belongs to another workspace. */
    readonly find: (workspace: string, id: string) => Effect.Effect<Option.Option<ClonedVoice>, BusError>
    readonly list: (workspace: string) => Effect.Effect<ReadonlyArray<ClonedVoice>, BusError>
    /** A voice that is already ready, because the same create came before, is returned unchanged. */
    readonly reserve: (address: VoiceAddress) => Effect.Effect<Reservation | ClonedVoice, TooManyVoices | BusError>
    readonly complete: (reservation: Reservation, voice: ClonedVoice) => Effect.Effect<void, BusError>
    /**
     * Ends the voice. With a revision, only if nothing has changed since; without one, only if it is a voice. False
     * otherwise. A retired voice is never reserved again, so its files can be removed.
     */
    readonly retire: (address: VoiceAddress, revision?: number) => Effect.Effect<boolean, BusError>
    /** Erases the record of a retired voice. */
    readonly erase: (address: VoiceAddress) => Effect.Effect<void, BusError>
    /** Every record of any workspace that is not ready and has not changed since then. */
    readonly stalled: (sinceMs: number) => Stream.Stream<KvEntry<VoiceRecord>, BusError>
  }
>()("starling/speech-api/ClonedVoices") {
  static readonly layer = Layer.effect(
    ClonedVoices,
    Effect.gen(function* () {
      const { VoiceCloning } = yield* Configuration
      const bucket = yield* (yield* Kv).open("voices", VoiceRecord)
      const voices = records(bucket)
      const voicesMax = VoiceCloning.VoicesPerWorkspace

      const read = Effect.fnUntraced(function* (workspace: string, id: string) {
        const key = keyOf(workspace, id)
        return key === undefined ? Option.none<KvEntry<VoiceRecord>>() : yield* bucket.get(key)
      })
      const find = Effect.fn("ClonedVoices.find")(function* (workspace: string, id: string) {
        return Option.flatMap(yield* read(workspace, id), ({ value }) => readyOf(value))
      })
      const entriesOf = (workspace: string) => Stream.runCollect(bucket.scan(keysOf(workspace)))

      const list = Effect.fn("ClonedVoices.list")(function* (workspace: string) {
        return (yield* entriesOf(workspace)).flatMap(({ value }) => Option.toArray(readyOf(value)))
      })

      const reserve = Effect.fn("ClonedVoices.reserve")(function* ({ workspace, id }: VoiceAddress) {
        const key = keyFor({ workspace, id })
        const { value: reserved, revision } = yield* voices.change(key, reserving({ workspace, id }))
        if (reserved?._tag === "Ready") return reserved
        if (reserved?._tag === "Leaving") {
          return yield* new BusUnavailable({ operation: "reserve a voice", detail: "it is being removed" })
        }
        if (voicesBefore(yield* entriesOf(workspace), { key, revision }) < voicesMax) {
          return { workspace, id, key, revision }
        }
        yield* bucket.erase(key, revision)
        return yield* new TooManyVoices({ voicesMax })
      })

      const retire = Effect.fn("ClonedVoices.retire")(function* ({ workspace, id }: VoiceAddress, expected?: number) {
        const key = keyOf(workspace, id)
        if (key === undefined) return false
        const { answer } = yield* voices.change(key, retiring({ workspace, id }, expected))
        return answer
      })

      const erase = Effect.fn("ClonedVoices.erase")(function* ({ workspace, id }: VoiceAddress) {
        const key = keyOf(workspace, id)
        if (key === undefined) return
        yield* voices.change(key, (before) =>
          before?._tag === "Leaving" ? deleted(undefined, "erase") : kept(undefined)
        )
      })

      return ClonedVoices.of({
        find,
        list,
        reserve,
        complete: ({ key, revision }, voice) => Effect.asVoid(voices.overwrite(key, voice, revision)),
        retire,
        erase,
        stalled: (sinceMs) =>
          Stream.filter(
            bucket.scan(">"),
            ({ value }) => value._tag !== "Ready" && Date.parse(value.changedAt) <= sinceMs
          )
      })
    })
  )
}

const reserving =
  ({ workspace, id }: VoiceAddress) =>
  (before: VoiceRecord | undefined, { nowMs }: DecisionContext) =>
    before !== undefined && before._tag !== "Making"
      ? kept(before)
      : replaced<VoiceRecord>({ _tag: "Making", id, workspace, changedAt: isoTime(nowMs) })

const retiring =
  ({ workspace, id }: VoiceAddress, expected: number | undefined) =>
  (before: VoiceRecord | undefined, { revision, nowMs }: DecisionContext) => {
    const isMeant = expected === undefined ? before?._tag === "Ready" : revision === expected
    if (before === undefined || !isMeant) return kept(false)
    if (before._tag === "Leaving") return kept(true)
    const next: VoiceRecord = { _tag: "Leaving", id, workspace, changedAt: isoTime(nowMs) }
    return Result.succeed({ answer: true, next })
  }

const readyOf = (record: VoiceRecord): Option.Option<ClonedVoice> =>
  record._tag === "Ready" ? Option.some(record) : Option.none()

/**
 * The number of voices of a workspace before the one that a create has just reserved. If two creates reserve the last
 * one at once, the first gets it: its reservation has the lower revision, and the other sees that.
 */
export const voicesBefore = (
  entries: ReadonlyArray<KvEntry<VoiceRecord>>,
  own: { readonly key: string; readonly revision: number }
): number =>
  entries.filter(
    ({ key, value, revision }) =>
      key !== own.key && (value._tag === "Ready" || (value._tag === "Making" && revision < own.revision))
  ).length
