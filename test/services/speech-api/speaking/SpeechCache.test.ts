import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { WordMark } from "#speech/contract"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { voiceById } from "#speech"
import {
  type CacheKey,
  cacheKeyOf,
  makeSpeechStore,
  SpeechCache
} from "../../../../services/speech-api/speaking/SpeechCache.ts"
import { dialogue, planned } from "./planned-orders.ts"

const limits = { bytesMax: 100_000, workspaceBytesMax: 60_000, ageMsMax: 1_000 }
const keyOf = (digest: string, workspace = "one"): CacheKey => ({ workspace, digest })
const mark: WordMark = { type: "word", start: 0, end: 2, start_time: 0, end_time: 9, value: "Hi" }
const rest = (spokenAtMs = 0) => ({ sentences: [{ turn: 0, start: 0, end: 2 }], samples: 2_400, spokenAtMs })

const keep = (store: ReturnType<typeof makeSpeechStore>, key: CacheKey, bytes: number, spokenAtMs = 0) => {
  const recorder = store.record(key)
  recorder.audio(new Uint8Array(bytes).fill(7))
  recorder.keep(rest(spokenAtMs))
}

const isOfCatalogue = (id: string) => voiceById(id) !== undefined

describe("the key of finished speech", () => {
  const order = { turns: [{ input: "Hello.", voice_id: "henry" }] }
  const digestOf = (workspace: string, ...given: Parameters<typeof planned>) =>
    cacheKeyOf(workspace, planned(...given), isOfCatalogue)?.digest

  it("is the same for the same request alone", () => {
    const plain = digestOf("one", order)
    assert.strictEqual(digestOf("one", structuredClone(order)), plain)
    const others = [
      digestOf("two", order),
      digestOf("one", { turns: [{ input: "Hello!", voice_id: "henry" }] }),
      digestOf("one", { turns: [{ input: "Hello.", voice_id: "nora" }] }),
      digestOf("one", { ...order, output_format: "wav_48000" }),
      digestOf("one", { ...order, language: "de-DE" }),
      digestOf("one", { ...order, speed: 2 }),
      digestOf("one", { ...order, options: { loudness_normalization: true } }),
      digestOf("one", { ...order, options: { text_normalization: false } }),
      digestOf("one", { turns: [...order.turns, ...order.turns] }, dialogue)
    ]
    assert.strictEqual(new Set([plain, ...others]).size, others.length + 1)
  })

  it("is none for a cloned voice, also as one of several", () => {
    const plan = planned(order)
    const [turn] = plan.turns
    assert.isDefined(turn)
    const cloned = { ...turn, voiceId: "vc_1" }
    assert.isUndefined(cacheKeyOf("one", { ...plan, turns: [cloned] }, isOfCatalogue))
    assert.isUndefined(cacheKeyOf("one", { ...plan, turns: [turn, cloned] }, isOfCatalogue))
  })
})

