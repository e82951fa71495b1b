/**
 * The ledger of one listener's buffer: the audio that it got, and how much of it a player has played that started with
 * the first audio. A listener that takes nothing has enough, whatever the clock says. Times are the caller's, in
 * milliseconds.
 */
import type { SpeechTurn } from "#speech/contract"

export interface Buffer {
  readonly enteredAtMs: number
  /** Whether the listener plays audio as it comes; one that waits for all of it never starves. */
  readonly plays: boolean
  /** How long its audio will be, approximately. */
  readonly soundMs: number
  gotMs: number
  firstAtMs: number | undefined
  /** When its player started; until then the listener awaits its first audio. */
  startedAtMs: number | undefined
  /** Since when it has been waiting for audio. */
  wantsSinceMs: number | undefined
  tookAtMs: number
  /** It has had a full buffer, or as much as it can hold. */
  wasFull: boolean
}

// The capacity of a busy machine changes within seconds.
export const fullMs = 3_000
const lowMs = 2_000
// A listener that has not had a full buffer has only its first words.
const starvingMs = 400
// Audio reaches most listeners that ask within a frame of the coarsest codec and a turn of the loop.
const waitsMs = 100
// A start that takes longer lacks capacity that other listeners have in plenty.
const beginsSlowlyMs = 500
// A voice's own pace in European languages. In denser ones audio lasts longer than estimated, and counts as about to end.
const msPerCharacter = 65

/** How long texts take to speak, approximately. */
export const soundMsOf = (turns: ReadonlyArray<Pick<SpeechTurn, "input" | "voice">>) =>
  turns.reduce((sum, { input, voice }) => sum + (input.length * msPerCharacter * 100) / voice.ratePercent, 0)

export const emptyBuffer = (entered: Pick<Buffer, "plays" | "soundMs"> & { readonly nowMs: number }): Buffer => ({
  enteredAtMs: entered.nowMs,
  plays: entered.plays,
  soundMs: entered.soundMs,
  gotMs: 0,
  firstAtMs: undefined,
  startedAtMs: undefined,
  wantsSinceMs: undefined,
  tookAtMs: entered.nowMs,
  wasFull: false
})

/** Buffered audio: everything that it got, until its player starts. */
export const bufferedMs = ({ gotMs, startedAtMs }: Buffer, nowMs: number) =>
  startedAtMs === undefined ? gotMs : gotMs - (nowMs - startedAtMs)

export const fill = (buffer: Buffer, gotMs: number, nowMs: number) => {
  // The player stalled, so the new audio is ahead of it, however late it came.
  const isBehind = buffer.startedAtMs !== undefined && bufferedMs(buffer, nowMs) < 0
  if (isBehind) buffer.startedAtMs = nowMs - buffer.gotMs
  buffer.firstAtMs ??= nowMs
  buffer.gotMs += gotMs
  buffer.tookAtMs = nowMs
}

export const isAwaitingFirst = ({ startedAtMs }: Buffer) => startedAtMs === undefined

const isResting = ({ startedAtMs, tookAtMs, wantsSinceMs }: Buffer, nowMs: number) =>
  startedAtMs !== undefined && wantsSinceMs === undefined && nowMs - tookAtMs > waitsMs

/** It has not had a full buffer, nor as much as it can hold. Records when it has. */
export const isBuffering = (buffer: Buffer, nowMs: number) => {
  buffer.wasFull ||= isResting(buffer, nowMs) || (!isAwaitingFirst(buffer) && bufferedMs(buffer, nowMs) >= fullMs)
  return !buffer.wasFull
}

const isWaiting = ({ plays, wantsSinceMs }: Buffer, nowMs: number) =>
  plays && wantsSinceMs !== undefined && nowMs - wantsSinceMs >= waitsMs

/** It has had a full buffer, waits for audio and has little left. */
export const isLow = (buffer: Buffer, nowMs: number) =>
  buffer.wasFull && isWaiting(buffer, nowMs) && bufferedMs(buffer, nowMs) < lowMs

/** It is about to fall silent before it has had a full buffer. */
export const isStarving = (buffer: Buffer, nowMs: number) =>
  !buffer.wasFull && !isAwaitingFirst(buffer) && isWaiting(buffer, nowMs) && bufferedMs(buffer, nowMs) < starvingMs

export const isInNeed = (buffer: Buffer, nowMs: number) => {
  const { enteredAtMs, wantsSinceMs } = buffer
  const isSlowToBegin = !buffer.wasFull && wantsSinceMs !== undefined && nowMs - enteredAtMs > beginsSlowlyMs
  return isSlowToBegin || isLow(buffer, nowMs) || isStarving(buffer, nowMs)
}

// The moments from now by which audio must be ready: up to some four minutes.
const horizonsMs = Array.from({ length: 8 }, (_, nth) => 2_000 * 2 ** nth)
// A listener that is still present needs at least this much.
const restMsMin = 2_000

/** It has played everything that it got, and takes no more. */
const hasPaused = (buffer: Buffer, nowMs: number) =>
  !isAwaitingFirst(buffer) && buffer.wantsSinceMs === undefined && bufferedMs(buffer, nowMs) <= 0

/** Seconds of audio to make per second so that each of them always has more than a low buffer until its end. */
export const neededFactor = (buffers: ReadonlyArray<Buffer>, nowMs: number) => {
  const playing = buffers
    .filter((buffer) => buffer.plays && !hasPaused(buffer, nowMs))
    .map((buffer) => ({
      spareMs: Math.max(0, bufferedMs(buffer, nowMs) - lowMs),
      restMs: Math.max(restMsMin, buffer.soundMs - buffer.gotMs)
    }))
  const neededBy = (horizonMs: number) =>
    playing.reduce((sum, { restMs, spareMs }) => sum + Math.min(restMs, Math.max(0, horizonMs - spareMs)), 0)
  return Math.max(...horizonsMs.map((horizonMs) => neededBy(horizonMs) / horizonMs))
}
