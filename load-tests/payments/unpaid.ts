/**
 * Unpaid calls, each answered by a 402 with its quote: as fast as they go, and at a rate, open loop, in turn with a
 * server that does nothing. On a shared machine the slowest of a hundred calls tell of the machine more than of the
 * server: those of the bare server say how much, and rounds in which the machine was kept for others are made again.
 * They are timed twice, of a young process and of one whose code is compiled: until some 20,000 calls have been made
 * the compiler's threads take the processors from the one that answers, for milliseconds, and make the slowest calls.
 */
import { join } from "node:path"
import { startHelper } from "../children.ts"
import { atMost, type Figure, figuresOf, percentile } from "../figures.ts"
import { closedLoop, openLoop } from "../loops.ts"
import { undisturbed } from "../undisturbed.ts"
import { type Client, markOf, openClient } from "./client.ts"
import type { Course } from "./course.ts"

const figure = figuresOf("paid")
const load = { perSecond: 200, roundSeconds: 2.5, rounds: 4, youngRounds: 2, closedCount: 6_000, inFlight: 32 }
const calls = { young: 1_500, compiled: 40_000 }

interface Asked {
  readonly client: Client
  readonly marks: Course["marks"]
}

const askUnpaid = async ({ client, marks }: Asked) => {
  const { status, ms } = await client.call({ mark: markOf(++marks.next) })
  if (status !== 402) throw new Error(`an unpaid call was answered ${status}`)
  return ms
}

const asMany = (count: number, asked: Asked) => closedLoop(count, load.inFlight, () => askUnpaid(asked))

const asFastAsTheyGo = async (asked: Asked) => {
  const from = performance.now()
  await asMany(load.closedCount, asked)
  return (load.closedCount / (performance.now() - from)) * 1_000
}

const inTurn = async (count: number, course: Asked, bare: Asked) => {
  const timesOf = (asked: Asked) => openLoop(load.perSecond, load.roundSeconds, () => askUnpaid(asked))
  const rounds = await undisturbed(count, async () => [await timesOf(course), await timesOf(bare)] as const)
  return {
    ms: rounds.results.flatMap(([ours]) => ours),
    bareMs: rounds.results.flatMap(([, bares]) => bares),
    disturbed: rounds.disturbed
  }
}

/** `isHeld` to the targets. */
export const measureUnpaid = async (course: Course, name: string, isHeld: boolean): Promise<ReadonlyArray<Figure>> => {
  const { text } = await course.client.call({ mark: markOf(++course.marks.next) })
  const script = join(import.meta.dirname, "bare-server.ts")
  const server = await startHelper<{ url: string }>(script, String(Buffer.byteLength(text)))
  const bare: Asked = { client: openClient(server.said.url, 256), marks: { next: 0 } }
  try {
    for (const asked of [bare, course]) await asMany(calls.young, asked)
    const young = await inTurn(load.youngRounds, course, bare)
    for (const asked of [bare, course]) await asMany(calls.compiled - load.closedCount, asked)
    const bareRate = await asFastAsTheyGo(bare)
    const rate = await asFastAsTheyGo(course)
    const { ms, bareMs, disturbed } = await inTurn(load.rounds, course, bare)
    const [p50, p99] = [percentile(ms, 0.5), percentile(ms, 0.99)]
    const at = `unpaid at ${load.perSecond}/s`
    const early = `${at}, after ${calls.young} calls`
    return [
      figure(`${name}: ${early}, p50`, percentile(young.ms, 0.5), "ms"),
      figure(`${name}: ${early}, p99`, percentile(young.ms, 0.99), "ms"),
      figure(`${name}: ${early}, of ${load.youngRounds} rounds disturbed`, young.disturbed, ""),
      figure(`${name}: ${at}, p50`, p50, "ms", isHeld ? atMost(2, p50, "ms") : {}),
      figure(`${name}: ${at}, p99`, p99, "ms", isHeld ? atMost(3, p99, "ms") : {}),
      figure(`${name}: ${at}, a bare server in turn with it, p50`, percentile(bareMs, 0.5), "ms"),
      figure(`${name}: ${at}, a bare server in turn with it, p99`, percentile(bareMs, 0.99), "ms"),
      figure(`${name}: ${at}, of ${load.rounds} rounds disturbed`, disturbed, ""),
      figure(`${name}: unpaid, ${load.inFlight} in flight`, rate, "/s"),
      figure(`${name}: unpaid, ${load.inFlight} in flight, a bare server before it`, bareRate, "/s")
    ]
  } finally {
    await bare.client.close()
    await server.end()
  }
}