describe("the store of finished speech", () => {
  it("gives back what it was given, whole", () => {
    const store = makeSpeechStore(limits)
    const recorder = store.record(keyOf("a"))
    const piece = Uint8Array.of(1, 2, 3)
    recorder.audio(piece)
    piece.fill(0)
    recorder.marks([mark])
    recorder.audio(Uint8Array.of(4))
    recorder.keep(rest())
    const found = store.find(keyOf("a"), 0)
    assert.deepStrictEqual([...(found?.audio ?? [])], [1, 2, 3, 4])
    assert.deepStrictEqual(found?.marks, [mark])
    assert.strictEqual(found?.samples, 2_400)
    assert.strictEqual(store.recordingBytes(), 0)
    assert.isUndefined(store.find(keyOf("b"), 0))
  })

  it("keeps nothing of an answer that was dropped", () => {
    const store = makeSpeechStore(limits)
    const recorder = store.record(keyOf("a"))
    recorder.audio(new Uint8Array(100))
    recorder.drop()
    recorder.audio(new Uint8Array(100))
    recorder.keep(rest())
    assert.deepStrictEqual([store.count(), store.bytes(), store.recordingBytes()], [0, 0, 0])
  })

  it("does not keep an answer that takes more than a quarter of its workspace's room", () => {
    const store = makeSpeechStore(limits)
    keep(store, keyOf("short"), 14_000)
    keep(store, keyOf("long"), 15_500)
    assert.isDefined(store.find(keyOf("short"), 0))
    assert.isUndefined(store.find(keyOf("long"), 0))
    assert.strictEqual(store.recordingBytes(), 0)
  })

  it("forgets what is too old, when it is looked for and when it is swept", () => {
    const store = makeSpeechStore(limits)
    keep(store, keyOf("a"), 10, 0)
    keep(store, keyOf("b"), 10, 500)
    assert.isDefined(store.find(keyOf("a"), 999))
    assert.isUndefined(store.find(keyOf("a"), 1_000))
    assert.strictEqual(store.count(), 1)
    store.sweep(1_500)
    assert.deepStrictEqual([store.count(), store.bytes()], [0, 0])
  })

  it("lets the least recently used of a workspace go first, and nothing of another workspace", () => {
    const store = makeSpeechStore(limits)
    keep(store, keyOf("other", "two"), 10_000)
    for (const name of ["a", "b", "c", "d"]) keep(store, keyOf(name), 14_000)
    assert.isDefined(store.find(keyOf("a"), 0))
    keep(store, keyOf("e"), 14_000)
    const found = ["a", "b", "c", "d", "e"].filter((name) => store.find(keyOf(name), 0) !== undefined)
    assert.deepStrictEqual(found, ["a", "c", "d", "e"])
    assert.isDefined(store.find(keyOf("other", "two"), 0))
  })

  it.prop(
    "never has more than it may, of all and of each workspace, nor while it records",
    [
      Schema.Array(
        Schema.Tuple([
          Schema.Literals(["one", "two", "three"]),
          Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 }))
        ])
      )
    ],
    ([answers]) => {
      const store = makeSpeechStore(limits)
      const open = answers.map(([workspace, bytes], index) => {
        const recorder = store.record(keyOf(`${workspace} ${index % 3}`, workspace))
        recorder.audio(new Uint8Array(bytes))
        assert.isAtMost(store.recordingBytes(), limits.bytesMax)
        return recorder
      })
      for (const recorder of open) {
        recorder.keep(rest())
        assert.isAtMost(store.bytes(), limits.bytesMax)
        for (const workspace of ["one", "two", "three"]) {
          assert.isAtMost(store.bytesOf(workspace), limits.workspaceBytesMax)
        }
      }
      assert.strictEqual(store.recordingBytes(), 0)
      store.sweep(1_000)
      assert.deepStrictEqual([store.count(), store.bytes(), store.bytesOf("one")], [0, 0, 0])
    }
  )
})

describe("the cache", () => {
  const withCache = <A, E>(megabytes: number, body: Effect.Effect<A, E, SpeechCache | Metrics>) =>
    body.pipe(
      Effect.provide(SpeechCache.layer),
      Effect.provide([Metrics.layerTest, Configuration.layerOf({ SpeechApi: { CacheMegabytes: megabytes } })])
    )

  it.effect("counts hits, misses and bytes", () =>
    withCache(
      1,
      Effect.gen(function* () {
        const cache = yield* SpeechCache
        assert.isUndefined(cache.find(keyOf("a"), 0))
        const recorder = cache.record(keyOf("a"))
        recorder?.audio(new Uint8Array(1_000))
        recorder?.keep(rest())
        assert.isDefined(cache.find(keyOf("a"), 0))
        const text = yield* (yield* Metrics).text
        assert.match(text, /^speech_cache_lookups_total\{.*result="hit".*\} 1$/mu)
        assert.match(text, /^speech_cache_lookups_total\{.*result="miss".*\} 1$/mu)
        assert.match(text, /^speech_cache_bytes(?:\{.*\})? 1512$/mu)
        assert.match(text, /^speech_cache_entries(?:\{.*\})? 1$/mu)
      })
    )
  )

  it.effect("keeps nothing when it is off", () =>
    withCache(
      0,
      Effect.gen(function* () {
        const cache = yield* SpeechCache
        assert.isUndefined(cache.record(keyOf("a")))
        assert.isUndefined(cache.find(keyOf("a"), 0))
      })
    )
  )
})
