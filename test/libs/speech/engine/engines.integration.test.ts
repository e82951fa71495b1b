/** The duties of every engine, tested on both; and the features of single ones. */
import { assert, layer, type Vitest } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Stream } from "effect"
import type { EmbeddedEngine } from "#speech/contract"
import { EngineFailed, type SpeechEngine } from "../../../../libs/speech/engine/Engine.ts"
import { embedded } from "../../../../libs/speech/engine/embedded.ts"
import { heard, jobOf, metrics, piece, voiceOf } from "./jobs.ts"
import { decibels, melody, quantile } from "./signal.ts"

const patienceMs = 120_000
const sentence = "The river runs past the old mill, and in the evening the children walk home along its bank."

/** Opened for all tests of a suite: what one leaves behind in an engine, another would hear. */
class Opened extends Context.Service<Opened, SpeechEngine>()("test/Opened") {
  static readonly layer = (engine: EmbeddedEngine, limits: { readonly jobMsMax?: number } = {}) =>
    Layer.effect(Opened, embedded[engine].open(limits)).pipe(Layer.provideMerge(metrics))
}

type Tests = Vitest.MethodsNonLive<Layer.Success<ReturnType<typeof Opened.layer>>>

const suite = (engine: EmbeddedEngine, name: string, it: Tests) => {
  const voice = voiceOf(engine, name)

  it.effect("finds every word at its place in the text, in the order of the sound", () =>
    Effect.gen(function* () {
      const { words, pcm } = yield* heard(yield* Opened, jobOf(voice, piece(sentence)))

      const starts = [...sentence.matchAll(/\S+/gu)].map((match) => match.index)
      const positions = new Set(words.map((word) => word.position))
      assert.deepStrictEqual(
        starts.filter((start) => positions.has(start)),
        [...positions]
      )
      // espeak reports some pairs, such as "in the", as one word.
      assert.isAtLeast(positions.size, starts.length - 2)
      assert.isTrue(words.every((word, at) => word.sample >= (words[at - 1]?.sample ?? 0) && word.sample < pcm.length))
    })
  )
  it.effect("tells each phoneme of each word where they are asked for, and speaks the same", () =>
    Effect.gen(function* () {
      const engine = yield* Opened
      const plain = yield* heard(engine, jobOf(voice, piece(sentence)))
      const told = yield* heard(engine, { ...jobOf(voice, piece(sentence)), phonemes: true })

      const phonemes = told.words.filter(({ phoneme }) => phoneme !== undefined)
      assert.deepStrictEqual(told.pcm, plain.pcm)
      assert.deepStrictEqual(
        told.words.filter(({ phoneme }) => phoneme === undefined),
        plain.words
      )
      assert.isTrue(phonemes.every(({ sample }, at) => sample >= (phonemes[at - 1]?.sample ?? 0)))
      const ofRiver = phonemes.filter(({ position }) => position === sentence.indexOf("river"))
      assert.match(ofRiver.map(({ phoneme }) => phoneme).join(""), /^ɹɪv(?:ɚ|ɝ|əɹ)$/u)
      assert.deepStrictEqual(
        new Set(phonemes.map(({ position }) => position)),
        new Set(plain.words.map(({ position }) => position))
      )
    })
  )
  it.effect("counts words by piece, and samples through all of them", () =>
    Effect.gen(function* () {
      const pieces = [piece("We "), piece("really", { pitchPercent: 120 }), piece(" mean it.")]

      const { words } = yield* heard(yield* Opened, jobOf(voice, ...pieces))

      assert.deepStrictEqual(
        words.map(({ piece, position }) => [piece, position]),
        [
          [0, 0],
          [1, 0],
          [2, 1],
          [2, 6]
        ]
      )
      assert.isTrue(words.every((word, at) => word.sample >= (words[at - 1]?.sample ?? 0)))
    })
  )
  it.effect("speaks a word by its phonemes, as the word that sounds so, and says where it is", () =>
    Effect.gen(function* () {
      const engine = yield* Opened
      const say = (text: string, ...words: ReadonlyArray<readonly [word: string, ipa: string]>) =>
        heard(
          engine,
          jobOf(
            voice,
            piece(text, {
              pronunciations: words.map(([word, ipa]) => {
                const from = text.indexOf(word)
                return { from, to: from + word.length, ipa }
              })
            })
          )
        )
      const native = yield* heard(engine, jobOf(voice, piece("I say thing, church church, now.")))
      const [thing, church] = ["ˈθɪŋ", "ˈtʃɜːtʃ"]
      const spelled = yield* say("I say Москва, um uh, now.", ["Москва", thing], ["um", church], ["uh", church])
      const plain = yield* heard(engine, jobOf(voice, piece("I say Moscow, um uh, now.")))

      assert.strictEqual(spelled.pcm.length, native.pcm.length)
      assert.notStrictEqual(spelled.pcm.length, plain.pcm.length)
      // flite's statistical voices make their noise with the process' one random generator.
      if (voice.name !== "slt") {
        assert.isTrue(Buffer.from(spelled.pcm.buffer).equals(Buffer.from(native.pcm.buffer)))
      }
      const samples = ({ words }: typeof native) => words.map(({ sample }) => sample)
      assert.deepStrictEqual(samples(spelled), samples(native))
      const within = spelled.words.map(
        ({ position }) => "I say Москва, um uh, now.".slice(0, position + 1).split(" ").length
      )
      assert.deepStrictEqual([...new Set(within)], [1, 2, 3, 4, 5, 6])
      const again = yield* heard(engine, jobOf(voice, piece("I say thing, church church, now.")))
      assert.strictEqual(again.pcm.length, native.pcm.length)
    })
  )
  it.effect("puts no pause between the pieces of a sentence", () =>
    Effect.gen(function* () {
      const engine = yield* Opened

      const whole = yield* heard(engine, jobOf(voice, piece("We really want to leave now.")))
      const cut = yield* heard(engine, jobOf(voice, piece("We really "), piece("want to"), piece(" leave now.")))

      // With flite's pauses of 200 ms left in it would be 1.6.
      assert.isBelow(cut.pcm.length / whole.pcm.length, 1.35)
    })
  )
  it.effect("speaks as loud, as high and as fast as requested", () =>
    Effect.gen(function* () {
      const engine = yield* Opened
      const speak = (style: Parameters<typeof piece>[1]) => heard(engine, jobOf(voice, piece(sentence, style)))
      const plain = yield* speak({})
      const { pitch, spread } = melody(plain.pcm)

      for (const volumeDb of [-12, -6, 3]) {
        const { pcm } = yield* speak({ volumeDb })
        assert.closeTo(decibels(pcm) - decibels(plain.pcm), volumeDb, 0.6)
      }
      for (const pitchPercent of [70, 85, 120, 150]) {
        const { pcm } = yield* speak({ pitchPercent })
        assert.closeTo((100 * melody(pcm).pitch) / pitch, pitchPercent, 7)
      }
      for (const ratePercent of [50, 75, 150, 200]) {
        const { pcm } = yield* speak({ ratePercent })
        assert.closeTo((ratePercent * pcm.length) / plain.pcm.length, 100, 6)
      }
      assert.isBelow(melody((yield* speak({ rangePercent: 40 })).pcm).spread, 0.7 * spread)
      assert.isAbove(melody((yield* speak({ rangePercent: 190 })).pcm).spread, 1.3 * spread)
    })
  )
  it.effect("speaks the same for four jobs at once as for one", () =>
    Effect.gen(function* () {
      const job = jobOf(voice, piece(sentence))
      const one = yield* heard(yield* Opened, job)
      const four = yield* embedded[engine].open({ threads: 4 })

      const all = yield* Effect.forEach([1, 2, 3, 4], () => heard(four, job), { concurrency: 4 })

      for (const other of all) {
        // flite's statistical voices make their noise with the process' one random generator.
        if (voice.name !== "slt") assert.isTrue(Buffer.from(other.pcm.buffer).equals(Buffer.from(one.pcm.buffer)))
        assert.strictEqual(other.pcm.length, one.pcm.length)
        assert.deepStrictEqual(other.words, one.words)
      }
    })
  )
  it.effect("frees its thread within 50 ms of an interruption", () =>
    Effect.gen(function* () {
      const engine = yield* Opened
      const long = jobOf(voice, piece(`${sentence} `.repeat(20)))
      const wait = Effect.gen(function* () {
        const running = yield* Effect.forkChild(heard(engine, long))
        yield* Effect.sleep("30 millis")
        // All threads of this process: the time of the processor that others take is not ours.
        const begun = process.cpuUsage()
        yield* Fiber.interrupt(running)
        // A job without words ends as soon as the thread reads messages again.
        yield* heard(engine, jobOf(voice, piece(" ")))
        const { user, system } = process.cpuUsage(begun)
        return (user + system) / 1_000
      })

      assert.isBelow(quantile(yield* Effect.replicateEffect(wait, 9), 0.5), 50)
    })
  )
  it.effect("gives the first samples before the last are made", () =>
    Effect.gen(function* () {
      const engine = yield* Opened

      const frames = yield* Stream.runCollect(Stream.take(engine.synthesize(jobOf(voice, piece(sentence))), 3))

      assert.isBelow(frames[0]?.pcm.length ?? 0, 0.15 * 24_000)
      assert.isBelow(frames[1]?.pcm.length ?? 0, 0.3 * 24_000)
    })
  )
  it.effect("refuses a voice that it does not have, and paths for voices", () =>
    Effect.gen(function* () {
      const engine = yield* Opened

      for (const name of ["nobody", "../../etc/passwd", "en-us+../f2", ""]) {
        const error = yield* Effect.flip(heard(engine, jobOf({ ...voice, name }, piece("Hello"))))
        assert.instanceOf(error, EngineFailed)
        assert.strictEqual(error.reason, "voice")
      }
    })
  )
}

