/** Models out of folders, spoken by their real runtimes: tiny ones that hum, and the voice that comes with Starling. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, type Scope, Stream } from "effect"
import type { EngineVoice } from "#speech/contract"
import type { Metrics } from "#runtime"
import { type EngineJob, type SpeechEngine, VoiceModelUnusable } from "../../../../libs/speech/engine/Engine.ts"
import { pauses } from "../../../../libs/speech/engine/worker/pauses.ts"
import { openModelPool } from "../../../../libs/speech/engine/models/ModelPool.ts"
import {
  kokoroFramesPerSymbol,
  samplesPerToken,
  tinyVoiceHz,
  writeTinyKitten,
  writeTinyKokoro,
  writeTinyMatcha,
  writeTinyPiper,
  writeTinyVits
} from "../../../support/tiny-voices.ts"
import { heard, jobOf, metrics, piece, plainStyle } from "./jobs.ts"
import { decibels, melody } from "./signal.ts"

const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope | Metrics>) =>
  effect.pipe(Effect.scoped, Effect.provide(metrics))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const modelOf = (path: string, speaker = "0") => ({
  Id: "tiny",
  Folder: path,
  Threads: 1,
  Voices: [{ Id: "v", Locale: "en-US", Gender: "female", Speaker: speaker, GainDb: 0, Tags: [] } as const]
})

const opened = Effect.fnUntraced(function* (write: (folder: string) => void, speaker?: string) {
  const path = yield* folder
  write(path)
  return yield* openModelPool({ model: modelOf(path, speaker), home: yield* folder, bytesMax: 100_000_000 })
})

const voice = (name = "0", id = "tiny"): EngineVoice => ({
  engine: `model-${id}`,
  name,
  language: "en-us",
  ...plainStyle,
  formantPercent: 100,
  gainDb: 0
})

const symbolSamples = kokoroFramesPerSymbol * 600

describe("a model that reads phonemes", () => {
  it.live("tells the exact start of each word, in every piece", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened(writeTinyKokoro, "af_one")

        const { words, pcm } = yield* heard(engine, jobOf(voice("af_one"), piece("Go "), piece("to it.")))

        // ɡˈO tʊ ɪt. and the silent symbols at both ends: each lasts as long.
        assert.deepStrictEqual(
          words.map(({ piece, position }) => [piece, position]),
          [
            [0, 0],
            [1, 0],
            [1, 3]
          ]
        )
        // Kokoro is heard two frames early, which leaves one of the silence before the first symbol. Of that silence the
        // model speaks a symbol, and 30 ms are heard.
        const early = 600 - (symbolSamples + 1 - 720)
        assert.deepStrictEqual(
          words.map(({ sample }) => sample),
          [0, early + 4 * symbolSamples, early + 7 * symbolSamples]
        )
        const ending = ((pauses.sentence - 30) * 24_000) / 1_000
        assert.isTrue(pcm.subarray(-ending).every((sample) => Math.abs(sample) < 330))
        assert.isAbove(Math.abs(pcm.at(-ending - 1) ?? 0), 330)
      })
    )
  )
  it.live("speaks with a style by its name or its number, and refuses others", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened(writeTinyKokoro, "bf_two")
        const named = yield* heard(engine, jobOf(voice("bf_two"), piece("Yes.")))
        const numbered = yield* heard(engine, jobOf(voice("1"), piece("Yes.")))
        const failed = yield* Effect.flip(heard(engine, jobOf(voice("nobody"), piece("Yes."))))

        assert.deepStrictEqual(numbered.pcm, named.pcm)
        assert.match(failed.message, /the model has no speaker nobody/u)
      })
    )
  )
  it.live.each(["", "  ", "... !?", "\u0000\u0001"])("makes no sound for a text without words (%j)", (text) =>
    scoped(
      Effect.gen(function* () {
        const { pcm } = yield* heard(yield* opened(writeTinyKokoro, "af_one"), jobOf(voice("af_one"), piece(text)))

        assert.strictEqual(pcm.length, 0)
      })
    )
  )
  it.live("reads a text that is longer than the model takes at once", () =>
    scoped(
      Effect.gen(function* () {
        const text = "All of us went down to the river in the morning, and ".repeat(30)
        const { words } = yield* heard(yield* opened(writeTinyKokoro, "af_one"), jobOf(voice("af_one"), piece(text)))

        assert.strictEqual(new Set(words.map(({ position }) => position)).size, text.trim().split(" ").length)
        assert.isTrue(words.every(({ sample }, at) => sample >= (words[at - 1]?.sample ?? 0)))
      })
    )
  )
})

describe("a Piper voice as it is published", () => {
  it.live("speaks out of a prepared copy, which is made once, and its folder stays as it is", () =>
    scoped(
      Effect.gen(function* () {
        const [path, home] = [yield* folder, yield* folder]
        writeTinyPiper(path)
        const before = readdirSync(path)
        const open = openModelPool({ model: modelOf(path), home, bytesMax: 100_000_000 })

        const first = yield* Effect.scoped(
          Effect.flatMap(open, (engine) => heard(engine, jobOf(voice(), piece("Hello there."))))
        )
        const copies = readdirSync(join(home, "voices"))
        const second = yield* Effect.flatMap(open, (engine) => heard(engine, jobOf(voice(), piece("Hello there."))))

        assert.isAbove(first.pcm.length, 24_000 / 4)
        assert.strictEqual(second.pcm.length, first.pcm.length)
        assert.deepStrictEqual(readdirSync(path), before)
        assert.strictEqual(copies.length, 1)
        assert.deepStrictEqual(readdirSync(join(home, "voices")), copies)
      })
    )
  )
})

describe.each([
  // Matcha reads a blank beside each symbol.
  { kind: "a Matcha model with its vocoder", write: writeTinyMatcha, tokensPerSymbol: 2 },
  { kind: "a KittenTTS model", write: writeTinyKitten, tokensPerSymbol: 1 }
])("$kind, read by the real sherpa-onnx", ({ write, tokensPerSymbol }) => {
  it.live("speaks every symbol of a text, with a mark for every word in its order", () =>
    scoped(
      Effect.gen(function* () {
        const text = "Call Katherine, then Thomas, then Brian."
        const { pcm, words } = yield* heard(yield* opened(write), jobOf(voice(), piece(text)))

        const symbols = ((pcm.length / 24_000) * tinyVoiceHz) / samplesPerToken / tokensPerSymbol
        assert.isAtLeast(symbols, text.length)
        assert.isBelow(symbols, 1.4 * text.length)
        assert.deepStrictEqual(
          words.map(({ position }) => position),
          [...text.matchAll(/\S+/gu)].map(({ index }) => index)
        )
        assert.isTrue(words.every(({ sample }, at) => sample >= (words[at - 1]?.sample ?? 0) && sample < pcm.length))
      })
    )
  )
  it.live("is as fast as requested", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened(write)
        const long = (ratePercent: number) =>
          Effect.map(heard(engine, jobOf(voice(), piece("Hello there.", { ratePercent }))), ({ pcm }) => pcm.length)

        assert.closeTo((yield* long(100)) / (yield* long(200)), 2, 0.02)
        assert.closeTo((yield* long(50)) / (yield* long(100)), 2, 0.02)
      })
    )
  )
})

describe("a KittenTTS model with two speakers", () => {
  it.live("gives each its own style, and refuses a third", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened(writeTinyKitten, "1")
        const loudness = (name: string) =>
          Effect.map(heard(engine, jobOf(voice(name), piece("Hello there."))), ({ pcm }) => decibels(pcm))

        assert.closeTo((yield* loudness("0")) - (yield* loudness("1")), 6, 0.1)
        const failed = yield* Effect.flip(heard(engine, jobOf(voice("2"), piece("Hello there."))))
        assert.match(failed.message, /the model has no speaker 2/u)
      })
    )
  )
})

describe("a folder of a model", () => {
  const refused = (path: string, { speaker, bytesMax = 100_000_000 }: { speaker?: string; bytesMax?: number } = {}) =>
    Effect.flip(openModelPool({ model: modelOf(path, speaker), home: path, bytesMax }))
  it.live.each<readonly [string, (folder: string) => void, RegExp]>([
    ["is empty", () => {}, /no model, a file whose name ends with \.onnx/u],
    ["has text for a model", (path) => writeFileSync(join(path, "a.onnx"), "no model"), /a\.onnx is no ONNX model/u],
    [
      "lacks the json of a Piper voice",
      (path) => {
        writeTinyPiper(path)
        rmSync(join(path, "en_US-tiny.onnx.json"))
      },
      /no en_US-tiny\.onnx\.json, which describes a Piper voice/u
    ],
    [
      "lacks tokens.txt",
      (path) => {
        writeTinyVits(path)
        rmSync(join(path, "tokens.txt"))
      },
      /no tokens\.txt, which numbers the model's symbols/u
    ],
    [
      "lacks what turns words into symbols",
      (path) => {
        writeTinyVits(path)
        rmSync(join(path, "lexicon.txt"))
      },
      /neither espeak-ng-data nor lexicon\.txt/u
    ],
    [
      "lacks the styles of Kokoro",
      (path) => {
        writeTinyKokoro(path)
        rmSync(join(path, "voices"), { recursive: true })
      },
      /neither voices\.bin nor voices/u
    ],
    [
      "lacks the styles of KittenTTS",
      (path) => {
        writeTinyKitten(path)
        rmSync(join(path, "voices.bin"))
      },
      /no voices\.bin, which has the voices' styles/u
    ],
    [
      "has a style too few for KittenTTS's speakers",
      (path) => {
        writeTinyKitten(path)
        writeFileSync(join(path, "voices.bin"), new Uint8Array(8))
      },
      /Corrupted --kitten-voices/u
    ],
    [
      "has a vocoder for Matcha that is none",
      (path) => {
        writeTinyMatcha(path)
        writeFileSync(join(path, "hifigan_v2.onnx"), "no model")
      },
      /hifigan_v2\.onnx failed: ?Protobuf parsing failed/u
    ],
    [
      "has half a style",
      (path) => {
        writeTinyKokoro(path)
        writeFileSync(join(path, "voices", "af_one.bin"), new Uint8Array(1_000))
      },
      /voices\/af_one\.bin is no style: it has not 522240 bytes/u
    ]
  ])("that %s is refused with its name and the reason", ([, write, reason]) =>
    scoped(
      Effect.gen(function* () {
        const path = yield* folder
        write(path)

        const error = yield* refused(path)

        assert.instanceOf(error, VoiceModelUnusable)
        assert.include(error.message, `the voice model tiny in ${path} cannot be used: `)
        assert.match(error.message, reason)
      })
    )
  )
  it.live("that is missing, too large or without the speaker is refused", () =>
    scoped(
      Effect.gen(function* () {
        const path = yield* folder
        writeTinyKokoro(path)

        assert.match((yield* refused(join(path, "nowhere"))).message, /there is no such folder/u)
        assert.match((yield* refused(path, { speaker: "af_one", bytesMax: 10 })).message, /ModelMegabytesMax leaves 1/u)
        assert.match(
          (yield* refused(path, { speaker: "zz_top" })).message,
          /has the speaker zz_top; there are af_one, bf_two, 0, 1/u
        )
      })
    )
  )
})

const bundled = process.env["STARLING_VOICES"] ?? ""

/** Opened once: it reads a model of some megabytes, and speaks to itself before it is ready. */
class Hibari extends Context.Service<Hibari, SpeechEngine>()("test/Hibari") {
  static readonly layer = Layer.effect(
    Hibari,
    openModelPool({
      model: { ...modelOf(join(bundled, "hibari-0.2.1")), Id: "hibari" },
      home: tmpdir(),
      bytesMax: 100_000_000
    })
  ).pipe(Layer.provide(metrics))
}

