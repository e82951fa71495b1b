/** The listeners of each engine: their buffers, and the engine's pace. Keeps state, does no IO. */
import type { Load } from "./admit.ts"
import {
  type Buffer,
  bufferedMs,
  emptyBuffer,
  fill,
  isAwaitingFirst,
  isBuffering,
  isInNeed,
  isLow,
  isStarving,
  neededFactor
} from "./buffer.ts"
import {
  assumedPace,
  isSaturated,
  type EnginePace,
  measure,
  measureFirstAudio,
  passTime,
  realTimeFactor,
  recentMs
} from "./engine-pace.ts"

export interface Listener {
  /** The listener would take audio now. */
  readonly wants: (nowMs: number) => void
  /** The listener got this many seconds of audio. */
  readonly got: (seconds: number, nowMs: number) => void
  /** The listener would take no audio now. */
  readonly rests: (nowMs: number) => void
  readonly bufferedMs: (nowMs: number) => number
  /**
   * Whether a player that starts with the audio it got outlasts the latency of the next; once true, it counts as
   * playing.
   */
  readonly mayBegin: (nowMs: number, hasAll?: boolean) => boolean
  readonly hasAudio: () => boolean
  readonly leave: (nowMs: number) => void
}

export interface Entry extends Pick<Buffer, "plays" | "soundMs"> {
  /** A slow engine's listeners say nothing about another's. */
  readonly engine: string
  readonly nowMs: number
}

export interface Listeners {
  readonly enter: (entry: Entry) => Listener
  readonly load: (engine: string, nowMs: number) => Omit<Load, "lateMs">
  /** A listener waits for audio and has little left, or takes long to start. */
  readonly isAnyInNeed: (nowMs: number) => boolean
  /** The listeners of all engines that have not had a full buffer. */
  readonly buffering: (nowMs: number) => number
}

interface Engine {
  readonly present: Set<Buffer>
  readonly pace: EnginePace
  lastsMs: number
  begunAtMs: ReadonlyArray<number>
}

// A paragraph, until the first measurements.
const lastsMsAssumed = 10_000
const begunWithinMs = 10_000
const newest = 1 / 4
// The first pieces of an answer hold 0.05, 0.09 and 0.22 s, and each crosses six threads: on a full machine all of them
// together take that long. With more, the first byte would be late for nothing.
const beginsWithMsMax = 400
const beginsWithWays = 4

export const listeners = (): Listeners => {
  const engines = new Map<string, Engine>()
  const engineOf = (name: string) => {
    const engine = engines.get(name) ?? {
      present: new Set(),
      pace: assumedPace(),
      lastsMs: lastsMsAssumed,
      begunAtMs: []
    }
    engines.set(name, engine)
    return engine
  }
  const all = () => [...engines.values()].flatMap(({ present }) => [...present])
  return {
    enter: (entry) => enter(engineOf(entry.engine), entry),
    load: (engine, nowMs) => loadOf(engineOf(engine), nowMs),
    isAnyInNeed: (nowMs) => all().some((buffer) => isInNeed(buffer, nowMs)),
    buffering: (nowMs) => all().filter((buffer) => isBuffering(buffer, nowMs)).length
  }
}

const awaitingOf = ({ present }: Engine) => [...present].filter(isAwaitingFirst)

/** Those that await first audio are left out: they show the latency, not the throughput. */
const waitingOf = ({ present }: Engine) =>
  [...present].filter((buffer) => buffer.wantsSinceMs !== undefined && !isAwaitingFirst(buffer)).length

