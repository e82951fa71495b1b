/**
 * Voices of a fleet, judged by those who hear: words and phonemes heard wrongly, pauses, pace, first sound, at three
 * speeds. The voice that speaks without being asked for reads everything, others the first paragraphs of their language.
 */
import {
  type Heard,
  type Hearing,
  deafness,
  errorsBetween,
  hearingHz,
  openHearing,
  phonemesIn,
  wordsIn
} from "#dev/hearing"
import { resample } from "#speech/audio"
import { atMost, type Figure, figuresOf, type Findings, percentile } from "../figures.ts"
import type { LoadOptions } from "../options.ts"
import { closedLoop, pause } from "../loops.ts"
import { type MarkedSpeech, type Order, speakTimed, speakWhole } from "./client.ts"
import { decoded, decodedHz } from "./decode.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { onsetsOf } from "./onsets.ts"
import { pauseKinds, pauseMs, pausesOf } from "./pauses.ts"
import { type JudgedLanguage, judgedLanguages, paragraphs } from "./read-aloud.ts"
import { startsAfterMarks } from "./word-starts.ts"

/** Paragraphs that the first voice and each of the others read; `--sizes` names others. */
const paragraphsRead = [56, 5]
const format = "pcm_24000"

interface Voice {
  readonly id: string
  readonly language: JudgedLanguage
  readonly isNeural: boolean
  readonly isRealTime: boolean
}

interface Listed {
  readonly voices: ReadonlyArray<{
    readonly id: string
    readonly locale: string
    readonly real_time?: boolean
    readonly tags?: ReadonlyArray<string>
  }>
}

// Of espeak-ng's voices, whose sound differs little, one of each language stands for all.
const built = ["selma", "roger", "alan", "kal", "henry", "jonas", "javier", "julien", "matteo", "rafael"]

/** Those of models, which differ; and those of the engines that every synthesizer has. */
const judgedVoices = async ({ speech, token }: Fleet): Promise<ReadonlyArray<Voice>> => {
  const answer = await fetch(`${speech}/v1/voices?type=shared`, { headers: { authorization: `Bearer ${token}` } })
  const { voices } = (await answer.json()) as Listed
  const listed = voices.flatMap(({ id, locale, real_time: isRealTime = true, tags = [] }) => {
    const language = judgedLanguages.find((each) => locale.startsWith(each))
    const isNeural = tags.includes("neural")
    return language !== undefined && (isNeural || built.includes(id)) ? [{ id, language, isNeural, isRealTime }] : []
  })
  const placeOf = ({ id, isNeural, isRealTime }: Voice) => (isNeural ? (isRealTime ? -2 : -1) : built.indexOf(id))
  return listed.toSorted((left, right) => placeOf(left) - placeOf(right))
}

interface Spoken extends MarkedSpeech {
  readonly text: string
  readonly pcm: Int16Array
  readonly firstSoundMs: number
}

// On a busy machine a fleet tells a caller to come back.
const triesMax = 30

const spokenWhole = async (fleet: Fleet, order: Order, isRealTime: boolean) => {
  for (let tries = 1; ; tries++) {
    const timed = await (isRealTime ? speakTimed : speakWhole)(fleet, order)
    if (timed.speech.durationMs !== undefined) return timed
    if (tries === triesMax)
      throw new Error(`${order.voice_id} answers with ${timed.status}, or breaks off: ${order.input}`)
    await pause(1_000)
  }
}

const spokenBy = (fleet: Fleet, { id, isRealTime }: Voice, texts: ReadonlyArray<string>, speed: number) =>
  closedLoop(texts.length, 1, async (index): Promise<Spoken> => {
    const text = texts[index] ?? ""
    const order = { input: text, output_format: format, voice_id: id, speed }
    const { speech, firstByteMs } = await spokenWhole(fleet, order, isRealTime)
    const pcm = await decoded(format, speech.audio)
    // As a player hears it that begins with the first byte.
    return { ...speech, text, pcm, firstSoundMs: firstByteMs + (onsetsOf(pcm)[0] ?? Number.NaN) }
  })

const heardIn = (hearings: ReadonlyArray<Hearing>, language: JudgedLanguage, spoken: ReadonlyArray<Spoken>) => {
  const free = [...hearings]
  return closedLoop(spoken.length, hearings.length, async (index) => {
    const { text, pcm } = spoken[index] as Spoken
    const hearing = free.pop() as Hearing
    const heard = await hearing.hear({ pcm: resample(pcm, decodedHz, hearingHz), language, text })
    free.push(hearing)
    return { index, heard }
  }).then((results) => results.toSorted((left, right) => left.index - right.index).map(({ heard }) => heard))
}

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const wrongPercent = (pairs: ReadonlyArray<readonly [said: ReadonlyArray<string>, heard: ReadonlyArray<string>]>) =>
  (100 * sum(pairs.map(([said, heard]) => errorsBetween(said, heard)))) / sum(pairs.map(([said]) => said.length))

// What a listener is promised of the voice that speaks without being asked for.
const wrongMax: Readonly<Record<number, number>> = { 1: 4, 1.5: 8, 2: 15 }
const pauseToleranceMs = 80

