/** A recogniser with a language model of its own, without knowledge of the text. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { concatPcm, pcmToBytes, resample } from "#speech/audio"
import { decodeConfiguration } from "#configuration"
import { defaultVoiceId, embedded, engineVoice, voiceById } from "#speech"
import { folder, metrics } from "../../support/recordings.ts"

const { PocketsphinxPath, PocketsphinxModelFolder } = Result.getOrThrow(decodeConfiguration({})).VoiceCloning
const recogniserHz = 16_000
const text =
  "In the evening it began to rain. I would like to speak with the manager about the money that was paid last week."

const spokenBy = Effect.fnUntraced(function* (id: string) {
  const shared = voiceById(id)
  const voice = shared === undefined ? undefined : engineVoice(shared)
  if (voice === undefined) return yield* Effect.die(`there is no ${id}`)
  const engine = yield* voice.engine === "flite" ? embedded.flite.open() : embedded.espeak.open()
  const piece = { text, ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }
  const frames = yield* Stream.runCollect(engine.synthesize({ voice, pieces: [piece] }))
  return resample(concatPcm(frames.map(({ pcm }) => pcm)), 24_000, recogniserHz)
})

const heardIn = (at: string, pcm: Int16Array) => {
  writeFileSync(join(at, "spoken.raw"), pcmToBytes(pcm))
  writeFileSync(join(at, "recordings"), "spoken\n")
  const parameters = {
    hmm: join(PocketsphinxModelFolder, "en-us"),
    lm: join(PocketsphinxModelFolder, "en-us.lm.bin"),
    dict: join(PocketsphinxModelFolder, "cmudict-en-us.dict"),
    ctl: join(at, "recordings"),
    cepdir: at,
    cepext: ".raw",
    adcin: "yes",
    adchdr: "0",
    samprate: `${recogniserHz}`,
    hyp: join(at, "heard"),
    logfn: "/dev/null"
  }
  execFileSync(
    PocketsphinxPath,
    Object.entries(parameters).flatMap(([name, value]) => [`-${name}`, value])
  )
  return readFileSync(join(at, "heard"), "utf8").replace(/ \([^()]*\)\s*$/u, "")
}

const wordsIn = (text: string) => text.toLowerCase().match(/[a-z']+/gu) ?? []

/** Deleted, inserted and substituted words, per hundred spoken words. */
const wordErrors = (spoken: ReadonlyArray<string>, heard: ReadonlyArray<string>) => {
  let row = Array.from({ length: heard.length + 1 }, (_, index) => index)
  for (const [index, word] of spoken.entries()) {
    const next = [index + 1]
    for (const [at, other] of heard.entries()) {
      const changed = (row[at] ?? 0) + (word === other ? 0 : 1)
      next.push(Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, changed))
    }
    row = next
  }
  return (100 * (row.at(-1) ?? 0)) / spoken.length
}

describe("the default English voice", () => {
  it.live("is understood by a recogniser, and much better than the plain voice of espeak-ng", () =>
    Effect.gen(function* () {
      const at = yield* folder
      const errorsOf = (id: string) =>
        Effect.map(spokenBy(id), (pcm) => wordErrors(wordsIn(text), wordsIn(heardIn(at, pcm))))
      const [own, plain] = [yield* errorsOf(defaultVoiceId()), yield* errorsOf("henry")]
      assert.isAtMost(own, 25)
      assert.isAbove(plain, 2 * own)
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
})
