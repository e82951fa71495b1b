/**
 * Jobs spoken by a program: passage by passage, one at a time. If the program reports when words start, its audio is
 * passed on as it comes; otherwise a passage is received completely, and its words are placed in it.
 */
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "node:timers"
import { makeResampler } from "#speech/audio/resample"
import type { Pronunciation } from "#speech/contract"
import { codePointStarts } from "../espeak/speaker.ts"
import { give, type PlaceWords } from "../sherpa/speaker.ts"
import { type Passage, passagesOf, wordAt } from "../worker/passages.ts"
import { endPause, paced, pauseBefore } from "../worker/pauses.ts"
import type { Outcome } from "../worker/protocol.ts"
import { joined, MissingPart, type Sink, type Speaker, type ThreadHost } from "../worker/serve.ts"
import { type Program, type ProgramOptions, startProgram } from "./program.ts"
import { type FromProgram, type Hello, offers, protocolVersion, type SpokenAs } from "./protocol.ts"

export interface ProcessModel extends ProgramOptions {
  readonly startMsMax: number
  readonly audioSecondsMax: number
  readonly textCharactersMax: number
  /** The speakers that the configuration names. */
  readonly speakers: ReadonlyArray<string>
}

/** Starts the program, reads its hello, and has it speak a word, so that it is warm. */
export const openProcessSpeaker = async (
  model: ProcessModel,
  { log, onEnd }: ThreadHost,
  placeWords: PlaceWords
): Promise<Speaker> => {
  const talk = converse(model, log)
  onEnd(talk.close)
  const late = setTimeout(() => talk.kill(`it was not ready after ${model.startMsMax / 1_000} s`), model.startMsMax)
  try {
    const hello = await talk.hello
    const lacking = model.speakers.find((speaker) => !hello.voices.includes(speaker))
    if (lacking !== undefined)
      throw new Error(`it has no voice ${lacking}; it has ${hello.voices.slice(0, 60).join(", ")}`)
    let samples = 0
    const count = (pcm: Int16Array) => void (samples += pcm.length)
    const warm = { voice: model.speakers[0] ?? "", locale: "en-US", text: "Hello.", rate: 1, pitch: 1, range: 1 }
    const failed = await talk.say(warm, { audio: count, word: () => {}, isWanted: () => true })
    if (failed !== null) throw new Error(`it cannot speak a word: ${failed}`)
    if (samples === 0) throw new Error("it spoke a word without a sound")
    return speakerOf({ talk, hello, model, placeWords })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    talk.kill(reason)
    throw new MissingPart(reason)
  } finally {
    clearTimeout(late)
  }
}

type Words = Omit<Extract<Parameters<Program["send"]>[0], { readonly type: "speak" }>, "type" | "id">

interface Listening {
  readonly audio: (pcm: Int16Array) => void
  readonly word: (position: number, sample: number) => void
  /** Polled: a program can be silent for long. */
  readonly isWanted: () => boolean
}

interface Conversation {
  readonly hello: Promise<Hello>
  /** Answers with the program's reason if it cannot say these words; fails if it is gone. */
  readonly say: (words: Words, listening: Listening) => Promise<string | null>
  readonly kill: (reason: string) => void
  readonly close: () => void
}

interface Saying {
  readonly id: number
  readonly listening: Listening
  readonly settle: (failed: string | null) => void
  readonly fail: (error: Error) => void
}

const wantedEveryMs = 20
// A cancelled program that has not ended its text by then is killed.
const cancelMsMax = 2_000

