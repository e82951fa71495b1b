/**
 * Finished speech of catalogue voices, cached by content: the same request of the same workspace gets the same bytes
 * and marks without being spoken again. Bounded in bytes, in total and per workspace, and in age; the least recently
 * used is evicted first. A cloned voice is never cached, so that nothing of it outlives its removal.
 */
import { createHash } from "node:crypto"
import { Clock, Context, Effect, Layer } from "effect"
import type { SpokenMark } from "#speech/contract"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { verbaliserVersion } from "#speech"
import { cacheBytes, cacheEntries, cacheLookups } from "../metrics.ts"
import type { SpeechPlan } from "./plan.ts"
import type { SpeechSession } from "./SpeechSessions.ts"

export interface KeptSpeech {
  readonly audio: Uint8Array
  readonly marks: ReadonlyArray<SpokenMark>
  readonly sentences: SpeechSession["sentences"]
  /** At 24 kHz, before padding. */
  readonly samples: number
  readonly spokenAtMs: number
}

/** The workspace of the speech, and a digest of everything that determines its bytes. */
export interface CacheKey {
  readonly workspace: string
  readonly digest: string
}

/** Undefined for speech that must not be cached. Pure. */
export const cacheKeyOf = (
  workspace: string,
  plan: SpeechPlan,
  isOfCatalogue: (voiceId: string) => boolean
): CacheKey | undefined => {
  if (!plan.turns.every(({ voiceId }) => isOfCatalogue(voiceId))) return undefined
  const { format, loudnessNormalization, marks, textNormalization, turns } = plan
  const said = [textNormalization, verbaliserVersion]
  const manner = [loudnessNormalization, said, turns, ...(marks === undefined ? [] : [marks])]
  const content = JSON.stringify([workspace, format.name, ...manner])
  return { workspace, digest: createHash("sha256").update(content).digest("base64url") }
}

export interface CacheLimits {
  readonly bytesMax: number
  readonly workspaceBytesMax: number
  readonly ageMsMax: number
}

/** Records an answer while it is spoken; what is not kept in the end is dropped. */
export interface Recorder {
  readonly audio: (bytes: Uint8Array) => void
  readonly marks: (marks: ReadonlyArray<SpokenMark>) => void
  readonly keep: (rest: Pick<KeptSpeech, "sentences" | "samples" | "spokenAtMs">) => void
  /** Ends the recording; has no effect after `keep`. */
  readonly drop: () => void
}

interface Entry {
  readonly workspace: string
  readonly speech: KeptSpeech
  readonly bytes: number
}

// Share of a workspace's bytes: one long answer does not displace all short ones.
const answerShareMax = 1 / 4
// A mark in memory: an object of seven fields, and its text.
const bytesOfMark = 256
const bytesOfEntry = 512

/** The store behind the service. Pure, except for its state. */
export const makeSpeechStore = ({ bytesMax, workspaceBytesMax, ageMsMax }: CacheLimits) => {
  // In order of use, the least recent first.
  const entries = new Map<string, Entry>()
  const byWorkspace = new Map<string, number>()
  let bytes = 0
  let recording = 0

  const remove = (digest: string, entry: Entry) => {
    entries.delete(digest)
    bytes -= entry.bytes
    const left = (byWorkspace.get(entry.workspace) ?? 0) - entry.bytes
    if (left <= 0) byWorkspace.delete(entry.workspace)
    else byWorkspace.set(entry.workspace, left)
  }
  const isTooOld = (entry: Entry, nowMs: number) => nowMs - entry.speech.spokenAtMs >= ageMsMax

  const put = ({ digest, workspace }: CacheKey, speech: KeptSpeech, size: number) => {
    const before = entries.get(digest)
    if (before !== undefined) remove(digest, before)
    for (const [other, entry] of entries) {
      if ((byWorkspace.get(workspace) ?? 0) + size <= workspaceBytesMax) break
      if (entry.workspace === workspace) remove(other, entry)
    }
    for (const [other, entry] of entries) {
      if (bytes + size <= bytesMax) break
      remove(other, entry)
    }
    entries.set(digest, { workspace, speech, bytes: size })
    bytes += size
    byWorkspace.set(workspace, (byWorkspace.get(workspace) ?? 0) + size)
  }

  return {
    bytes: () => bytes,
    count: () => entries.size,
    bytesOf: (workspace: string) => byWorkspace.get(workspace) ?? 0,
    recordingBytes: () => recording,
    find: ({ digest }: CacheKey, nowMs: number): KeptSpeech | undefined => {
      const entry = entries.get(digest)
      if (entry === undefined) return undefined
      if (isTooOld(entry, nowMs)) {
        remove(digest, entry)
        return undefined
      }
      entries.delete(digest)
      entries.set(digest, entry)
      return entry.speech
    },
    /** Removes entries that are too old. */
    sweep: (nowMs: number) => {
      for (const [digest, entry] of entries) if (isTooOld(entry, nowMs)) remove(digest, entry)
    },
    record: (key: CacheKey): Recorder =>
      makeRecorder({
        bytesMax: Math.min(bytesMax, workspaceBytesMax) * answerShareMax,
        take: (by) => {
          if (recording + by > bytesMax) return false
          recording += by
          return true
        },
        giveBack: (by) => (recording -= by),
        put: (speech, size) => put(key, speech, size)
      })
  }
}