interface Reading {
  readonly voice: Voice
  readonly speed: number
  /** The voice that speaks without being asked for. */
  readonly isFirst: boolean
  readonly spoken: ReadonlyArray<Spoken>
  readonly heard: ReadonlyArray<Heard>
}

type MakeFigure = ReturnType<typeof figuresOf>

const soundsOf = (symbols: ReadonlyArray<readonly [string, unknown]>) =>
  phonemesIn(symbols.map(([symbol]) => symbol).join(""))

const errorFigures = (figure: MakeFigure, { voice: { language }, speed, isFirst, spoken, heard }: Reading) => {
  const said = spoken.map(({ text }) => wordsIn(text, language))
  const count = sum(said.map((words) => words.length))
  const wrong = wrongPercent(said.map((words, at) => [words, wordsIn(heard[at]?.words ?? "", language)]))
  const phonemes = wrongPercent(
    heard.map(({ expected, phonemes: sounds }) => [
      phonemesIn(expected.map(([, symbols]) => symbols).join("")),
      soundsOf(sounds)
    ])
  )
  const minutes = sum(spoken.map(({ pcm }) => pcm.length)) / decodedHz / 60
  const firstSounds = spoken.map(({ firstSoundMs }) => firstSoundMs)
  return [
    figure("words read", count, ""),
    figure("words heard wrongly", wrong, "%", isFirst ? atMost(wrongMax[speed] ?? 0, wrong, "%") : {}),
    ...(language === "en" ? [figure("phonemes heard wrongly", phonemes, "%")] : []),
    figure("words a minute", count / minutes, ""),
    figure("first sound, p50", percentile(firstSounds, 0.5), "ms")
  ]
}

const pauseFigures = (figure: MakeFigure, { speed, isFirst, spoken }: Reading) => {
  const pauses = spoken.flatMap(({ text, pcm, marks }) => pausesOf(text, pcm, marks))
  return pauseKinds.flatMap((kind) => {
    const those = pauses.filter((each) => each.kind === kind)
    if (those.length === 0) return []
    const medianOf = (name: "heardMs" | "markedMs") =>
      percentile(
        those.map((each) => each[name]),
        0.5
      )
    const [heardMs, wantedMs] = [medianOf("heardMs"), (pauseMs[kind] ?? 0) / speed]
    const target = `${Math.round(wantedMs)} ± ${pauseToleranceMs} ms`
    const met = Math.abs(heardMs - wantedMs) <= pauseToleranceMs
    return [
      figure(`pause at a ${kind}, heard`, heardMs, "ms", isFirst ? { target, met } : {}),
      figure(`pause at a ${kind}, by the marks`, medianOf("markedMs"), "ms")
    ]
  })
}

const startFigures = (figure: MakeFigure, { spoken, heard }: Reading) => {
  const late = heard.flatMap((each, at) => startsAfterMarks(each, spoken[at]?.marks ?? []))
  if (late.length === 0) return []
  // The judge names a sound when it has heard most of it.
  const delayMs = percentile(late, 0.5)
  const apart = late.map((ms) => Math.abs(ms - delayMs))
  return [
    figure("words whose start was heard", late.length, ""),
    figure("delay of the judge", delayMs, "ms"),
    figure("start of words beyond that, p50", percentile(apart, 0.5), "ms"),
    figure("start of words beyond that, p90", percentile(apart, 0.9), "ms")
  ]
}

interface Asked {
  readonly sizes: ReadonlyArray<number>
  readonly speeds: ReadonlyArray<number>
  /** Before the names of its figures. */
  readonly label: string
}

const judged = async ({ sizes, speeds, label }: Asked): Promise<Findings> => {
  if (deafness !== undefined) throw Object.assign(new Error(deafness), { _tag: "HearingMissing" })
  return withFleet(async (fleet) => {
    const hearings = [openHearing(), openHearing()]
    try {
      const figures: Array<Figure> = []
      for (const [at, voice] of (await judgedVoices(fleet)).entries()) {
        const texts = paragraphs(voice.language).slice(0, sizes[at === 0 ? 0 : 1])
        for (const speed of speeds) {
          const spoken = await spokenBy(fleet, voice, texts, speed)
          const heard = await heardIn(hearings, voice.language, spoken)
          const reading: Reading = { voice, speed, isFirst: at === 0, spoken, heard }
          const figure = figuresOf(`${label}${voice.id}, ${voice.language}, speed ${speed}`)
          const made = [errorFigures, pauseFigures, startFigures].flatMap((make) => make(figure, reading))
          figures.push(...made)
          process.stderr.write(`  ${label}${voice.id} at ${speed}: ${made[1]?.value.toFixed(1)} % of the words\n`)
        }
      }
      return { figures, series: [] }
    } finally {
      for (const { close } of hearings) close()
    }
  })
}

export const voices = ({ sizes = paragraphsRead }: LoadOptions) => judged({ sizes, speeds: [1, 1.5, 2], label: "" })

/** A paragraph of each, at speed 1. */
export const brief = ({ sizes = [1, 1] }: LoadOptions) => judged({ sizes, speeds: [1], label: "brief: " })