const converse = (model: ProgramOptions, log: (line: string) => void): Conversation => {
  const greeting = Promise.withResolvers<Hello>()
  // Its failure reaches whoever awaits it; a program that ends later fails a job.
  greeting.promise.catch(() => {})
  let [hasGreeted, isClosing, ids] = [false, false, 0]
  let exitReason: string | undefined
  let saying: Saying | undefined
  let cancelled: number | undefined
  const onMessage = (message: FromProgram) => {
    if (message.type === "hello") {
      if (hasGreeted) return program.kill("it said hello twice")
      hasGreeted = true
      return greeting.resolve(message)
    }
    if (saying === undefined || message.id !== saying.id) {
      // Its own end crossed the cancel in flight, and it ended the text once more.
      if (message.type === "end" && message.id === cancelled) return
      return program.kill(`it wrote ${message.type} of ${message.id}, which nobody asked for`)
    }
    if (message.type === "audio") saying.listening.audio(message.pcm)
    else if (message.type === "word") saying.listening.word(message.position, message.sample)
    else saying.settle(message.type === "end" ? null : message.message)
  }
  const onExit = (reason: string) => {
    exitReason = reason
    const error = new Error(reason)
    greeting.reject(error)
    if (saying !== undefined) saying.fail(error)
    // The thread ends with its program, also between jobs, and the pool starts another.
    else if (hasGreeted && !isClosing) {
      setImmediate(() => {
        throw error
      })
    }
  }
  const program = startProgram(model, { onMessage, onLog: log, onExit })
  program.send({ type: "hello", protocol: protocolVersion, offers })
  const say: Conversation["say"] = (words, listening) =>
    new Promise<string | null>((resolve, reject) => {
      if (exitReason !== undefined) return reject(new Error(exitReason))
      ids += 1
      const id = ids
      let late: NodeJS.Timeout | undefined
      const looks = setInterval(() => {
        if (late !== undefined || listening.isWanted()) return
        program.send({ type: "cancel", id })
        cancelled = id
        late = setTimeout(() => program.kill(`it went on for ${cancelMsMax} ms after a cancel`), cancelMsMax)
      }, wantedEveryMs)
      const done =
        <A>(answer: (value: A) => void) =>
        (value: A) => {
          clearInterval(looks)
          clearTimeout(late)
          saying = undefined
          answer(value)
        }
      saying = { id, listening, settle: done(resolve), fail: done(reject) }
      program.send({ type: "speak", id, ...words })
    })
  const close = () => {
    isClosing = true
    program.close()
  }
  return { hello: greeting.promise, say, kill: program.kill, close }
}

interface Spoken {
  readonly talk: Conversation
  readonly hello: Hello
  readonly model: ProcessModel
  readonly placeWords: PlaceWords
}

const speakerOf = (spoken: Spoken): Speaker => ({
  hz: spoken.hello.sampleRateHz,
  firstVoice: null,
  ...(spoken.hello.phonemes ? { readsPhonemes: true } : {}),
  speak: async (job, sink) => {
    const { voice } = job
    const known = "locale" in voice && spoken.hello.voices.includes(voice.name) ? voice : undefined
    if (known === undefined) return failure("voice", `the program has no voice ${voice.name}`)
    const passages = passagesOf(job)
    let begun = 0
    for (const [at, passage] of passages.entries()) {
      const isLast = at === passages.length - 1 && !job.goesOn
      const said = await sayPassage(spoken, { passage, voice: known, begun, isLast }, sink)
      if (said.outcome !== null || !said.isWanted) return said.outcome
      begun += said.samples
    }
    return null
  }
})

const failure = (reason: "voice" | "too_long", detail: string): Outcome => ({ kind: "failed", reason, detail })

interface Placed {
  readonly passage: Passage
  readonly voice: { readonly name: string; readonly locale: string; readonly language: string }
  /** Samples of the job before this passage. */
  readonly begun: number
  /** Nothing follows in the same sentence. */
  readonly isLast: boolean
}

interface Said {
  readonly outcome: Outcome | null
  readonly isWanted: boolean
  readonly samples: number
}

const nothing = new Int16Array(0)

