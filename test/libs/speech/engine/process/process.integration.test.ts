/**
 * Programs as engines. The duties of a program that speaks are tested on espeak-ng in a process of its own, with and
 * without word times, and on hibari-tts in Python where it is installed; what a faulty one may cost, on a faulty one.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Logger, type Scope, Stream, SubscriptionRef } from "effect"
import type { EngineVoice, VoiceProcess } from "#speech/contract"
import { Environment, Metrics } from "#runtime"
import { EngineFailed, type SpeechEngine } from "../../../../../libs/speech/engine/Engine.ts"
import { openProcessPool } from "../../../../../libs/speech/engine/process/ProcessPool.ts"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"
import { isGone } from "../../../../support/child-processes.ts"
import { heard, jobOf, metrics, piece, plainStyle } from "../jobs.ts"
import { decibels, melody } from "../signal.ts"

const sentence = "The river runs past the old mill, and in the evening the children walk home along its bank."
const surroundings = Layer.merge(metrics, Layer.succeed(Environment, { ...process.env, SEEN: "yes", SECRET: "no" }))
const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope | Metrics>) =>
  effect.pipe(Effect.scoped, Effect.provide(surroundings))

const node = (file: string, ...more: ReadonlyArray<string>) => ({
  Command: process.execPath,
  Arguments: [fileURLToPath(new URL(file, import.meta.url)), ...more]
})

const processOf = (speaker: string, options: Partial<VoiceProcess>): VoiceProcess => ({
  Id: "own",
  Command: "nothing",
  Arguments: [],
  Folder: "/",
  Environment: [],
  AtOnce: 1,
  RealTime: true,
  StartSecondsMax: 60,
  JobSecondsMax: 60,
  AudioSecondsMax: 60,
  TextCharactersMax: 2_000,
  MemoryMegabytesMax: 1_048_576,
  Voices: [{ Id: "v", Locale: "en-US", Gender: "female", Speaker: speaker, GainDb: 0, Tags: [] }],
  ...options
})

const voiceOf = (name: string): EngineVoice => ({
  engine: "process-own",
  name,
  locale: "en-US",
  language: "en-us",
  ...plainStyle,
  formantPercent: 100,
  gainDb: 0
})

interface Duties {
  readonly speaker: string
  readonly options: Partial<VoiceProcess>
  /** It knows a pitch of its own, and not only a pace. */
  readonly hasPitch: boolean
}

/** Started once for the tests that count nothing: a start costs more than what they have it speak. */
class Program extends Context.Service<Program, SpeechEngine>()("test/Program") {}

