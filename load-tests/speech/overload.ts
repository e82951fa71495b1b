/**
 * Sixty callers at once, with more audio than the machine may be able to speak in time: whoever is taken must be heard
 * without a gap, whoever is not must be told so at once, and when to come again. Once with callers that take
 * what they play, once with callers that read as fast as they can, and both again beside processes that use every
 * core for something else.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { availableParallelism } from "node:os"
import type { IncomingMessage } from "node:http"
import { exactly, type Figure, figuresOf, type Findings, percentile } from "../figures.ts"
import { pause } from "../loops.ts"
import { open } from "./client.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { play } from "./player.ts"
import { prose } from "./texts.ts"

const callers = 60
// Some 30 s of audio.
const text = prose(420).slice(0, 460)
const format = "mp3_24000_64"
const mp3BytesPerSecond = 8_000
const refusedWithinMs = 1_000
const gapMsMax = 250
// A round that lasts longer is ended, and what is still heard then counts as broken off.
const roundMsMax = 120_000
// What the fleet measured of one round is forgotten before the next.
const restMs = 12_000

interface Outcome {
  readonly kind: "heard" | "refused" | "broken"
  readonly firstByteMs: number
  readonly answeredMs: number
  /** The longest that a listener heard nothing in the middle. */
  readonly gapMs: number
  readonly status: number
  readonly hasRetryAfter: boolean
  readonly says: string
}

interface Refusal {
  readonly error: { readonly message: string; readonly details?: { readonly source?: string } }
}

/** What a refusal gives as its reason, without what differs from one to the next. */
const reasonIn = (body: string) => {
  const { message, details } = (JSON.parse(body) as Refusal).error
  return details?.source ?? message
}

type Pace = "in real time" | "as fast as it comes"

/** What a player would have heard that starts with the first byte: reads all there is, and remembers when it came. */
const readAll = (response: IncomingMessage, untilMs: number) =>
  new Promise<{ readonly gapMs: number; readonly isWhole: boolean }>((resolve) => {
    let [bytes, startedMs, gapMs] = [0, 0, 0]
    const timer = setTimeout(() => response.destroy(), untilMs - performance.now())
    response.on("data", (part: Buffer) => {
      const nowMs = performance.now()
      if (bytes === 0) startedMs = nowMs
      const lateMs = nowMs - startedMs - (bytes / mp3BytesPerSecond) * 1_000
      if (bytes > 0 && lateMs > 0) {
        gapMs = Math.max(gapMs, lateMs)
        startedMs += lateMs
      }
      bytes += part.length
    })
    const end = (isWhole: boolean) => {
      clearTimeout(timer)
      resolve({ gapMs, isWhole })
    }
    response.on("end", () => end(response.complete))
    response.on("error", () => end(false))
    response.on("close", () => end(response.complete))
  })

const bodyOf = async (response: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of response as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts).toString("utf8")
}

const call = async (fleet: Fleet, pace: Pace): Promise<Outcome> => {
  const askedMs = performance.now()
  const none = { firstByteMs: Number.NaN, gapMs: 0, hasRetryAfter: false, says: "" }
  const response = await open(fleet, "/v1/audio/stream", { input: text, output_format: format }).catch(() => undefined)
  const answeredMs = performance.now() - askedMs
  if (response === undefined) return { ...none, kind: "broken", answeredMs, status: 0 }
  const status = response.statusCode ?? 0
  if (status !== 200) {
    const says = await bodyOf(response)
    const hasRetryAfter = Number(response.headers["retry-after"]) >= 1
    const kind = status === 429 || status === 503 ? "refused" : "broken"
    return { ...none, kind, answeredMs, status, hasRetryAfter, says }
  }
  const untilMs = askedMs + roundMsMax
  const heard = pace === "in real time" ? await played(response, untilMs) : await readAll(response, untilMs)
  return { ...none, kind: heard.isWhole ? "heard" : "broken", answeredMs, gapMs: heard.gapMs, status }
}

const played = async (response: IncomingMessage, untilMs: number) => {
  const { stands, isWhole } = await play(response, { bytesPerSecond: mp3BytesPerSecond, untilMs })
  return { isWhole, gapMs: Math.max(0, ...stands.map(({ tookMs }) => tookMs)) }
}

/** Beside processes that use every core, at the same priority; they end by themselves if nobody ends them. */
const besideBusy = async <A>(isBusy: boolean, run: () => Promise<A>): Promise<A> => {
  const lasting = roundMsMax + 10_000
  const loop = `const end = Date.now() + ${lasting}; while (Date.now() < end);`
  const busy: ReadonlyArray<ChildProcess> = isBusy
    ? Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ["-e", loop], { stdio: "ignore" }))
    : []
  try {
    return await run()
  } finally {
    for (const child of busy) child.kill("SIGKILL")
  }
}

const round = async (fleet: Fleet, pace: Pace, isBusy: boolean): Promise<ReadonlyArray<Figure>> => {
  const outcomes = await besideBusy(isBusy, () => Promise.all(Array.from({ length: callers }, () => call(fleet, pace))))
  const of = (kind: Outcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind)
  const [heard, refused, broken] = [of("heard"), of("refused"), of("broken")]
  const most = (values: ReadonlyArray<number>) => Math.max(0, ...values)
  const gapMs = most(heard.map((outcome) => outcome.gapMs))
  const refusedMs = most(refused.map(({ answeredMs }) => answeredMs))
  const silent = refused.filter(({ hasRetryAfter }) => !hasRetryAfter).length
  const reasons = Map.groupBy(refused, ({ status, says }) => `${status} ${reasonIn(says)}`)
  for (const [reason, those] of reasons) process.stderr.write(`  ${those.length} times ${reason}\n`)
  const metrics = await (await fetch(`${fleet.metrics}/metrics`)).text()
  const told = metrics
    .split("\n")
    .filter((line) => /^speech_(?:refusals_total|takeovers_total|begin_seconds)\{/u.test(line))
  process.stderr.write(`  so far: ${told.map((line) => line.replace(/role="\w*",?/u, "")).join(", ")}\n`)
  const where = `${callers} at once, ${pace}${isBusy ? ", every core busy" : ""}`
  const figure = figuresOf(where)
  const within = (limit: number, value: number) => ({ target: `<= ${limit} ms`, met: value <= limit })
  const found = [
    figure("heard whole", heard.length, "", { target: ">= 1", met: heard.length >= 1 }),
    figure("longest gap in one of them", gapMs, "ms", within(gapMsMax, gapMs)),
    figure("broken off or unanswered", broken.length, "", exactly(0, broken.length)),
    figure("refused", refused.length, ""),
    figure("refused without Retry-After", silent, "", exactly(0, silent)),
    figure("slowest refusal", refusedMs, "ms", within(refusedWithinMs, refusedMs)),
    figure(
      "answered with 200 after, p50",
      percentile(
        heard.map(({ answeredMs }) => answeredMs),
        0.5
      ),
      "ms"
    ),
    figure("answered with 200 after, at most", most(heard.map(({ answeredMs }) => answeredMs)), "ms")
  ]
  process.stderr.write(`  ${where}: ${heard.length} heard, ${refused.length} refused, ${broken.length} broken\n`)
  return found
}

export const overload = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    const figures: Array<Figure> = []
    for (const isBusy of [false, true]) {
      for (const pace of ["in real time", "as fast as it comes"] as const) {
        figures.push(...(await round(fleet, pace, isBusy)))
        await pause(restMs)
      }
    }
    return { figures, series: [] }
  })