const sayPassage = async (spoken: Spoken, placed: Placed, sink: Sink): Promise<Said> => {
  const { talk, hello, model, placeWords } = spoken
  const { passage, voice, begun, isLast } = placed
  const { text } = passage
  const hz = hello.sampleRateHz
  const stopped = (outcome: Outcome | null): Said => ({ outcome, isWanted: false, samples: 0 })
  if (text.length > model.textCharactersMax) {
    return stopped(
      failure("too_long", `${text.length} characters at once; TextCharactersMax is ${model.textCharactersMax}`)
    )
  }
  const { words, playedHz } = wordsFor(hello, passage, voice)
  const resampler = makeResampler(playedHz, hz)
  const ownSpeed = ownSpeedOf(hello, passage)
  const utterance = paced(sink, { hz, passage, ownSpeed, begun, endPause: endPause(text, isLast) })
  const starts = codePointStarts(text)
  const pending: Array<Int16Array> = []
  let [samples, isWanted, isTooLong] = [0, true, false]
  const take = (pcm: Int16Array) => {
    if (!isWanted || isTooLong) return
    samples += pcm.length
    if (begun + samples > model.audioSecondsMax * hz) isTooLong = true
    else if (hello.wordTimes) isWanted = utterance.audio(pcm)
    else pending.push(pcm)
  }
  const failed = await talk.say(words, {
    audio: (pcm) => take(playedHz === hz ? pcm : resampler.push(pcm)),
    word: (codePoint, sample) => {
      const position = starts[codePoint] ?? text.length
      // Words past the end of the text are the program's own.
      if (position >= text.length) return
      const at = Math.round((sample * hz) / playedHz)
      utterance.word(wordAt(passage, position, at), pauseBefore(text, position))
    },
    isWanted: () => {
      isWanted &&= sink.audio(nothing, 0)
      return isWanted && !isTooLong
    }
  })
  if (isTooLong) return stopped(failure("too_long", `more than ${model.audioSecondsMax} s of audio`))
  if (!isWanted) return stopped(null)
  if (failed !== null) return stopped(failure("voice", failed))
  if (playedHz !== hz) take(resampler.flush())
  if (hello.wordTimes) return { outcome: null, isWanted: utterance.end(), samples: utterance.samples() }
  const pcm = joined(pending, samples)
  const placedWords = placeWords({ text, language: voice.language, pcm, hz })
  const given = give({ passage, ownSpeed, pcm, words: placedWords, hz, begun, isLast }, sink)
  return { outcome: null, isWanted: given !== undefined, samples: given ?? 0 }
}

const inCodePoints =
  (text: string) =>
  ({ from, ipa, to }: Pronunciation): SpokenAs => ({
    position: Array.from(text.slice(0, from)).length,
    length: Array.from(text.slice(from, to)).length,
    ipa
  })

/** The part of the speed that the program is asked for. */
const ownSpeedOf = ({ prosody }: Hello, { speed }: Passage) =>
  prosody.includes("rate") ? Math.max(0.5, Math.min(2, speed)) : 1

/** A resampler's table stays small between rates on this grid. */
const gridHz = 150

/** A program that supports a pace but no pitch speaks slower and is played faster: its formants move along. */
const wordsFor = (hello: Hello, passage: Passage, { name, locale }: Placed["voice"]) => {
  const { text, pitch, pronunciations, range } = passage
  const has = (prosody: Hello["prosody"][number]) => hello.prosody.includes(prosody)
  const isPlayed = pitch !== 1 && !has("pitch") && has("rate")
  const playedHz = isPlayed ? gridHz * Math.round((hello.sampleRateHz * pitch) / gridHz) : hello.sampleRateHz
  const rate = has("rate") ? (ownSpeedOf(hello, passage) * hello.sampleRateHz) / playedHz : 1
  const words: Words = {
    voice: name,
    locale,
    text,
    ...(hello.phonemes && pronunciations.length > 0 ? { phonemes: pronunciations.map(inCodePoints(text)) } : {}),
    rate,
    pitch: has("pitch") ? pitch : 1,
    range: has("range") ? range : 1
  }
  return { words, playedHz }
}