const suite = ({ speaker, options, hasPitch }: Duties) => {
  const voice = voiceOf(speaker)
  const open = openProcessPool(processOf(speaker, options))

  it.live("is ready when it is opened, and finds the words of a text in the order of the sound", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* open
        assert.deepStrictEqual(yield* SubscriptionRef.get(engine.state), { state: "ready" })
        const { words, pcm } = yield* heard(engine, jobOf(voice, piece(sentence)))

        const starts = [...sentence.matchAll(/\S+/gu)].map((match) => match.index)
        const positions = new Set(words.map((word) => word.position))
        assert.isAtLeast(positions.size, starts.length - 2)
        assert.isEmpty([...positions].filter((position) => !starts.includes(position)))
        assert.isTrue(
          words.every((word, at) => word.sample >= (words[at - 1]?.sample ?? 0) && word.sample < pcm.length)
        )
        assert.isAbove(pcm.length / 24_000, 2)
        assert.isAbove(decibels(pcm), -40)
        const text = yield* (yield* Metrics).text
        assert.match(text, /speech_engine_jobs_total\{.*engine="process-own",outcome="spoken"\} 1/u)
      })
    )
  )
  it.live("ends its work when its reader leaves, and speaks on", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* open
        const long = jobOf(voice, piece(`${sentence} `.repeat(10)))
        const running = yield* Effect.forkChild(heard(engine, long), { startImmediately: true })
        yield* Effect.sleep("100 millis")
        yield* Fiber.interrupt(running)
        const after = yield* heard(engine, jobOf(voice, piece("Still here.")))

        assert.isBelow(after.pcm.length / 24_000, 5)
        const text = yield* (yield* Metrics).text
        assert.match(text, /speech_engine_jobs_total\{.*outcome="cancelled"\} 1/u)
        assert.match(text, /speech_engine_threads_replaced_total\{.*engine="process-own"\} 0/u)
      })
    )
  )
  const shared = Layer.effect(Program, open).pipe(Layer.provide(surroundings))
  it.layer(shared, { excludeTestServices: true })((it) => {
    it.effect("counts words by piece and without the signs before them, beyond the basic plane too", () =>
      Effect.gen(function* () {
        const pieces = [piece("𝄞 We "), piece("really", { volumeDb: 3 }), piece(" mean it.")]

        const { words } = yield* heard(yield* Program, jobOf(voice, ...pieces))

        const places = words.map(({ piece, position }) => `${piece}:${position}`)
        for (const place of ["0:3", "1:0", "2:1", "2:6"]) assert.include(places, place)
      })
    )
    it.effect("puts no pause between the pieces of a sentence, and loses none of its words", () =>
      Effect.gen(function* () {
        const engine = yield* Program
        const whole = yield* heard(engine, jobOf(voice, piece("We really want to leave now.")))
        const louder = { volumeDb: 1 }
        const cut = yield* heard(
          engine,
          jobOf(voice, piece("We really "), piece("want to", louder), piece(" leave now."))
        )

        assert.isBelow(cut.pcm.length / whole.pcm.length, 1.5)
        assert.isTrue(cut.words.every((word, at) => word.sample >= (cut.words[at - 1]?.sample ?? 0)))
        assert.strictEqual(cut.words.at(-1)?.piece, 2)
      })
    )
    it.effect("speaks as loud, as high and as fast as requested", () =>
      Effect.gen(function* () {
        const engine = yield* Program
        const speak = (style: Parameters<typeof piece>[1]) => heard(engine, jobOf(voice, piece(sentence, style)))
        const plain = yield* speak({})

        assert.closeTo(decibels((yield* speak({ volumeDb: -6 })).pcm) - decibels(plain.pcm), -6, 0.6)
        const slow = yield* speak({ ratePercent: 75 })
        assert.closeTo((75 * slow.pcm.length) / plain.pcm.length, 100, 12)
        const high = yield* speak({ pitchPercent: 120 })
        assert.closeTo((100 * melody(high.pcm).pitch) / melody(plain.pcm).pitch, 120, hasPitch ? 8 : 10)
        assert.closeTo(high.pcm.length / plain.pcm.length, 1, 0.15)
      })
    )
    it.effect("has no voice but those of its hello", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(heard(yield* Program, jobOf(voiceOf("nobody"), piece("Hello"))))
        assert.instanceOf(error, EngineFailed)
        assert.strictEqual(error.reason, "voice")
      })
    )
  })
}

const espeak = "./espeak-engine.ts"
const spokenAs = (from: number, to: number, ipa: string) => ({ pronunciations: [{ from, to, ipa }] })
describe("a word with phonemes", () => {
  const voice = voiceOf("en-us")
  const open = (...more: ReadonlyArray<string>) => openProcessPool(processOf("en-us", node(espeak, ...more)))
  const marked = { ...piece("𝄞 The zzz came."), ...spokenAs(7, 10, "dˈɒɡ") }

  it.live("is given to a program that takes them, by code points, and sounds as the word that sounds so", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* open()
        const { pcm } = yield* heard(engine, jobOf(voice, marked))
        const native = { ...piece("𝄞 The dog came."), ...spokenAs(7, 10, "dˈɒɡ") }
        assert.deepStrictEqual(pcm, (yield* heard(engine, jobOf(voice, native))).pcm)
        assert.notDeepEqual(pcm, (yield* heard(engine, jobOf(voice, piece("𝄞 The zzz came.")))).pcm)
        const text = yield* (yield* Metrics).text
        assert.match(text, /speech_pronunciations_total\{.*engine="process-own",spoken="phonemes"\} 2/u)
      })
    )
  )
  it.live("is spoken as its text by a program that does not say that it takes them, and counted so", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* open("--without-phonemes")
        const { pcm } = yield* heard(engine, jobOf(voice, marked))
        assert.deepStrictEqual(pcm, (yield* heard(engine, jobOf(voice, piece("𝄞 The zzz came.")))).pcm)
        const text = yield* (yield* Metrics).text
        assert.match(text, /speech_pronunciations_total\{.*engine="process-own",spoken="text"\} 1/u)
      })
    )
  )
})

