import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { SpeechEngine } from "../../../../libs/speech/engine/Engine.ts"
import { embedded } from "../../../../libs/speech/engine/embedded.ts"
import { sharedVoices } from "../../../../libs/speech/voices.ts"
import { ownTemporaryFolder } from "../../../support/temporary-folder.ts"
import { heard, jobOf, metrics, piece, voiceOf } from "./jobs.ts"
import { onsets, quantile } from "./signal.ts"

/** Opened once for a suite: its start takes longer than what a test speaks. */
class Espeak extends Context.Service<Espeak, SpeechEngine>()("test/Espeak") {
  static readonly layer = Layer.effect(Espeak, embedded.espeak.open()).pipe(Layer.provide(metrics))
}

const withEspeak = layer(Espeak.layer, { excludeTestServices: true })

const american = voiceOf("espeak", "en-us")

// While no other thread has the library.
describe("espeak", () => {
  it.live("leaves no copy of its library behind", () =>
    Effect.gen(function* () {
      const folder = yield* ownTemporaryFolder

      yield* embedded.espeak.open({ threads: 2 })

      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
})

withEspeak("espeak", (it) => {
  it.effect.each([
    ["en-us", "I paid $1,234.56 at noon.", ["I", "paid", "$1,234.56", "at", "noon."]],
    ["en-us", "See https://x.io/a?b=1 now.", ["See", "https://x.io/a?b=1", "now."]],
    ["en-us", "Good 😀 morning 🏳️‍🌈 friends.", ["Good", "😀", "morning", "🏳️‍🌈", "friends."]],
    ["en-us", "An 𝒜stral 𐍈 word here.", ["An", "𝒜stral", "𐍈", "word", "here."]],
    ["en-us", "Une\u0301 “quoted” it’s 5kg.", ["Une\u0301", "“quoted”", "it’s", "5kg."]],
    ["he", "שלום עולם גדול", ["שלום", "עולם", "גדול"]],
    ["ar", "مرحبا بالعالم اليوم", ["مرحبا", "بالعالم", "اليوم"]],
    ["ru", "Привет, большой мир.", ["Привет,", "большой", "мир."]]
  ] as const)("maps its speech to the words of the text (%s: %s)", ([name, text, tokens]) =>
    Effect.gen(function* () {
      const { words } = yield* heard(yield* Espeak, jobOf(voiceOf("espeak", name), piece(text)))

      const spans = [...text.matchAll(/\S+/gu)].map((match) => ({ token: match[0], from: match.index }))
      const spoken = words.map(({ position }) => spans.findLast((span) => span.from <= position)?.token ?? "")
      assert.deepStrictEqual([...new Set(spoken)], [...tokens])
      for (const { position } of words) {
        const unit = text.charCodeAt(position)
        // Never in the middle of a character.
        assert.isFalse(unit >= 0xdc00 && unit <= 0xdfff)
      }
    })
  )
  it.effect("maps Chinese to its characters or words, in their order", () =>
    Effect.gen(function* () {
      const text = "你好，世界。今天天气很好。"
      const { words } = yield* heard(yield* Espeak, jobOf(voiceOf("espeak", "cmn"), piece(text)))

      assert.isAtLeast(words.length, 8)
      assert.isTrue(words.every(({ position }, at) => position >= (words[at - 1]?.position ?? 0)))
      assert.isAtLeast(words.at(-1)?.position ?? 0, 9)
    })
  )
  it.effect("speaks markup as text and opens no file that the text names", () =>
    Effect.gen(function* () {
      // This pipe has no writer: opening it to read would block for ever.
      const folder = mkdtempSync(join(tmpdir(), "starling-test-"))
      const pipe = join(folder, "a.wav")
      execFileSync("mkfifo", [pipe])
      const text = `<speak><audio src="${pipe}">hello</audio></speak>`

      const { words } = yield* heard(yield* Espeak, jobOf(american, piece(text)))

      const spoken = words.map(({ position }) => text.slice(position).match(/^[a-z]+/u)?.[0])
      assert.includeMembers(spoken, ["speak", "audio", "hello"])
      rmSync(folder, { recursive: true })
    })
  )
  it.effect("reports half of all word starts within 14 ms of their sound, and 90 % within 50 ms", () =>
    Effect.gen(function* () {
      const engine = yield* Espeak
      const list = (
        "Apple Bridge Candle Doctor Engine Flower Garden Hammer Island Jacket Kitchen Ladder Mirror Needle Orange " +
        "Pencil Quarter Rabbit Silver Table Umbrella Village Window Yellow Zebra"
      ).split(" ")
      // Only a capital letter begins a sentence.
      const layouts = [". ", "? ", "! "].map((between) => `${list.join(between)}.`)
      const errors: Array<number> = []

      for (const text of layouts) {
        const { pcm, words } = yield* heard(engine, jobOf(american, piece(text)))
        const heardAt = onsets(pcm)
        const begun = words.filter(({ position }) => /[A-Z]/u.test(text.charAt(position)))
        for (const { sample } of begun) errors.push(Math.min(...heardAt.map((at) => Math.abs(at - sample))) / 24)
      }

      assert.strictEqual(errors.length, 75)
      assert.isAtMost(quantile(errors, 0.5), 14)
      assert.isAtMost(quantile(errors, 0.9), 50)
    })
  )
  it.effect("has every voice of the catalogue, at about equal loudness", () =>
    Effect.gen(function* () {
      const engine = yield* Espeak
      for (const { engine: voice } of sharedVoices.filter((one) => one.engine.engine === "espeak")) {
        const { pcm } = yield* heard(engine, jobOf(voice, piece("1, 2, 3, 4, 5, 6, 7, 8, 9, 10.")))
        const loud = pcm.filter((sample) => Math.abs(sample) > 200)
        const level = 10 * Math.log10(loud.reduce((sum, sample) => sum + sample ** 2, 0) / loud.length / 32_768 ** 2)
        assert.closeTo(level, -17, 3, voice.name)
      }
    })
  )
})

withEspeak("espeak with phonemes", (it) => {
  const pronounced = (text: string, ...pronunciations: ReadonlyArray<readonly [word: string, ipa: string]>) =>
    piece(text, {
      pronunciations: pronunciations.map(([word, ipa]) => ({
        from: text.indexOf(word),
        to: text.indexOf(word) + word.length,
        ipa
      }))
    })

  it.effect.each([
    ["en-us", "church", "ˈtʃɜːtʃ"],
    ["en-us", "thing", "θˈɪŋ"],
    ["en-us", "star", "ˈstɑɹ"],
    ["en-us", "vision", "ˈvɪʒən"],
    ["en", "tomato", "təˈmɑːtəʊ"],
    ["de", "schön", "ʃøːn"],
    ["de", "Küche", "ˈkyçə"],
    ["fr", "bonjour", "bɔ̃ˈʒuʁ"],
    ["fr", "montagne", "mɔ̃ˈtaɲ"],
    ["ru", "ещё", "jɪˈɕɵ"],
    ["pl", "Łódź", "wutɕ"]
  ] as const)("speaks them as the word that sounds so (%s: %s, %s)", ([name, word, ipa]) =>
    Effect.gen(function* () {
      const engine = yield* Espeak
      const voice = voiceOf("espeak", name)

      const native = yield* heard(engine, jobOf(voice, piece(word)))
      const spelled = yield* heard(engine, jobOf(voice, pronounced("mmm", ["mmm", ipa])))

      assert.isTrue(Buffer.from(spelled.pcm.buffer).equals(Buffer.from(native.pcm.buffer)))
      assert.deepStrictEqual(
        spelled.words.map(({ position, sample }) => [position, sample]),
        native.words.map(({ position, sample }) => [position, sample])
      )
    })
  )
  it.effect("changes what is heard of that word alone, which keeps its place and its time", () =>
    Effect.gen(function* () {
      const engine = yield* Espeak
      const text = "Say (tomato) twice, [[tomato]] said 😀 tomato."
      const plain = yield* heard(engine, jobOf(american, piece(text)))
      const british = yield* heard(engine, jobOf(american, pronounced(text, ["tomato", "təˈmɑːtəʊ"])))

      assert.notStrictEqual(british.pcm.length, plain.pcm.length)
      const before = Math.min(...[plain, british].map(({ words }) => words[1]?.sample ?? 0))
      assert.deepStrictEqual(british.pcm.subarray(0, before - 1_200), plain.pcm.subarray(0, before - 1_200))
      const places = ({ words }: typeof plain) => [...new Set(words.map(({ position }) => position))]
      assert.deepStrictEqual(
        places(british).filter((place) => text.slice(place).startsWith("tomato")),
        places(plain).filter((place) => text.slice(place).startsWith("tomato"))
      )
      assert.isTrue(british.words.every(({ sample }, at) => sample >= (british.words[at - 1]?.sample ?? 0)))
      const again = yield* heard(engine, jobOf(american, piece(text)))
      assert.isTrue(Buffer.from(again.pcm.buffer).equals(Buffer.from(plain.pcm.buffer)))
    })
  )
  it.effect("does not read a caller's own brackets as phonemes", () =>
    Effect.gen(function* () {
      const engine = yield* Espeak
      const say = (text: string) => heard(engine, jobOf(american, pronounced(text, ["cat", "kæt"])))

      const bracketed = yield* say("cat, [[h@l'oU]] now.")
      const opened = yield* say("cat, [ h@l'oU]] now.")

      assert.isTrue(Buffer.from(bracketed.pcm.buffer).equals(Buffer.from(opened.pcm.buffer)))
    })
  )
})
