/**
 * How often the check of a consent is wrong: recordings of four people and five impostors through the real intake,
 * recogniser and speaker check, at the thresholds of the configuration's defaults.
 */
import { Effect, Layer, Result } from "effect"
import type { Recording } from "#speech/audio"
import { decodeConfiguration } from "#configuration"
import {
  makePhrase,
  phraseWordsMatched,
  PhraseCheck,
  pocketsphinxLayer,
  SpeakerCheck,
  speakerCheckLayer
} from "#speech/cloning"
import { atMost, distribution, exactly, figuresOf, type Findings, joined, percentile } from "../figures.ts"
import { impostors, metrics, people, withBooth } from "./consent-voices.ts"

const phrasesEach = 12
const noiseBelowDb = 30

const sampleTexts = [
  "The harbour was quiet before sunrise. A single boat came in slowly, and the men on the pier waited with their hands in their pockets, watching the water turn from black to grey to blue. Nobody spoke until the ropes were tied.",
  "When the train finally left the city, she opened her notebook and began to draw the houses that passed by the window. Some of them had gardens, others had only a fence and a dog, and one had a tower with a golden clock."
]
const denials = [
  "I do not agree to have my voice cloned. My words are",
  "Nobody may copy how I speak. My words are",
  ""
]
const unrelated =
  "We walked along the river until the rain began, and then we sat under a bridge and ate the bread that we had brought with us."

interface Spoken {
  readonly voice: string
  readonly words: ReadonlyArray<string>
  readonly recording: Recording
}