describe("espeak-ng as a program", () => suite({ speaker: "en-us", options: node(espeak), hasPitch: true }))
describe("a program that tells no word times", () =>
  suite({ speaker: "en-us", options: node(espeak, "--without-word-times"), hasPitch: true }))

// STARLING_TEST_HIBARI names a Python that has hibari-tts.
const python = process.env["STARLING_TEST_HIBARI"] ?? "python3"
const hasHibari = spawnSync(python, ["-c", "import hibari, onnxruntime"], { timeout: 120_000 }).status === 0
const why = hasHibari ? "" : " (skipped: no Python with hibari-tts; STARLING_TEST_HIBARI names one)"
const adapter = fileURLToPath(new URL("../../../../../dev/examples/engines/hibari_engine.py", import.meta.url))
const hibari = { Command: python, Arguments: [adapter], Environment: ["PYTHONPATH"] }
describe.skipIf(!hasHibari)(`hibari-tts in Python${why}`, () => {
  suite({ speaker: "heart", options: hibari, hasPitch: false })

  it.live("speaks a word by its phonemes, as the word that sounds so", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* openProcessPool(processOf("heart", hibari))
        const say = (text: string, ...told: ReadonlyArray<object>) =>
          heard(engine, jobOf(voiceOf("heart"), Object.assign(piece(text), ...told)))
        const { pcm } = yield* say("We ate zzzz there.", spokenAs(7, 11, "tʃˈiːz"))
        assert.deepStrictEqual(pcm, (yield* say("We ate cheese there.")).pcm)
      })
    )
  )
})

const faulty = (how: string, options: Partial<VoiceProcess> = {}, ...more: ReadonlyArray<string>) =>
  openProcessPool(processOf("one", { ...node("./faulty-engine.ts", how, ...more), ...options }))
/** With the pause of a sentence, of which 30 ms are heard before its first sound. */
const fineSamples = 2_400 + 0.29 * 24_000
const say = (text: string) => jobOf(voiceOf("one"), piece(text))

