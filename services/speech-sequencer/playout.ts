/**
 * The playout of one session: which chunks to request, and which frames can be sent. Holds state, does no IO. Chunks
 * arrive in any order and are sent in order; the pauses between them are silence on the same timeline. A chunk's speech
 * marks are sent once the entire chunk has arrived: with a fast engine that is long before it is played.
 */
import { Result } from "effect"
import {
  type ChunkFrameHead,
  type EngineVoice,
  type Frame,
  frameSamplesMax,
  type ResumePoint,
  type SessionFrameHead,
  type SessionRequest,
  speechSampleRateHz,
  type SpokenMark
} from "#speech/contract"
import type { Fault } from "#base"
import { alignChunk, alignPhonemes, type Chunk, readInput } from "#speech"
import { chunkIntake, type ChunkIntake } from "./chunk-intake.ts"

export interface Playout {
  readonly accept: (head: ChunkFrameHead, pcm: Int16Array) => boolean
  /**
   * Chunks to request now; each is named once. `mayRunAhead` requests later chunks even before the first one has
   * delivered anything.
   */
  readonly wanted: (mayRunAhead: boolean) => ReadonlyArray<number>
  /** The frames that can be sent with the client's credit up to `limitSample`. */
  readonly frames: (limitSample: number) => ReadonlyArray<Frame<SessionFrameHead>>
  /** Settled audio that waits to be sent. */
  readonly heldMs: () => number
  /** The chunk that the playout waits for; undefined once all have arrived. */
  readonly awaited: () => number | undefined
  /** True if audio is ready and the client has no credit for it. */
  readonly isFull: (limitSample: number) => boolean
  readonly isEnded: () => boolean
}

// Chunks are requested a few ahead, while less than this waits to be sent: enough to hide a lost synthesizer.
const aheadChunks = 3
const aheadSamples = 4 * speechSampleRateHz
const silence = new Int16Array(0)
// What a listener gets of a turn that makes no sound: enough for an audio file that every player opens.
const silentTurnMs = 100

interface State {
  readonly script: Script
  readonly intakes: Map<number, ChunkIntake>
  readonly requested: Set<number>
  readonly queue: PcmQueue
  /** The current chunk, and whether the pause before it is in the queue. */
  current: number
  isOpened: boolean
  /** The start of that chunk on the timeline, after its pause. */
  speechStart: number
  /** Speech marks that are sent with the next frame. */
  marks: Array<SpokenMark>
  sequence: number
  /** The current turn has made a sound, or asks for silence: until then none of it is sent. */
  hasSound: boolean
  readonly silentTurns: Set<number>
  /** Some of it has arrived: until then, its later chunks would only delay other sessions' first ones. */
  hasBegun: boolean
  isEnded: boolean
}

export const playout = (script: Script, resume: ResumePoint | null): Playout => {
  const { lines } = script
  const queue = pcmQueue(resume?.chunkStartSample ?? 0, resume?.fromSample ?? 0)
  const state: State = {
    script,
    intakes: new Map(),
    requested: new Set(),
    queue,
    current: Math.min(resume?.chunk ?? 0, lines.length),
    isOpened: false,
    speechStart: 0,
    marks: [],
    sequence: 0,
    // Audio sent before a resume was audible.
    hasSound: (resume?.fromSample ?? 0) > 0,
    silentTurns: new Set(script.silentTurns),
    hasBegun: false,
    isEnded: false
  }
  return {
    accept: (head, pcm) => {
      if (head.chunk < state.current || !state.requested.has(head.chunk)) return false
      const isNew = intakeOf(state, head.chunk).accept(head, pcm)
      if (isNew) {
        state.hasBegun = true
        advance(state)
      }
      return isNew
    },
    wanted: (mayRunAhead) => wanted(state, mayRunAhead),
    frames: (limitSample) => frames(state, limitSample),
    heldMs: () => (queue.waiting() * 1_000) / speechSampleRateHz,
    awaited: () => (state.current < lines.length ? state.current : undefined),
    isFull: (limitSample) => queue.waiting() > 0 && queue.position() >= limitSample,
    isEnded: () => state.isEnded
  }
}

const intakeOf = ({ intakes }: State, chunk: number) => {
  const intake = intakes.get(chunk) ?? chunkIntake()
  intakes.set(chunk, intake)
  return intake
}

