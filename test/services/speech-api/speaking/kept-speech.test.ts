import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Stream } from "effect"
import { Encoders } from "#speech/audio"
import type { WordMark } from "#speech/contract"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { voiceById } from "#speech"
import { FfmpegPool } from "../../../../libs/speech/audio/encoders/pool.ts"
import { Speech } from "../../../../services/speech-api/speaking/Speech.ts"
import { SpeechAdmission } from "../../../../services/speech-api/speaking/SpeechAdmission.ts"
import { cacheKeyOf } from "../../../../services/speech-api/speaking/SpeechCache.ts"
import { SpeechSessions } from "../../../../services/speech-api/speaking/SpeechSessions.ts"
import { SpeechFailed } from "../../../../services/speech-api/refusals.ts"
import { planned, stream } from "./planned-orders.ts"

const input = "One two."
const mark = (value: string, start: number, at: number): WordMark => ({
  type: "word",
  start,
  end: start + value.length,
  start_time: at,
  end_time: at + 100,
  value
})
const pcm = Int16Array.from({ length: 4_800 }, (_, at) => at)
const pieces = [
  { pcm, marks: [mark("One", 0, 0)], waitedMs: 0 },
  { pcm: pcm.subarray(0, 1_200), marks: [], waitedMs: 0 },
  { pcm: new Int16Array(0), marks: [mark("two.", 4, 100)], waitedMs: 0 }
]

/** Sessions that count how often they are opened, and that break after their first piece where `breaks` says so. */
const sessionsOf = (counts: { opened: number }, breaks: () => boolean, silentTurns: ReadonlyArray<number>) =>
  Layer.succeed(SpeechSessions, {
    active: () => 0,
    open: () =>
      Effect.sync(() => {
        counts.opened += 1
        const end = { pcm: new Int16Array(0), marks: [], silentTurns, waitedMs: 0 }
        const all = Stream.fromIterable([...pieces, end])
        const broken = Stream.concat(
          Stream.take(all, 1),
          Stream.fail(new SpeechFailed({ code: "upstream_failure", message: "it broke off" }))
        )
        return { sentences: [{ turn: 0, start: 0, end: 8 }], pieces: breaks() ? broken : all }
      })
  })

const speechOver = (
  counts: { opened: number },
  breaks: () => boolean = () => false,
  silentTurns: ReadonlyArray<number> = []
) => {
  const encoders = Encoders.layerNoDeps.pipe(
    Layer.provide(Layer.succeed(FfmpegPool, { take: () => Effect.die("PCM needs no ffmpeg") }))
  )
  const configuration = Configuration.layerOf({ SpeechApi: { CacheMegabytes: 1 } })
  return Speech.layer.pipe(
    Layer.provide([sessionsOf(counts, breaks, silentTurns), SpeechAdmission.layer, encoders]),
    Layer.provideMerge(Metrics.layerTest),
    Layer.provide(configuration)
  )
}

const isOfCatalogue = (id: string) => voiceById(id) !== undefined

const plan = () => {
  const made = planned({ turns: [{ input, voice_id: "henry" }], output_format: "pcm_24000" }, stream)
  const cacheKey = cacheKeyOf("one", made, isOfCatalogue)
  assert.isDefined(cacheKey)
  return { ...made, cacheKey }
}

const hear = (made: ReturnType<typeof plan>, take = Number.POSITIVE_INFINITY) =>
  Effect.scoped(
    Effect.gen(function* () {
      const startedAtMs = Number(yield* Clock.currentTimeNanos) / 1e6
      const spoken = yield* (yield* Speech).speak(made, startedAtMs)
      const parts = yield* Stream.runCollect(Stream.take(spoken.bytes, take))
      return {
        bytes: Buffer.concat(parts),
        marks: spoken.takeMarks(),
        durationMs: spoken.durationMs(),
        sentences: spoken.sentences,
        keptSinceMs: spoken.keptSinceMs,
        timing: spoken.timing()
      }
    })
  )

describe("speech that was spoken before", () => {
  it.live("has the same bytes, marks and length, opens no session, and counts like any other", () => {
    const counts = { opened: 0 }
    return Effect.gen(function* () {
      const first = yield* hear(plan())
      const again = yield* hear(plan())
      assert.strictEqual(counts.opened, 1)
      assert.strictEqual(first.bytes.length, 12_000)
      assert.deepStrictEqual(
        first.marks.map(({ value }) => value),
        ["One", "two."]
      )
      assert.strictEqual(first.durationMs, 250)
      assert.isUndefined(first.keptSinceMs)
      assert.isDefined(again.keptSinceMs)
      assert.match(again.timing, /^cache;dur=[\d.]+$/u)
      const { bytes, marks, durationMs, sentences } = again
      assert.deepStrictEqual(
        { bytes, marks, durationMs, sentences },
        { bytes: first.bytes, marks: first.marks, durationMs: first.durationMs, sentences: first.sentences }
      )
      const text = yield* (yield* Metrics).text
      assert.match(text, /^speech_billable_characters_total\{.*\} 16$/mu)
      assert.match(text, /^speech_streams_total\{.*outcome="spoken".*\} 2$/mu)
    }).pipe(Effect.provide(speechOver(counts)))
  })

  it.live("is not kept when it broke off or when its caller left in the middle", () => {
    const counts = { opened: 0 }
    let breaks = true
    return Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(hear(plan())))._tag, "SpeechFailed")
      breaks = false
      yield* hear(plan(), 1)
      const whole = yield* hear(plan())
      assert.strictEqual(whole.bytes.length, 12_000)
      assert.isUndefined(whole.keptSinceMs)
      assert.strictEqual(counts.opened, 3)
    }).pipe(Effect.provide(speechOver(counts, () => breaks)))
  })

  it.live("is neither kept nor billed when nothing of it was heard", () => {
    const counts = { opened: 0 }
    return Effect.gen(function* () {
      yield* hear(plan())
      yield* hear(plan())
      assert.strictEqual(counts.opened, 2)
      assert.match(yield* (yield* Metrics).text, /^speech_billable_characters_total\{.*\} 0$/mu)
    }).pipe(Effect.provide(speechOver(counts, undefined, [0])))
  })

  it.live("is spoken again where the plan has no key, as for a cloned voice", () => {
    const counts = { opened: 0 }
    return Effect.gen(function* () {
      const { cacheKey: _, ...keyless } = plan()
      yield* hear(keyless as ReturnType<typeof plan>)
      yield* hear(keyless as ReturnType<typeof plan>)
      assert.strictEqual(counts.opened, 2)
    }).pipe(Effect.provide(speechOver(counts)))
  })
})