describe("a program that cannot speak", () => {
  it.live.each<readonly [string, Partial<VoiceProcess>, RegExp]>([
    ["old protocol", {}, /version 2 of the protocol; this release speaks 1/u],
    ["no voices", {}, /voices is to be a list/u],
    ["other voices", {}, /it has no voice one; it has two/u],
    ["no JSON", {}, /a line that is no JSON: "Loading model, please wait"/u],
    ["endless line", {}, /a line of more than 65536 bytes/u],
    ["exit", {}, /it ended with exit code 4/u],
    ["silent", { StartSecondsMax: 2 }, /it was not ready after 2 s/u],
    ["missing", { Command: "/nowhere/engine" }, /no such program/u],
    ["folder", { Folder: "/nowhere" }, /there is no folder \/nowhere/u]
  ])("says why (%s), and holds up nobody", ([how, options, reason]) =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* faulty(how, options)
        const { state, detail } = yield* SubscriptionRef.get(engine.state)
        assert.strictEqual(state, "failed")
        assert.match(detail ?? "", reason)
        const refused = yield* Effect.flip(heard(engine, say("fine")))
        assert.strictEqual(refused._tag, "EngineMissing")
      })
    )
  )
  it.live("sees the variables that it may see, in its folder, and its chatter is cut", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const open = (how: string) => scoped(faulty(how, { Environment: ["SEEN", "ABSENT"], Folder: tmpdir() }))
      yield* Effect.andThen(open("environment"), open("chatty")).pipe(
        Effect.provide(Logger.layer([logger])),
        Effect.scoped
      )
      const seen = lines.find((line) => line.startsWith("sees "))
      assert.strictEqual(seen?.replaceAll(/ (?:PWD|SHLVL|_|OLDPWD)\b/gu, ""), `sees LANG PATH SEEN in ${tmpdir()}`)
      const chatter = lines.filter((line) => line.startsWith("line "))
      assert.isAtLeast(chatter.length, 20)
      assert.isBelow(chatter.length, 100)
      assert.isTrue(chatter.every((line) => line.length <= 500))
    })
  )
  it.live("fails the job that it dies of, is started again, and speaks on", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* faulty("well")
        for (const [text, reason] of [
          ["crash", /it ended with exit code 3; its last line: out of luck/u],
          ["garbage", /no JSON: "not a line of JSON"/u],
          ["stranger", /which nobody asked for/u]
        ] as const) {
          const error = yield* Effect.flip(heard(engine, say(text)))
          assert.instanceOf(error, EngineFailed)
          assert.strictEqual(error.reason, "crashed")
          assert.match(error.detail, reason)
        }
        assert.strictEqual((yield* heard(engine, say("fine"))).pcm.length, fineSamples)
        const text = yield* (yield* Metrics).text
        assert.match(text, /speech_engine_threads_replaced_total\{.*engine="process-own"\} 3/u)
      })
    )
  )
  it.live("is killed with all that it started when it hangs", () =>
    scoped(
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-test-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true }))
        )
        const file = join(folder, "pid")
        const engine = yield* faulty("child", { JobSecondsMax: 2 }, file)
        const child = Number(readFileSync(file, "utf8"))
        assert.isFalse(isGone(child))
        const error = yield* Effect.flip(heard(engine, say("hang")))
        assert.instanceOf(error, EngineFailed)
        assert.strictEqual(error.reason, "stalled")
        yield* eventually(() => isGone(child))
        assert.strictEqual((yield* heard(engine, say("fine"))).pcm.length, fineSamples)
      })
    )
  )
  it.live("is killed when it continues after a cancel, and spared when it stops", () =>
    scoped(
      Effect.gen(function* () {
        for (const [how, replaced] of [
          ["well", 0],
          ["repeats", 0],
          ["deaf", 1]
        ] as const) {
          yield* Effect.gen(function* () {
            const engine = yield* faulty(how)
            yield* Stream.runCollect(Stream.take(engine.synthesize(say("slow")), 1))
            assert.strictEqual((yield* heard(engine, say("fine"))).pcm.length, fineSamples)
            const text = yield* (yield* Metrics).text
            assert.include(text, `engine="process-own"} ${replaced}\n`)
          }).pipe(Effect.scoped, Effect.provide(surroundings))
        }
      })
    )
  )
  it.live("gets no text beyond its limit, may not speak for longer than its own, and may refuse", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* faulty("well", { TextCharactersMax: 20, AudioSecondsMax: 2 })
        const reasons: Array<string> = []
        for (const text of ["a".repeat(21), "endless", "refuse"]) {
          const error = yield* Effect.flip(heard(engine, say(text)))
          reasons.push(error instanceof EngineFailed ? `${error.reason}: ${error.detail}` : String(error))
        }
        assert.deepStrictEqual(reasons, [
          "too_long: 21 characters at once; TextCharactersMax is 20",
          "too_long: more than 2 s of audio",
          "voice: no such word"
        ])
        assert.strictEqual((yield* heard(engine, say("fine"))).pcm.length, fineSamples)
      })
    )
  )
  it.live("ends with its engine, also when it would rather stay", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "starling-test-"))
      const file = join(folder, "pid")
      yield* scoped(faulty("child", {}, file))
      const child = Number(readFileSync(file, "utf8"))
      yield* eventually(() => isGone(child))
      rmSync(folder, { recursive: true })
      assert.isFalse(existsSync(folder))
    })
  )
})