/** Moves the settled part of the current chunk, and of those after it, into the queue. */
const advance = (state: State) => {
  const { intakes, queue, script } = state
  for (let line = script.lines[state.current]; line !== undefined; line = script.lines[state.current]) {
    if (!state.isOpened) {
      queue.begin(state.current)
      queue.silence(line.chunk.pauseBeforeMs)
      state.speechStart = queue.end()
      state.isOpened = true
    }
    const intake = intakeOf(state, state.current)
    const { pauseAfterMs, pauseBeforeMs } = line.chunk
    state.hasSound ||= intake.speechEnd() > 0 || pauseBeforeMs + pauseAfterMs > 0
    if (state.hasSound) queue.push(intake.take())
    if (!intake.isComplete()) return
    const isLastOfTurn = script.lines[state.current + 1]?.turn !== line.turn
    if (isLastOfTurn && !state.hasSound) {
      // Known only now: some engines speak a lone sign, others pass over it.
      state.silentTurns.add(line.turn)
      queue.silence(silentTurnMs)
    } else {
      const spoken = {
        tokens: line.chunk.tokens,
        words: intake.words(),
        speechStartSample: state.speechStart,
        speechEndSample: intake.speechEnd(),
        turn: script.isDialogue ? line.turn : undefined
      }
      state.marks.push(...alignChunk(spoken), ...alignPhonemes(spoken))
      queue.silence(pauseAfterMs)
    }
    queue.silence(line.turnPauseMs)
    if (isLastOfTurn) state.hasSound = false
    intakes.delete(state.current)
    state.current += 1
    state.isOpened = false
  }
}

const wanted = (state: State, mayRunAhead: boolean): ReadonlyArray<number> => {
  const { requested, current, queue, script, hasBegun } = state
  if (queue.waiting() >= aheadSamples) return []
  const until = Math.min(script.lines.length, current + (hasBegun || mayRunAhead ? aheadChunks : 1))
  const chunks = []
  for (let chunk = current; chunk < until; chunk++) if (!requested.has(chunk)) chunks.push(chunk)
  for (const chunk of chunks) requested.add(chunk)
  return chunks
}

const frames = (state: State, limitSample: number): ReadonlyArray<Frame<SessionFrameHead>> => {
  const { queue, script } = state
  const leaving: Array<Frame<SessionFrameHead>> = []
  for (;;) {
    const taken = queue.take(Math.min(frameSamplesMax, limitSample - queue.position()))
    if (taken === undefined) break
    leaving.push(audioFrame(state, taken))
  }
  if (state.current >= script.lines.length && queue.waiting() === 0 && !state.isEnded) {
    state.isEnded = true
    const { marks } = state
    const silentTurns = [...state.silentTurns]
    const end = { _tag: "End", sequence: state.sequence++, totalSamples: queue.end(), marks, silentTurns } as const
    leaving.push({ head: end, pcm: silence })
  }
  return leaving
}

const audioFrame = (state: State, { pcm, sample, chunk, start }: TakenPcm): Frame<SessionFrameHead> => {
  const { marks } = state
  state.marks = []
  return { head: { _tag: "Audio", sequence: state.sequence++, sample, chunk, chunkStartSample: start, marks }, pcm }
}

interface TakenPcm {
  readonly pcm: Int16Array
  /** The position of the first sample on the timeline. */
  readonly sample: number
  readonly chunk: number
  /** The start of that chunk on the timeline, including the pause before it. */
  readonly start: number
}

/** PCM to be sent, in order, with its position on the timeline and its chunk. */
interface PcmQueue {
  /** Starts a chunk: everything pushed from now on belongs to it. */
  readonly begin: (chunk: number) => void
  readonly push: (pcm: Int16Array) => void
  readonly silence: (milliseconds: number) => void
  /** At most `samplesMax` samples of one chunk. */
  readonly take: (samplesMax: number) => TakenPcm | undefined
  readonly position: () => number
  readonly end: () => number
  readonly waiting: () => number
}

interface Waiting {
  pcm: Int16Array
  readonly chunk: number
  readonly start: number
}