interface Recording {
  readonly bytesMax: number
  /** Takes memory from the share of all answers being spoken. */
  readonly take: (by: number) => boolean
  readonly giveBack: (by: number) => void
  readonly put: (speech: KeptSpeech, bytes: number) => void
}

const makeRecorder = ({ bytesMax, take, giveBack, put }: Recording): Recorder => {
  let parts: Array<Uint8Array> | undefined = []
  let marks: Array<SpokenMark> = []
  let size = 0
  const drop = () => {
    if (parts !== undefined) giveBack(size)
    parts = undefined
    marks = []
  }
  /** False once the answer is too long, or all current answers together are. */
  const grow = (by: number) => {
    if (parts === undefined) return false
    if (size + by <= bytesMax && take(by)) {
      size += by
      return true
    }
    drop()
    return false
  }
  grow(bytesOfEntry)
  return {
    audio: (piece) => {
      // A copy, because a piece can be a view on a much larger buffer.
      if (grow(piece.length)) parts?.push(piece.slice())
    },
    marks: (more) => {
      if (more.length > 0 && grow(more.length * bytesOfMark)) marks.push(...more)
    },
    keep: (rest) => {
      if (parts === undefined) return
      put({ audio: Buffer.concat(parts), marks, ...rest }, size)
      drop()
    },
    drop
  }
}

const sweepEvery = "30 seconds"

export class SpeechCache extends Context.Service<
  SpeechCache,
  {
    /** Counts a hit or a miss. */
    readonly find: (key: CacheKey, nowMs: number) => KeptSpeech | undefined
    /** Undefined if nothing is cached. */
    readonly record: (key: CacheKey) => Recorder | undefined
  }
>()("starling/speech-api/SpeechCache") {
  static readonly layer = Layer.effect(
    SpeechCache,
    Effect.gen(function* () {
      const { SpeechApi } = yield* Configuration
      const metrics = yield* Metrics
      const lookups = metrics.counter(cacheLookups)
      const [bytesGauge, entriesGauge] = [metrics.gauge(cacheBytes), metrics.gauge(cacheEntries)]
      const bytesMax = SpeechApi.CacheMegabytes * 1_048_576
      const store = makeSpeechStore({
        bytesMax,
        workspaceBytesMax: Math.min(bytesMax, SpeechApi.CacheMegabytesPerWorkspace * 1_048_576),
        ageMsMax: SpeechApi.CacheMinutes * 60_000
      })
      const show = () => {
        bytesGauge.set({}, store.bytes())
        entriesGauge.set({}, store.count())
      }
      show()
      if (bytesMax === 0) return SpeechCache.of({ find: () => undefined, record: () => undefined })
      const sweep = Effect.map(Clock.currentTimeMillis, (nowMs) => {
        store.sweep(nowMs)
        show()
      })
      yield* Effect.forkScoped(Effect.forever(Effect.delay(sweep, sweepEvery)))
      return SpeechCache.of({
        find: (key, nowMs) => {
          const found = store.find(key, nowMs)
          lookups.inc({ result: found === undefined ? "miss" : "hit" })
          return found
        },
        record: (key) => {
          const recorder = store.record(key)
          return {
            ...recorder,
            keep: (rest) => {
              recorder.keep(rest)
              show()
            }
          }
        }
      })
    })
  )
}