/** Works on some texts for ten seconds, and much longer on a machine that has other work. */
const hostile = (engine: EmbeddedEngine, name: string, it: Tests) => {
  const voice = voiceOf(engine, name)
  // flite's statistical voices would work at ten minutes of audio for ten seconds and more.
  const many = voice.name === "slt" ? 2000 : 20_000

  it.effect.each<readonly [string, string]>([
    ["nothing", ""],
    ["spaces", "   \n "],
    ["NUL and commands", "one\u0000two \u0001+99P\u0001-50S three\u001b[31m"],
    ["dots", "......"],
    ["a lone surrogate", "one \ud83d two"],
    [`${many} letters`, "a".repeat(many)],
    [`${many} signs`, "!@#$%^&*()".repeat(many / 10)],
    ["phonemes", "[[h@l'oU]] [[" + "x".repeat(500)],
    ["format strings", "%s%n%x ".repeat(50)]
  ])("takes no harm from %s", ([, text]) =>
    Effect.gen(function* () {
      const engine = yield* Opened
      const before = yield* heard(engine, jobOf(voice, piece("Still here.")))

      // Speech of more than ten minutes is refused; that is no harm.
      const { words } = yield* heard(engine, jobOf(voice, piece(text))).pipe(
        Effect.catchTag("EngineFailed", (error) =>
          error.reason === "too_long" ? Effect.succeed({ words: [] }) : Effect.fail(error)
        )
      )
      const after = yield* heard(engine, jobOf(voice, piece("Still here.")))

      assert.isTrue(words.every((word) => word.position >= 0 && word.position < text.length))
      assert.closeTo(after.pcm.length, before.pcm.length, 2400)
      assert.deepStrictEqual(
        after.words.map((word) => word.position),
        [0, 6]
      )
    })
  )
}

for (const [title, engine, voice] of [
  ["espeak", "espeak", "en-us"],
  ["flite", "flite", "slt"],
  ["flite's oldest voice", "flite", "kal16"]
] as const) {
  layer(Opened.layer(engine), { excludeTestServices: true })(title, (it) => suite(engine, voice, it))
  layer(Opened.layer(engine, { jobMsMax: patienceMs }), { excludeTestServices: true })(title, (it) =>
    hostile(engine, voice, it)
  )
}

layer(Opened.layer("flite"), { excludeTestServices: true })("the sound of flite", (it) => {
  it.effect.each(["slt", "rms", "awb", "kal16"])("is the same samples each time, after any other text: %s", (name) =>
    Effect.gen(function* () {
      const engine = yield* Opened
      const job = jobOf(voiceOf("flite", name), piece(sentence))
      const first = yield* heard(engine, job)
      yield* heard(engine, jobOf(voiceOf("flite", "slt"), piece("Another voice says something else.")))
      const second = yield* heard(engine, job)
      assert.deepStrictEqual(second.words, first.words)
      assert.isTrue(Buffer.from(second.pcm.buffer).equals(Buffer.from(first.pcm.buffer)))
    })
  )
})
