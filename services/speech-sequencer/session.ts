/**
 * Runs one session: requests chunks from the synthesizers, takes in their frames and the client's credit, and sends
 * what can be sent. It ends when everything is spoken, when the client is gone, or when a chunk cannot be synthesized.
 */
import { Clock, Effect, Queue, Result, Schedule, type Scope } from "effect"
import { jsonCodec, Mailbox, Publisher } from "#bus"
import {
  type ChunkFrameHead,
  ChunkJob,
  frameCodec,
  SequencerMail,
  SessionFrameHead,
  type SessionRequest,
  speechSampleRateHz
} from "#speech/contract"
import { subjects } from "#base"
import { Metrics, type OwnStall, ownStall } from "#runtime"
import type { Listener } from "#speech"
import { chunksRequested, chunkSeconds, creditWaits } from "./metrics.ts"
import { type Playout, playout, type Script } from "./playout.ts"

type SessionEnd = "spoken" | "cancelled" | "abandoned" | "failed"

// The client's side repeats its credit four times a second; after eight missing in a row it is gone.
const creditSilenceMsMax = 2_000
const tickMs = 250
// Twice a synthesizer's lease on a chunk: by then another one should have started.
const chunkSilenceMsMax = 2_500
const requestsMax = 6
// Frames taken in at once; more would only delay what can be sent.
const mailPerTurnMax = 64

const jobCodec = jsonCodec(ChunkJob)
const mailCodec = frameCodec(SequencerMail)
const frameOut = frameCodec(SessionFrameHead)
const silence = new Int16Array(0)
const cancelMail = mailCodec.encode({ head: { _tag: "Cancel" }, pcm: silence })
const tick = Symbol("tick")

interface ChunkRequest {
  times: number
  /** On the awake clock of the session's `stall`. */
  lastFrameMs: number
  readonly firstMs: number
}

interface Session {
  readonly request: SessionRequest
  readonly script: Script
  readonly listener: Listener
  readonly mailbox: Mailbox["Service"]
  readonly publisher: Publisher["Service"]
  readonly counted: Counted
  readonly nowMs: () => number
  readonly scope: Scope.Scope
  readonly mail: Queue.Queue<Uint8Array | typeof tick>
  readonly play: Playout
  readonly requests: Map<number, ChunkRequest>
  readonly synthesizers: Set<string>
  readonly stall: OwnStall
  limitSample: number
  /** On the awake clock of `stall`. */
  creditAtMs: number
  sentAtMs: number
  isWaiting: boolean
  /** Its first chunk is slow: the next ones need not wait for it. */
  hasTicked: boolean
}

export const runSession = Effect.fn("SequencerSession")(function* (
  request: SessionRequest,
  script: Script,
  listener: Listener
) {
  const { sessionId } = request
  const session = yield* sessionOf(request, script, listener)
  const { mailbox, mail, synthesizers } = session
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
    Effect.onInterrupt(serve(session), () => leave),
    (end) => (end === "spoken" ? Effect.void : leave)
  )
}, Effect.scoped)

const sessionOf = Effect.fnUntraced(function* (
  request: SessionRequest,
  script: Script,
  listener: Listener
): Effect.fn.Return<Session, never, Mailbox | Publisher | Metrics | Scope.Scope> {
  const clock = yield* Clock.Clock
  const nowMs = () => clock.currentTimeMillisUnsafe()
  return {
    request,
    script,
    listener,
    mailbox: yield* Mailbox,
    publisher: yield* Publisher,
    counted: yield* counting,
    nowMs,
    scope: yield* Effect.scope,
    mail: yield* Queue.unbounded<Uint8Array | typeof tick>(),
    play: playout(script, request.resume),
    requests: new Map(),
    synthesizers: new Set(),
    stall: ownStall(tickMs, nowMs()),
    limitSample: (request.resume?.fromSample ?? 0) + request.windowSamples,
    creditAtMs: nowMs(),
    sentAtMs: nowMs(),
    isWaiting: false,
    hasTicked: false
  }
})

const counting = Effect.map(Metrics, (metrics) => ({
  requested: metrics.counter(chunksRequested),
  seconds: metrics.histogram(chunkSeconds),
  waits: metrics.counter(creditWaits)
}))
type Counted = Effect.Success<typeof counting>

const serve = Effect.fnUntraced(function* (session: Session) {
  let end: SessionEnd | undefined = yield* advance(session)
  while (end === undefined) {
    for (const item of yield* Queue.takeBetween(session.mail, 1, mailPerTurnMax)) {
      end ??= item === tick ? yield* onTick(session) : yield* onMail(session, item)
    }
    end ??= yield* advance(session)
  }
  return end
})

/** Requests the chunks that are due, and sends the frames that the client has credit for. */
const advance = Effect.fnUntraced(function* (session: Session) {
  const { play, limitSample, counted, listener, nowMs } = session
  for (const chunk of play.wanted(session.hasTicked)) yield* request(session, chunk)
  const frames = play.frames(limitSample)
  for (const { head, pcm } of frames) send(session, head, pcm)
  const samples = frames.reduce((sum, { pcm }) => sum + pcm.length, 0)
  listener.got(samples / speechSampleRateHz, nowMs())
  if (play.isFull(limitSample)) listener.rests(nowMs())
  else listener.wants(nowMs())
  const mustWait = frames.length === 0 && play.isFull(limitSample)
  if (mustWait && !session.isWaiting) counted.waits.inc({})
  session.isWaiting = mustWait
  return play.isEnded() ? ("spoken" as const) : undefined
})