const enter = (engine: Engine, entry: Entry): Listener => {
  const buffer = emptyBuffer(entry)
  const { pace, present } = engine
  const others = awaitingOf(engine).length
  if (others === 1) pace.every.sinceMs = entry.nowMs
  present.add(buffer)
  engine.begunAtMs = [...begunLately(engine, entry.nowMs), entry.nowMs]
  /** Whether its player starts now, or has started. */
  const begins = (nowMs: number, hasAll = false) => {
    if (!isAwaitingFirst(buffer)) return true
    const isEnough = hasAll || !buffer.plays || buffer.gotMs >= beginsWithMs(pace, buffer, nowMs)
    if (!isEnough || buffer.firstAtMs === undefined) return isEnough
    const isCrowd = awaitingOf(engine).length > 1
    measureFirstAudio(pace, { tookMs: nowMs - buffer.enteredAtMs, wasAlone: others === 0, isCrowd }, nowMs)
    buffer.startedAtMs = nowMs
    return true
  }
  const waits = (sinceMs: number | undefined, nowMs: number) => {
    passTime(pace, waitingOf(engine), nowMs)
    buffer.wantsSinceMs = sinceMs
  }
  const noteFull = (nowMs: number) => {
    if (!buffer.wasFull && !isBuffering(buffer, nowMs)) measure(pace.full, nowMs - buffer.enteredAtMs, nowMs)
  }
  return {
    wants: (nowMs) => {
      if (buffer.wantsSinceMs !== undefined || !present.has(buffer)) return
      noteFull(nowMs)
      waits(nowMs, nowMs)
    },
    got: (seconds, nowMs) => {
      if (seconds <= 0) return
      waits(undefined, nowMs)
      pace.made.audioMs += seconds * 1_000
      if (buffer.firstAtMs === undefined) measure(pace.first, nowMs - buffer.enteredAtMs, nowMs)
      fill(buffer, seconds * 1_000, nowMs)
      begins(nowMs)
      noteFull(nowMs)
    },
    rests: (nowMs) => waits(undefined, nowMs),
    bufferedMs: (nowMs) => bufferedMs(buffer, nowMs),
    mayBegin: (nowMs, hasAll) => !buffer.plays || begins(nowMs, hasAll),
    hasAudio: () => !isAwaitingFirst(buffer),
    leave: (nowMs) => {
      if (!present.has(buffer)) return
      waits(undefined, nowMs)
      present.delete(buffer)
      if (buffer.firstAtMs !== undefined) engine.lastsMs += (nowMs - buffer.enteredAtMs - engine.lastsMs) * newest
    }
  }
}

/**
 * While first audio takes long, every later piece can come as late: a player that starts with the first has no buffer
 * to outlast that. One that would have fallen silent meanwhile has taken that much longer.
 */
const beginsWithMs = ({ first }: EnginePace, { enteredAtMs, firstAtMs }: Buffer, nowMs: number) => {
  const firstMs = Math.max(recentMs(first, nowMs), (firstAtMs ?? nowMs) - enteredAtMs)
  return Math.min(beginsWithMsMax, beginsWithWays * Math.max(0, firstMs - first.assumedMs))
}

const begunLately = ({ begunAtMs }: Engine, nowMs: number) => begunAtMs.filter((atMs) => nowMs - atMs < begunWithinMs)

const loadOf = (engine: Engine, nowMs: number): Omit<Load, "lateMs"> => {
  const { lastsMs, pace } = engine
  const present = [...engine.present]
  const awaiting = awaitingOf(engine)
  const buffering = present.filter((buffer) => isBuffering(buffer, nowMs))
  passTime(pace, waitingOf(engine), nowMs)
  // Starts in progress show a slower pace before any of them gets its audio.
  const slowest = (buffers: ReadonlyArray<Buffer>) => Math.max(0, ...buffers.map((one) => nowMs - one.enteredAtMs))
  const isCrowd = awaiting.length > 1
  return {
    awaiting: awaiting.length,
    buffering: buffering.length,
    low: present.filter((buffer) => isLow(buffer, nowMs)).length,
    starving: present.filter((buffer) => isStarving(buffer, nowMs)).length,
    isMaking: awaiting.length === 0 || awaiting.some(({ enteredAtMs }) => pace.first.measuredAtMs >= enteredAtMs),
    firstMs: Math.max(recentMs(pace.first, nowMs), slowest(awaiting)),
    fullMs: Math.max(recentMs(pace.full, nowMs), slowest(buffering)),
    aloneMs: pace.aloneMs,
    firstEveryMs: Math.max(pace.every.ms, isCrowd ? nowMs - pace.every.sinceMs : 0),
    needs: neededFactor(present, nowMs),
    makes: realTimeFactor(pace),
    isSaturated: isSaturated(pace),
    endsEveryMs: lastsMs / Math.max(1, present.length),
    beganEveryMs: begunWithinMs / begunLately(engine, nowMs).length
  }
}
