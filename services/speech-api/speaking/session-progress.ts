/**
 * The progress of a speech session: the current attempt, what it has received and what the caller has taken, and when
 * the sequencer was last heard. It changes as frames arrive and are taken.
 */
import type { Queue, Scope } from "effect"
import {
  type Frame,
  type ResumePoint,
  type SessionFrameHead,
  speechSampleRateHz,
  type SpeechTurn,
  type SpokenMark
} from "#speech/contract"
import { ownStall, type OwnStall } from "#runtime"
import type { SessionPace } from "./SpeechAdmission.ts"

export interface SpeechOrder {
  readonly turns: ReadonlyArray<SpeechTurn>
  readonly textNormalization: boolean
  readonly phonemes?: true
  /** Nobody listens: it is spoken with what listeners leave of the fleet. */
  readonly isBackground?: true
}

/** A frame of one attempt; without a frame, a note that the attempt has fallen silent. */
export interface Mail {
  readonly of: string
  readonly frame?: Frame<SessionFrameHead>
}

/** How often credit is repeated, and silence checked. */
export const watchEveryMs = 250

interface Begun {
  readonly order: SpeechOrder
  readonly pace: SessionPace
  readonly scope: Scope.Scope
  readonly inbox: Queue.Queue<Mail>
}

export interface SessionProgress extends Begun {
  readonly base: string
  readonly unseen: ReturnType<typeof newestMarks>
  attempt: number
  /** Takeovers in a row that delivered nothing, and what was received when the last one started. */
  fruitless: number
  tookOverAt: number
  /** Empty until one has accepted. */
  sequencer: string
  /** In samples, as are the next two. */
  received: number
  consumed: number
  credited: number
  windowSamples: number
  resume: ResumePoint | null
  /** On the awake clock of `stall`. */
  lastFrameMs: number
  readonly stall: OwnStall
  isAbandoned: boolean
  isOver: boolean
}

export const progressOf = (begun: Begun, windowSamples: number, nowMs: number): SessionProgress => ({
  ...begun,
  base: crypto.randomUUID(),
  unseen: newestMarks(),
  // So that the first attempt is 0.
  attempt: -1,
  fruitless: 0,
  tookOverAt: -1,
  sequencer: "",
  received: 0,
  consumed: 0,
  credited: 0,
  windowSamples,
  resume: null,
  lastFrameMs: nowMs,
  stall: ownStall(watchEveryMs, nowMs),
  isAbandoned: false,
  isOver: false
})

/** The id of the session's current attempt. */
export const idOf = ({ base, attempt }: SessionProgress) => `${base}-${attempt}`

/** Lets each mark through once: after a takeover the new sequencer repeats those of the current chunk. */
export const newestMarks = () => {
  let turn = 0
  let end = 0
  return (marks: ReadonlyArray<SpokenMark>): ReadonlyArray<SpokenMark> => {
    const fresh = marks.filter((mark) => {
      const ofTurn = mark.turn ?? 0
      return ofTurn > turn || (ofTurn === turn && mark.start >= end)
    })
    const last = fresh.at(-1)
    if (last !== undefined) {
      turn = last.turn ?? 0
      end = last.end
    }
    return fresh
  }
}

const bytesPerSample = 2
const windowSamplesMax = 10 * speechSampleRateHz
// With less than half a second, a window could not keep an encoder busy.
const windowSamplesMin = speechSampleRateHz / 2

/**
 * How far a session can run ahead of its client. The windows of all sessions together stay within the process's bound,
 * so slow clients cost a known amount of memory; a lone session gets ten seconds.
 */
export const windowOf = (bytesMax: number, sessions: number): number =>
  Math.max(windowSamplesMin, Math.min(windowSamplesMax, Math.floor(bytesMax / bytesPerSample / Math.max(1, sessions))))