const onTick = Effect.fnUntraced(function* (session: Session) {
  const { requests, play, nowMs, stall } = session
  stall.tick(nowMs())
  session.hasTicked = true
  if (stall.isSilent(session.creditAtMs, creditSilenceMsMax, nowMs())) return "abandoned" as const
  if (nowMs() - session.sentAtMs >= tickMs) send(session, { _tag: "Alive" })
  const awaited = play.awaited()
  const since = awaited === undefined ? undefined : requests.get(awaited)
  if (awaited === undefined || since === undefined) return undefined
  if (!stall.isSilent(since.lastFrameMs, chunkSilenceMsMax, nowMs())) return undefined
  return yield* requestAgain(session, awaited, "no frame came")
})

/** Handles one message; an answer ends the session. */
const onMail = Effect.fnUntraced(function* (session: Session, bytes: Uint8Array) {
  const decoded = mailCodec.decode(bytes)
  if (Result.isFailure(decoded)) {
    yield* Effect.logWarning("mail that breaks its schema", decoded.failure)
    return undefined
  }
  const { head, pcm } = decoded.success
  if (head._tag === "Chunk") takeChunk(session, head, pcm)
  else if (head._tag === "ChunkFailed") return yield* requestAgain(session, head.chunk, head.reason)
  else if (head._tag === "Cancel") return "cancelled" as const
  else {
    session.creditAtMs = session.stall.awakeMs(session.nowMs())
    session.limitSample = head.consumedSamples + head.windowSamples
  }
  return undefined
})

const takeChunk = (
  { synthesizers, requests, play, counted, nowMs, stall }: Session,
  head: ChunkFrameHead,
  pcm: Int16Array
) => {
  synthesizers.add(head.synthesizer)
  const since = requests.get(head.chunk)
  // A slow engine's frame without samples only says that the chunk is in progress.
  if (since !== undefined) since.lastFrameMs = stall.awakeMs(nowMs())
  if (!play.accept(head, pcm) || since === undefined) return
  if (head.isLast) counted.seconds.observe({}, (nowMs() - since.firstMs) / 1_000)
}

const requestAgain = Effect.fnUntraced(function* (session: Session, chunk: number, reason: string) {
  if ((session.requests.get(chunk)?.times ?? 0) < requestsMax) {
    yield* Effect.logWarning("a chunk is requested again").pipe(Effect.annotateLogs({ chunk, reason }))
    yield* request(session, chunk)
    return undefined
  }
  send(session, { _tag: "Failed", code: "upstream_failure", message: "the speech could not be synthesized" })
  yield* Effect.logError("a chunk could not be synthesized").pipe(Effect.annotateLogs({ chunk, reason }))
  return "failed" as const
})

const request = Effect.fnUntraced(function* (session: Session, chunk: number) {
  const { script, mailbox, publisher, counted, nowMs, scope, requests, stall } = session
  const line = script.lines[chunk]
  if (line === undefined) return
  const before = requests.get(chunk)
  const [times, firstMs] = [(before?.times ?? 0) + 1, before?.firstMs ?? nowMs()]
  requests.set(chunk, { times, lastFrameMs: stall.awakeMs(nowMs()), firstMs })
  counted.requested.inc({ reason: before === undefined ? "first" : "again" })
  const { voiceId, voice, locale } = line
  const { goesOn, pieces } = line.chunk
  const neededInMs = Math.round(neededIn(session, chunk))
  const addressed = { sessionId: session.request.sessionId, sequencer: mailbox.instance, chunk, neededInMs }
  const { isBackground, phonemes } = session.request
  const manner = { ...(goesOn && { goesOn }), ...(phonemes && { phonemes }), ...(isBackground && { isBackground }) }
  const job = { ...addressed, voiceId, voice, locale, pieces, ...manner }
  // Not awaited: frames can arrive before the broker's ack. `onTick` requests a chunk again that was not stored.
  yield* publisher.publish(subjects.speechChunks(voice.engine), jobCodec, job).pipe(
    Effect.catch((error) => Effect.logWarning("a chunk could not be handed on", error)),
    Effect.forkIn(scope, { startImmediately: true })
  )
})

// A chunk is a sentence or more, so it lasts at least this long: the estimate for each chunk before a later one.
const chunkMsLeast = 1_000

/** How long the listener can do without a chunk: its buffered audio, and the chunks before this one. */
const neededIn = ({ listener, play, nowMs }: Session, chunk: number) => {
  const before = chunk - (play.awaited() ?? chunk)
  return Math.max(0, listener.bufferedMs(nowMs()) + play.heldMs() + before * chunkMsLeast)
}

const send = (session: Session, head: SessionFrameHead, pcm: Int16Array = silence) => {
  const { mailbox, request, nowMs } = session
  mailbox.send(request.api, request.sessionId, frameOut.encode({ head, pcm }))
  session.sentAtMs = nowMs()
}
