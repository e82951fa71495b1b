/**
 * Runs one session: asks the synthesizers for chunks, takes in their frames and the client's credit, and
 * sends what may leave. Ends when all is spoken, when the client is gone, or when a chunk cannot be made.
 */
import { Clock, Effect, Queue, Result, Schedule } from "effect"
import { jsonCodec, Mailbox, Publisher } from "#bus"
import {
  type ChunkFrameHead,
  ChunkJob,
  frameCodec,
  SequencerMail,
  SessionFrameHead,
  type SessionRequest,
  subjects
} from "#contracts"
import { Metrics } from "#runtime"
import { chunksAsked, chunkSeconds, creditWaits, marksMade } from "./metrics.ts"
import { playout } from "./playout.ts"
import type { Script } from "./script.ts"

export type SessionEnd = "spoken" | "cancelled" | "abandoned" | "failed"

// The client's side repeats its credit four times a second; eight in a row missing, and it is gone.
const creditSilenceMsMax = 2_000
const tickMs = 250
// Two times a synthesizer's lease on a chunk: by then another one should have begun.
const chunkSilenceMsMax = 2_500
const asksMax = 6
// Frames taken up in one go; more only delays what can leave.
const mailPerTurnMax = 64

const jobCodec = jsonCodec(ChunkJob)
const mailCodec = frameCodec(SequencerMail)
const frameOut = frameCodec(SessionFrameHead)
const cancelMail = mailCodec.encode({ head: { _tag: "Cancel" }, pcm: new Int16Array(0) })
const tick = Symbol("tick")