describe.skipIf(bundled === "")("the voice that comes with Starling", () => {
  const own = voice("0", "hibari")
  const sentence = "The river runs past the old mill, and in the evening the children walk home along its bank."
  it.layer(Hibari.layer, { excludeTestServices: true })((it) => {
    it.effect("reports every word, is the same each time, and is heard before it is whole", () =>
      Effect.gen(function* () {
        const engine = yield* Hibari
        const [first, second] = [
          yield* heard(engine, jobOf(own, piece(sentence))),
          yield* heard(engine, jobOf(own, piece(sentence)))
        ]
        assert.deepStrictEqual(
          first.words.map(({ position }) => position),
          [...sentence.matchAll(/\S+/gu)].map(({ index }) => index)
        )
        assert.deepStrictEqual(second.pcm, first.pcm)
        assert.isBelow(first.frames[0]?.pcm.length ?? 0, 24_000)
        assert.isTrue(first.words.every(({ sample }, at) => sample > (first.words[at - 1]?.sample ?? 0)))
      })
    )
    it.effect("speaks as loud, as high and as fast as requested", () =>
      Effect.gen(function* () {
        const engine = yield* Hibari
        const speak = (style: Parameters<typeof piece>[1]) => heard(engine, jobOf(own, piece(sentence, style)))
        const plain = yield* speak({})
        const { pitch, spread } = melody(plain.pcm)

        for (const volumeDb of [-12, -6, 3]) {
          assert.closeTo(decibels((yield* speak({ volumeDb })).pcm) - decibels(plain.pcm), volumeDb, 0.6)
        }
        for (const pitchPercent of [85, 120]) {
          assert.closeTo((100 * melody((yield* speak({ pitchPercent })).pcm).pitch) / pitch, pitchPercent, 7)
        }
        for (const ratePercent of [25, 75, 150, 400]) {
          assert.closeTo((ratePercent * (yield* speak({ ratePercent })).pcm.length) / plain.pcm.length, 100, 0.1)
        }
        assert.isBelow(melody((yield* speak({ rangePercent: 40 })).pcm).spread, 0.7 * spread)
      })
    )
    it.effect("speaks a word by its phonemes, as the word that sounds so", () =>
      Effect.gen(function* () {
        const engine = yield* Hibari
        const say = (text: string, ipa?: string) =>
          heard(engine, jobOf(own, piece(text, ipa === undefined ? {} : { pronunciations: [{ from: 4, to: 7, ipa }] })))
        const [native, spelled, plain] = [
          yield* say("The church is old."),
          yield* say("The mmm is old.", "ˈtʃɜːtʃ"),
          yield* say("The mmm is old.")
        ]
        assert.isTrue(Buffer.from(spelled.pcm.buffer).equals(Buffer.from(native.pcm.buffer)))
        assert.isFalse(Buffer.from(spelled.pcm.buffer).equals(Buffer.from(plain.pcm.buffer)))
        assert.deepStrictEqual(
          spelled.words.map(({ position }) => position),
          [0, 4, 8, 11]
        )
      })
    )
    it.effect("stops in the midst of its model, and speaks the same afterwards", () =>
      Effect.gen(function* () {
        const engine = yield* Hibari
        const long = jobOf(own, piece(sentence.repeat(8).slice(0, 390)))
        const short = jobOf(own, piece("Still here."))
        const firstMs = Effect.fnUntraced(function* (job: EngineJob) {
          const beganMs = performance.now()
          yield* Stream.runDrain(Stream.take(engine.synthesize(job), 1))
          return performance.now() - beganMs
        })
        const expected = yield* heard(engine, short)
        const overMs: Array<number> = []
        for (let time = 0; time < 5; time++) {
          const modelMs = yield* firstMs(long)
          yield* heard(engine, short)
          const aloneMs = yield* firstMs(short)
          const left = yield* Effect.forkChild(Stream.runDrain(engine.synthesize(long)), { startImmediately: true })
          yield* Effect.sleep(modelMs / 5)
          yield* Fiber.interrupt(left)
          overMs.push(((yield* firstMs(short)) - aloneMs) / modelMs)
          assert.deepStrictEqual((yield* heard(engine, short)).pcm, expected.pcm)
        }
        assert.isBelow(overMs.toSorted((one, other) => one - other)[2] ?? 1, 0.5)
      })
    )
    it.effect("stops when its reader leaves, and speaks again afterwards", () =>
      Effect.gen(function* () {
        const engine = yield* Hibari
        const frames = yield* Stream.runCollect(
          Stream.take(engine.synthesize(jobOf(own, piece(`${sentence} `.repeat(8)))), 1)
        )
        assert.strictEqual(frames.length, 1)
        assert.isAbove((yield* heard(engine, jobOf(own, piece("Still here.")))).pcm.length, 12_000)
      })
    )
  })
})