/** The same phrases in every run. */
const chance = () => {
  let state = 20_261_121
  return (bound: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
}

interface Checks {
  readonly hear: (recording: Recording) => Promise<ReadonlyArray<string>>
  readonly distance: (one: Recording, other: Recording) => Promise<number>
  readonly wordsMin: number
  readonly distanceMax: number
}

const withChecks = <A>(use: (checks: Checks) => Promise<A>): Promise<A> => {
  const { VoiceCloning } = Result.getOrThrow(decodeConfiguration({}))
  return Effect.gen(function* () {
    const phrase = yield* PhraseCheck
    const speaker = yield* SpeakerCheck
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    return yield* Effect.promise(() =>
      use({
        hear: (recording) => run(phrase.transcribe(recording)),
        distance: (one, other) => run(speaker.distance(one, other)),
        wordsMin: VoiceCloning.PhraseWordsMin,
        distanceMax: speaker.distanceMax
      })
    )
  }).pipe(
    Effect.provide(Layer.mergeAll(pocketsphinxLayer(VoiceCloning), speakerCheckLayer(VoiceCloning), metrics)),
    Effect.runPromise
  )
}

export const consent = (): Promise<Findings> =>
  withBooth((booth) =>
    withChecks(async (checks) => {
      const below = chance()
      const consents: Array<Spoken> = []
      const noisy: Array<Spoken> = []
      const refused: Array<Spoken> = []
      for (const voice of people) {
        for (let number = 0; number < phrasesEach; number++) {
          const { phrase, words } = makePhrase(below)
          consents.push({ voice, words, recording: await booth.record(voice, phrase) })
          noisy.push({ voice, words, recording: await booth.record(voice, phrase, noiseBelowDb) })
          const opening = denials[number]
          if (opening === undefined) continue
          refused.push({ voice, words, recording: await booth.record(voice, `${opening} ${words.join(", ")}.`) })
        }
        refused.push({ voice, words: makePhrase(below).words, recording: await booth.record(voice, unrelated) })
      }
      const samples: Array<Spoken> = []
      for (const voice of [...people, ...impostors]) {
        for (const text of sampleTexts) samples.push({ voice, words: [], recording: await booth.record(voice, text) })
      }
      const phrases = { figures: await phraseFigures(checks, consents, noisy, refused), series: [] }
      return joined([phrases, await speakerFigures(checks, consents, noisy, samples)])
    })
  )

const phraseFigures = async (
  { hear, wordsMin }: Checks,
  consents: ReadonlyArray<Spoken>,
  noisy: ReadonlyArray<Spoken>,
  refused: ReadonlyArray<Spoken>
) => {
  const figure = figuresOf("consent, phrase")
  const tookMs: Array<number> = []
  const heardIn = async (all: ReadonlyArray<Spoken>) => {
    const heard: Array<ReadonlyArray<string>> = []
    for (const { recording } of all) {
      const started = performance.now()
      heard.push(await hear(recording))
      tookMs.push(performance.now() - started)
    }
    return heard
  }
  const heard = await heardIn(consents)
  const matched = consents.map(({ words }, at) => phraseWordsMatched(words, heard[at] ?? []))
  const inNoise = await heardIn(noisy)
  const matchedInNoise = noisy.map(({ words }, at) => phraseWordsMatched(words, inNoise[at] ?? []))
  const others = consents.flatMap(({ words }, at) =>
    heard.filter((_, other) => other !== at).map((one) => phraseWordsMatched(words, one))
  )
  const denied = await heardIn(refused)
  const deniedMatched = refused.map(({ words }, at) => phraseWordsMatched(words, denied[at] ?? []))
  const below = (all: ReadonlyArray<number>) => all.filter((count) => count < wordsMin).length
  return [
    figure("recordings", consents.length, ""),
    figure("all five words heard", matched.filter((count) => count === 5).length, ""),
    figure(
      `false rejects at ${wordsMin} words`,
      below(matched),
      "",
      atMost(consents.length * 0.05, below(matched), "")
    ),
    figure(`false rejects, white noise ${noiseBelowDb} dB below`, below(matchedInNoise), ""),
    figure("other challenges tried", others.length, ""),
    figure("other challenges, most words matched", Math.max(...others), ""),
    figure("other challenges accepted", others.length - below(others), "", exactly(0, others.length - below(others))),
    figure("denials and other speech tried", refused.length, ""),
    figure(
      "denials and other speech accepted",
      refused.length - below(deniedMatched),
      "",
      exactly(0, refused.length - below(deniedMatched))
    ),
    figure("time of a check, p50", percentile(tookMs, 0.5), "ms"),
    figure("time of a check, worst", Math.max(...tookMs), "ms")
  ]
}

const speakerFigures = async (
  { distance, distanceMax }: Checks,
  consents: ReadonlyArray<Spoken>,
  noisy: ReadonlyArray<Spoken>,
  samples: ReadonlyArray<Spoken>
): Promise<Findings> => {
  const figure = figuresOf("consent, speaker")
  const tookMs: Array<number> = []
  const between = async (one: Spoken, other: Spoken) => {
    const started = performance.now()
    const found = await distance(one.recording, other.recording)
    tookMs.push(performance.now() - started)
    return found
  }
  const [same, different, sameInNoise, throats]: [Array<number>, Array<number>, Array<number>, Array<number>] = [
    [],
    [],
    [],
    []
  ]
  for (const spoken of consents) {
    for (const sample of samples) (sample.voice === spoken.voice ? same : different).push(await between(spoken, sample))
  }
  for (const spoken of noisy) {
    for (const sample of samples) if (sample.voice === spoken.voice) sameInNoise.push(await between(spoken, sample))
  }
  const machines = samples.filter(({ voice }) => impostors.some((name) => name === voice))
  for (const [at, one] of machines.entries()) {
    for (const other of machines.slice(at + 1)) if (other.voice !== one.voice) throats.push(await between(one, other))
  }
  const beyond = (all: ReadonlyArray<number>) => all.filter((found) => found > distanceMax).length
  const accepted = different.length - beyond(different)
  return {
    figures: [
      figure("threshold", distanceMax, ""),
      figure("pairs of one voice", same.length, ""),
      figure("one voice, p50", percentile(same, 0.5), ""),
      figure("one voice, worst", Math.max(...same), ""),
      figure("false rejects", beyond(same), "", exactly(0, beyond(same))),
      figure(`one voice, white noise ${noiseBelowDb} dB below, worst`, Math.max(...sameInNoise), ""),
      figure(`false rejects, white noise ${noiseBelowDb} dB below`, beyond(sameInNoise), ""),
      figure("pairs of two voices", different.length, ""),
      figure("two voices, nearest", Math.min(...different), ""),
      figure("two voices, p50", percentile(different, 0.5), ""),
      figure("false accepts", accepted, "", exactly(0, accepted)),
      figure("pairs of two of espeak's voices", throats.length, ""),
      figure("of these accepted: variants of one throat", throats.length - beyond(throats), ""),
      figure("time of a check, p50", percentile(tookMs, 0.5), "ms")
    ],
    series: [
      {
        title: "Distance of a consent from a sample",
        unit: "",
        lines: [
          { name: "one voice", values: distribution(same) },
          { name: "two voices", values: distribution(different) }
        ]
      }
    ]
  }
}