export const runSession = Effect.fn("SequencerSession")(function* (request: SessionRequest, script: Script) {
  const { sessionId, api } = request
  const mailbox = yield* Mailbox
  const publisher = yield* Publisher
  const clock = yield* Clock.Clock
  const metrics = yield* Metrics
  const asked = metrics.counter(chunksAsked)
  const seconds = metrics.histogram(chunkSeconds)
  const waits = metrics.counter(creditWaits)
  const scope = yield* Effect.scope
  const mail = yield* Queue.unbounded<Uint8Array | typeof tick>()
  const made = metrics.counter(marksMade)
  const play = playout(script, request.resume, ({ marks, toldByEngine }) => {
    made.inc({ source: "engine" }, toldByEngine)
    made.inc({ source: "placed" }, marks.length - toldByEngine)
  })
  const asks = new Map<number, { times: number; atMs: number; firstMs: number }>()
  const synthesizers = new Set<string>()
  const nowMs = () => clock.currentTimeMillisUnsafe()
  let limitSample = (request.resume?.fromSample ?? 0) + request.windowSamples
  let creditAtMs = nowMs()
  let sentAtMs = nowMs()
  let isWaiting = false

  const send = (head: SessionFrameHead, pcm: Int16Array = new Int16Array(0)) => {
    mailbox.send(api, sessionId, frameOut.encode({ head, pcm }))
    sentAtMs = nowMs()
  }

  const ask = Effect.fnUntraced(function* (chunk: number) {
    const line = script.lines[chunk]
    if (line === undefined) return
    const before = asks.get(chunk)
    asks.set(chunk, { times: (before?.times ?? 0) + 1, atMs: nowMs(), firstMs: before?.firstMs ?? nowMs() })
    asked.inc({ reason: before === undefined ? "first" : "again" })
    const pieces = line.chunk.pieces.map(({ text, style }) => ({
      text,
      ratePercent: style.ratePercent,
      pitchPercent: style.pitchPercent,
      rangePercent: style.rangePercent,
      volumeDb: style.volumeDb
    }))
    const { voiceId, voice, locale } = line
    const job = { sessionId, sequencer: mailbox.instance, chunk, voiceId, voice, locale, pieces }
    // Not waited for: frames may come before the broker's word. What is not stored is asked for again by `look`.
    yield* publisher.publish(subjects.speechChunks(voice.engine), jobCodec, job).pipe(
      Effect.catch((error) => Effect.logWarning("a chunk could not be handed on", error)),
      Effect.forkIn(scope)
    )
  })

  const askAgain = Effect.fnUntraced(function* (chunk: number, reason: string) {
    if ((asks.get(chunk)?.times ?? 0) < asksMax) {
      yield* Effect.logWarning("a chunk is asked for again").pipe(Effect.annotateLogs({ chunk, reason }))
      yield* ask(chunk)
      return undefined
    }
    send({ _tag: "Failed", code: "upstream_failure", message: "the speech could not be synthesized" })
    yield* Effect.logError("a chunk could not be synthesized").pipe(Effect.annotateLogs({ chunk, reason }))
    return "failed" as const
  })

  const takeChunk = (head: ChunkFrameHead, pcm: Int16Array) => {
    synthesizers.add(head.synthesizer)
    const since = asks.get(head.chunk)
    // A slow engine's frame without samples says only that somebody is at work.
    if (since !== undefined) since.atMs = nowMs()
    if (!play.accept(head, pcm) || since === undefined) return
    if (head.isLast) seconds.observe({}, (nowMs() - since.firstMs) / 1_000)
  }

  /** What one piece of mail means; an answer ends the session. */
  const read = Effect.fnUntraced(function* (bytes: Uint8Array) {
    const decoded = mailCodec.decode(bytes)
    if (Result.isFailure(decoded)) {
      yield* Effect.logWarning("mail that breaks its schema", decoded.failure)
      return undefined
    }
    const { head, pcm } = decoded.success
    if (head._tag === "Chunk") takeChunk(head, pcm)
    else if (head._tag === "ChunkFailed") return yield* askAgain(head.chunk, head.reason)
    else if (head._tag === "Cancel") return "cancelled" as const
    else {
      creditAtMs = nowMs()
      limitSample = head.consumedSamples + head.windowSamples
    }
    return undefined
  })

  const look = Effect.fnUntraced(function* () {
    if (nowMs() - creditAtMs > creditSilenceMsMax) return "abandoned" as const
    if (nowMs() - sentAtMs >= tickMs) send({ _tag: "Alive" })
    const awaited = play.awaited()
    const since = awaited === undefined ? undefined : asks.get(awaited)
    if (awaited === undefined || since === undefined || nowMs() - since.atMs < chunkSilenceMsMax) return undefined
    return yield* askAgain(awaited, "nothing was heard of it")
  })

  const speak = Effect.fnUntraced(function* () {
    for (const chunk of play.wanted()) yield* ask(chunk)
    const frames = play.frames(limitSample)
    for (const { head, pcm } of frames) send(head, pcm)
    const mustWait = frames.length === 0 && play.isFull(limitSample)
    if (mustWait && !isWaiting) waits.inc({})
    isWaiting = mustWait
    return play.isEnded() ? ("spoken" as const) : undefined
  })

  const loop = Effect.gen(function* () {
    let end: SessionEnd | undefined = yield* speak()
    while (end === undefined) {
      for (const item of yield* Queue.takeBetween(mail, 1, mailPerTurnMax)) {
        end ??= item === tick ? yield* look() : yield* read(item)
      }
      end ??= yield* speak()
    }
    return end
  })

  yield* mailbox.open(sessionId, (bytes) => Queue.offerUnsafe(mail, bytes))
  yield* Effect.forkScoped(
    Effect.repeat(
      Effect.sync(() => Queue.offerUnsafe(mail, tick)),
      Schedule.spaced(tickMs)
    )
  )
  const leave = Effect.sync(() => {
    for (const synthesizer of synthesizers) mailbox.send(synthesizer, sessionId, cancelMail)
  })
  return yield* Effect.tap(
    Effect.onInterrupt(loop, () => leave),
    (end) => (end === "spoken" ? Effect.void : leave)
  )
}, Effect.scoped)