/** `startSample`: the position of the first push on the timeline; samples before `fromSample` are left out. */
const pcmQueue = (startSample: number, fromSample: number): PcmQueue => {
  const waiting: Array<Waiting> = []
  let end = startSample
  let position = Math.max(startSample, fromSample)
  let chunk = 0
  let start = startSample

  const push = (pcm: Int16Array) => {
    if (pcm.length === 0) return
    const skipped = Math.min(pcm.length, Math.max(0, fromSample - end))
    end += pcm.length
    if (skipped < pcm.length) waiting.push({ pcm: pcm.subarray(skipped), chunk, start })
  }

  return {
    begin: (next) => {
      chunk = next
      start = end
    },
    push,
    silence: (milliseconds) => push(new Int16Array(Math.round((milliseconds * speechSampleRateHz) / 1_000))),
    take: (samplesMax) => {
      const [first] = waiting
      if (first === undefined || samplesMax <= 0) return undefined
      const pcm = first.pcm.subarray(0, samplesMax)
      if (pcm.length === first.pcm.length) waiting.shift()
      else first.pcm = first.pcm.subarray(samplesMax)
      const sample = position
      position += pcm.length
      return { pcm, sample, chunk: first.chunk, start: first.start }
    },
    position: () => position,
    end: () => end,
    waiting: () => Math.max(0, end - position)
  }
}

interface ScriptLine {
  readonly turn: number
  readonly voiceId: string
  readonly voice: EngineVoice
  readonly locale: string
  readonly chunk: Chunk
  /** Behind the last chunk of a turn, `SpeechTurn.pauseAfterMs`. */
  readonly turnPauseMs: number
}

export interface Script {
  readonly lines: ReadonlyArray<ScriptLine>
  /** Offsets in UTF-16 units of their turn's input. */
  readonly sentences: ReadonlyArray<{ readonly turn: number; readonly start: number; readonly end: number }>
  /** Those of signs alone, that nobody says. */
  readonly silentTurns: ReadonlyArray<number>
  /** Marks name their turn only if there are several. */
  readonly isDialogue: boolean
}

const silentTurn = `<speak><break time="${silentTurnMs}ms"/></speak>`

/**
 * The chunks of a session, in the order they are spoken: every turn's input, read and cut. Pure. Fails with all faults
 * of all turns; a path is `turns/<n>/input`, and the message gives the position in it.
 */
export const readScript = (
  request: Pick<SessionRequest, "turns" | "textNormalization">
): Result.Result<Script, ReadonlyArray<Fault>> => {
  const read = (turn: SessionRequest["turns"][number], input = turn.input) =>
    readInput(input, { ...tongueOf(turn), textNormalization: request.textNormalization })
  const isSilent = (reading: ReturnType<typeof read>) =>
    Result.isSuccess(reading) && reading.success.chunks.length === 0
  const asked = request.turns.map((turn) => read(turn))
  const silentTurns = asked.flatMap((reading, turn) => (isSilent(reading) ? [turn] : []))
  const readings = request.turns.map((turn, at) => (silentTurns.includes(at) ? read(turn, silentTurn) : asked[at]))
  const faults = readings.flatMap((reading, turn) =>
    reading === undefined || Result.isSuccess(reading)
      ? []
      : reading.failure.map(({ message, offset }) => ({
          path: `turns/${turn}/input`,
          message: `${message.replace(/\.$/u, "")}, at offset ${offset}`
        }))
  )
  if (faults.length > 0) return Result.fail(faults)
  const lines = request.turns.flatMap((spoken, turn) => {
    const reading = readings[turn]
    if (reading === undefined || Result.isFailure(reading)) return []
    return reading.success.chunks.map((chunk, at, { length }) => {
      const other = spoken.otherVoices?.find(({ language }) => language === chunk.language)
      const { voiceId, voice, locale } = other ?? spoken
      const isLast = at === length - 1
      const turnPauseMs = isLast ? (spoken.pauseAfterMs ?? 0) : 0
      const goesOn = isLast && spoken.goesOn
      return { turn, voiceId, voice, locale, chunk: { ...chunk, ...(goesOn && { goesOn }) }, turnPauseMs }
    })
  })
  const sentences = readings.flatMap((reading, turn) =>
    reading !== undefined && Result.isSuccess(reading)
      ? reading.success.sentences.map(({ start, end }) => ({ turn, start, end }))
      : []
  )
  return Result.succeed({ lines, sentences, silentTurns, isDialogue: request.turns.length > 1 })
}

const tongueOf = ({ lexemes = [], locale, otherVoices, voiceId }: SessionRequest["turns"][number]) => {
  if (otherVoices === undefined) return { locale, lexemes }
  const others = otherVoices.map((other) => {
    const isOwn = other.voiceId === voiceId && other.locale === locale
    return [other.language, { locale: other.locale, isOwn }] as const
  })
  return { locale, lexemes, others: new Map(others) }
}
