/**
 * Streams that are read as fast as they come, some at once, in turn with a server as one would write it by hand: when the
 * first sound is there, and how much sound is made a second. Whoever has heard nothing yet comes first.
 */
import { setTimeout as pause } from "node:timers/promises"
import { atLeast, atMost, exactly, figuresOf, type Findings, joined, percentile } from "../figures.ts"
import { cpuSecondsOf, processesOf } from "../process-use.ts"
import { type Answer, speak, type Target } from "./client.ts"
import { withFleet } from "./fleet.ts"
import { hasEspeakCommand, withHandmade } from "./handmade.ts"
import { prose } from "./texts.ts"

const mp3BytesPerSecond = 8_000
// Some 24 s of audio each.
const text = prose(370)
const rounds = 3
// A fleet runs for days, and V8 compiles what it does often: in some ten rounds a first sound comes in half the time. The
// server by hand starts its programs anew for each answer, and is as fast after one round.
const warmUps = { ours: 10, byHand: 1 }
// A round of the server by hand ends its processes after the last byte.
const settleMs = 500

interface Round {
  readonly firstByteMs: ReadonlyArray<number>
  readonly audioPerSecond: number
  readonly cpuMsPerAudioSecond: number
  /** Neither answered whole nor refused for want of room. */
  readonly broken: number
  readonly refused: number
}

const isWhole = ({ status, isWhole, body }: Answer) => status === 200 && isWhole && body.length > 0
const isRefused = ({ status }: Answer) => status === 429 || status === 503

const roundOf = async (target: Target, pid: number, streams: number): Promise<Round> => {
  const [began, before] = [performance.now(), cpuSecondsOf(processesOf(pid))]
  const order = { input: text, output_format: "mp3_24000_64" }
  const answers = await Promise.all(Array.from({ length: streams }, () => speak(target, order)))
  const tookSeconds = (performance.now() - began) / 1_000
  await pause(settleMs)
  const whole = answers.filter(isWhole)
  const audioSeconds = whole.reduce((sum, { body }) => sum + body.length / mp3BytesPerSecond, 0)
  return {
    firstByteMs: whole.map(({ firstByteMs }) => firstByteMs),
    audioPerSecond: audioSeconds / tookSeconds,
    cpuMsPerAudioSecond: ((cpuSecondsOf(processesOf(pid)) - before) * 1_000) / audioSeconds,
    broken: answers.filter((answer) => !isWhole(answer) && !isRefused(answer)).length,
    refused: answers.filter(isRefused).length
  }
}

const median = (values: ReadonlyArray<number>) => percentile(values, 0.5)

const figuresFor = (name: string, results: ReadonlyArray<Round>, limits?: { p50Ms?: number; p99Ms: number }) => {
  const figure = figuresOf(name)
  const first = (share: number) => median(results.map(({ firstByteMs }) => percentile(firstByteMs, share)))
  const [p50, p99] = [first(0.5), first(0.99)]
  const sum = (of: (round: Round) => number) => results.reduce((total, round) => total + of(round), 0)
  return [
    figure("first byte, p50", p50, "ms", limits?.p50Ms === undefined ? {} : atMost(limits.p50Ms, p50, "ms")),
    figure("first byte, p99", p99, "ms", limits === undefined ? {} : atMost(limits.p99Ms, p99, "ms")),
    figure("audio made a second", median(results.map((round) => round.audioPerSecond)), "s"),
    figure("processor time per second of audio", median(results.map((round) => round.cpuMsPerAudioSecond)), "ms"),
    figure(
      "refused for want of room",
      sum(({ refused }) => refused),
      "streams"
    ),
    figure(
      "not answered whole",
      sum(({ broken }) => broken),
      "streams",
      exactly(
        0,
        sum(({ broken }) => broken)
      )
    )
  ]
}

interface Beside {
  readonly ours: { readonly target: Target; readonly pid: number }
  readonly byHand: { readonly target: Target; readonly pid: number } | undefined
}

/** Rounds that warm up count for nothing. */
const warmUp = async ({ ours, byHand }: Beside, streams: number) => {
  for (let round = 0; round < warmUps.ours; round++) await roundOf(ours.target, ours.pid, streams)
  if (byHand === undefined) return
  for (let round = 0; round < warmUps.byHand; round++) await roundOf(byHand.target, byHand.pid, streams)
}

const inTurn = async (beside: Beside, streams: number): Promise<Findings> => {
  const { ours, byHand } = beside
  const results: { ours: Array<Round>; byHand: Array<Round> } = { ours: [], byHand: [] }
  await warmUp(beside, streams)
  for (let round = 0; round < rounds; round++) {
    results.ours.push(await roundOf(ours.target, ours.pid, streams))
    if (byHand !== undefined) results.byHand.push(await roundOf(byHand.target, byHand.pid, streams))
  }
  const limits = streams === 8 ? { p50Ms: 60, p99Ms: 200 } : { p99Ms: 500 }
  const figures = figuresFor(`${streams} unpaced streams`, results.ours, limits)
  if (byHand === undefined) return { figures, series: [] }
  figures.push(...figuresFor(`by hand: ${streams} unpaced streams`, results.byHand))
  const ratio = (of: (round: Round) => number) =>
    median(results.ours.map((round, index) => of(round) / of(results.byHand[index] ?? round)))
  const made = 100 * ratio((round) => round.audioPerSecond)
  const cost = ratio((round) => round.cpuMsPerAudioSecond)
  const figure = figuresOf(`${streams} unpaced streams`)
  figures.push(
    figure("audio made a second, of that by hand", made, "%", streams === 8 ? atLeast(90, made, "%") : {}),
    figure("processor time, of that by hand", cost, "x", streams === 8 ? atMost(1.33, cost, "x") : {})
  )
  return { figures, series: [] }
}

const measured = async (beside: Beside): Promise<Findings> =>
  joined([await inTurn(beside, 8), await inTurn(beside, 32)])

// Whoever would be heard later is to be refused; the rest of half a second is the way to the client, which is as busy.
const heardWithin = { SPEECH_API_FIRST_SOUND_SECONDS_MAX: "0.45" }

export const unpaced = (): Promise<Findings> =>
  withFleet((fleet) => {
    const ours = { target: fleet, pid: fleet.pid }
    if (hasEspeakCommand()) return withHandmade((target, pid) => measured({ ours, byHand: { target, pid } }))
    process.stderr.write("  by hand: left out, for there is no espeak-ng to run (the library alone has no command)\n")
    return measured({ ours, byHand: undefined })
  }, heardWithin)
