/**
 * A context of a live connection: text still being written, cut into clauses, each spoken by the path of every other
 * route, on one timeline. Its audio waits only for its reader; its text is bounded.
 */
import { Cause, Clock, Effect, Fiber, FiberHandle, Queue, Result, Stream } from "effect"
import type { OtherMark, WordMark } from "#speech/contract"
import { liveLimits } from "#speech/api"
import { Admission, internalError, validationFailed, WireError } from "#http"
import {
  type Clause,
  clauseSplitter,
  type ClauseSplitter,
  isSsml,
  hasVisible,
  silenceOf,
  ssmlClauseSplitter,
  ssmlOf,
  type TextFault as Fault
} from "#speech"
import { speak, started } from "../http/speaking.ts"
import { completed } from "../speaking/completed-plan.ts"
import type { SpeechPlan } from "../speaking/plan.ts"
import { isOfSilence, refusalOf } from "../refusals.ts"

/** What a context reports to its connection. Each dialect words it in its own way. */
export type ContextEvent =
  | {
      readonly _tag: "Audio"
      readonly bytes: Uint8Array
      readonly marks: ReadonlyArray<WordMark>
      readonly others: ReadonlyArray<OtherMark>
      readonly atMs: number
    }
  | { readonly _tag: "Flushed"; readonly flushId: string | undefined }
  | { readonly _tag: "Done"; readonly reason: "ended" | "shutdown" }
  | { readonly _tag: "Failed"; readonly error: WireError }

type Job =
  | { readonly _tag: "Clause"; readonly clause: Clause; readonly knownAtMs: number }
  | { readonly _tag: "Flush"; readonly flushId: string | undefined }
  | { readonly _tag: "End"; readonly reason: "ended" | "shutdown" }

export interface ContextOptions {
  readonly id: string
  readonly workspace: string
  /** Of no text yet. */
  readonly plan: SpeechPlan
  readonly maxWaitMs: number
  /** Its text contains SSML elements. */
  readonly isSsml: boolean
  readonly emit: (context: LiveContext, event: ContextEvent) => Effect.Effect<void>
  /** The time from the detected end of a clause to its first audio. */
  readonly onFirstAudio: (seconds: number) => void
}

export interface LiveContext extends ContextOptions {
  readonly splitter: ClauseSplitter
  readonly jobs: Queue.Queue<Job>
  readonly marks: Array<WordMark>
  readonly others: Array<OtherMark>
  readonly overdue: FiberHandle.FiberHandle
  /** When its listener has heard everything, if it plays at once; undefined before the first audio. */
  silentAtMs: number | undefined
  /** All text taken, and how much of it was spoken or skipped, in UTF-16 units. */
  taken: number
  spoken: number
  billed: number
  /** Signs that nobody says were passed over; anything was sent. */
  hasUnsaid: boolean
  hasSound: boolean
  /** Of all audio sent, once decoded. */
  audioMs: number
  isEnding: boolean
  /** The process is shutting down: what cannot be spoken now is left to another. */
  isShuttingDown: boolean
  speaking: Fiber.Fiber<void> | undefined
}

/** Starts to speak; closing the scope ends it silently. */
export const openContext = Effect.fnUntraced(function* (options: ContextOptions) {
  const context: LiveContext = {
    ...options,
    splitter: options.isSsml ? ssmlClauseSplitter() : clauseSplitter(),
    jobs: yield* Queue.unbounded<Job>(),
    marks: [],
    others: [],
    overdue: yield* FiberHandle.make(),
    silentAtMs: undefined,
    taken: 0,
    spoken: 0,
    billed: 0,
    hasUnsaid: false,
    hasSound: false,
    audioMs: 0,
    isEnding: false,
    isShuttingDown: false,
    speaking: undefined
  }
  context.speaking = yield* Effect.forkScoped(
    Effect.catchCause(speaking(context), (cause) => brokenOff(context, cause))
  )
  return context
})

const brokenOff = (context: LiveContext, cause: Cause.Cause<never>) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.failCause(cause)
    : Effect.andThen(
        Effect.logError("a defect while a context spoke", cause),
        context.emit(context, { _tag: "Failed", error: internalError() })
      )

/** Takes in the next piece of text, or says why it cannot; then none of it is taken. */
export const takeText = (context: LiveContext, piece: string): Effect.Effect<void, WireError> =>
  Effect.gen(function* () {
    const fault = faultOf(context, piece)
    if (fault !== undefined) return yield* fault
    context.taken += piece.length
    const before = context.splitter.pending()
    const clauses = context.splitter.push(piece)
    yield* enqueue(context, clauses)
    if (context.splitter.pending() === 0) return yield* FiberHandle.clear(context.overdue)
    if (clauses.length > 0 || before === 0) yield* FiberHandle.run(context.overdue, speakOverdue(context))
  })

// A document cut into clauses is no longer a document.
const ssmlRefused = validationFailed({
  text: "SSML is read in a context that begins with `ssml`; a whole document may go to POST /v1/audio/stream too"
})

const faultOf = (context: LiveContext, piece: string): WireError | undefined => {
  const { isEnding, splitter, spoken, taken } = context
  const { length } = piece
  if (isEnding) return new WireError({ status: 409, code: "context_ending", message: "the context takes no more text" })
  if (!context.isSsml && splitter.pending() === 0 && isSsml(piece)) return ssmlRefused
  const { contextTextMax, pendingTextMax } = liveLimits
  if (taken + length > contextTextMax) {
    return new WireError({
      status: 413,
      code: "payload_too_large",
      message: `a context takes ${contextTextMax} characters; end it and begin another`,
      details: { characters: taken + length, characters_max: contextTextMax }
    })
  }
  if (taken + length - spoken <= pendingTextMax) return refusalOfMarkup(splitter.faultIn(piece))
  return new WireError({
    status: 429,
    code: "rate_limited",
    message: `${taken - spoken} characters wait to be spoken, at most ${pendingTextMax} may; send it again later`,
    details: { characters: taken - spoken, characters_max: pendingTextMax }
  })
}

const refusalOfMarkup = (fault: Fault | undefined) =>
  fault === undefined ? undefined : validationFailed({ text: `${fault.message}, at offset ${fault.offset}` })

const enqueue = Effect.fnUntraced(function* (context: LiveContext, clauses: ReadonlyArray<Clause>) {
  const knownAtMs = yield* Clock.currentTimeMillis
  for (const clause of clauses) Queue.offerUnsafe(context.jobs, { _tag: "Clause", clause, knownAtMs })
})

const speakOverdue = (context: LiveContext): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (context.splitter.pending() > 0) {
      yield* Effect.sleep(context.maxWaitMs)
      const cut = context.splitter.overdue().map((clause) => ({ ...clause, goesOn: true as const }))
      yield* enqueue(context, cut)
    }
  })

/** Has all pending text spoken, and reports when it is. */
export const flushContext = Effect.fnUntraced(function* (context: LiveContext, flushId?: string) {
  const unclosed = refusalOfMarkup(context.splitter.unclosed())
  if (unclosed !== undefined) return yield* unclosed
  yield* takeAll(context)
  Queue.offerUnsafe(context.jobs, { _tag: "Flush", flushId })
})

/** No more text comes. */
export const endContext = Effect.fnUntraced(function* (context: LiveContext, reason: "ended" | "shutdown" = "ended") {
  context.isShuttingDown ||= reason === "shutdown"
  if (context.isEnding) return
  const unclosed = reason === "shutdown" ? undefined : refusalOfMarkup(context.splitter.unclosed())
  if (unclosed !== undefined) return yield* unclosed
  context.isEnding = true
  yield* takeAll(context)
  Queue.offerUnsafe(context.jobs, { _tag: "End", reason })
})

const takeAll = Effect.fnUntraced(function* (context: LiveContext) {
  yield* enqueue(context, context.splitter.flush())
  yield* FiberHandle.clear(context.overdue)
})

/** The marks that started before the listener stopped. */
export const playedMarks = <Mark extends WordMark | OtherMark>(
  marks: ReadonlyArray<Mark>,
  playedMs: number
): ReadonlyArray<Mark> => marks.filter((mark) => mark.start_time < playedMs)

const speaking = (context: LiveContext) =>
  Effect.gen(function* () {
    for (;;) {
      const job = yield* Queue.take(context.jobs)
      if (job._tag === "Clause") {
        const spoken = yield* Effect.result(speakClause(context, job.clause, job.knownAtMs))
        if (Result.isFailure(spoken)) return yield* context.emit(context, lastOf(context, spoken.failure))
        context.spoken = job.clause.start + job.clause.text.length
      } else if (job._tag === "Flush") {
        yield* context.emit(context, { _tag: "Flushed", flushId: job.flushId })
      } else return yield* context.emit(context, yield* endOf(context, job.reason))
    }
  })

/** What a sequencer answers with a moment of silence, for which nothing is billed. */
const unsaid = { clause: { text: "", start: 0 }, input: "..." }

/** Clients take an answer without any audio for a failure. */
const endOf = Effect.fnUntraced(function* (context: LiveContext, reason: "ended" | "shutdown") {
  if (reason === "shutdown" || context.hasSound || !context.hasUnsaid) return { _tag: "Done", reason } as const
  const knownAtMs = yield* Clock.currentTimeMillis
  const said = yield* Effect.result(speakInput(context, { ...unsaid, offset: 0, knownAtMs }))
  return Result.isFailure(said) ? lastOf(context, said.failure) : ({ _tag: "Done", reason } as const)
})

const lastOf = ({ isShuttingDown }: LiveContext, error: WireError): ContextEvent =>
  isShuttingDown && isForNow(error) ? { _tag: "Done", reason: "shutdown" } : { _tag: "Failed", error }

const hasWords = /[\p{L}\p{N}\p{S}&%@#§]/u

const speakClause = Effect.fnUntraced(function* (context: LiveContext, clause: Clause, knownAtMs: number) {
  const read = readOf(context, clause)
  if (read === undefined) return void (context.hasUnsaid ||= hasVisible(textOf(context, clause)))
  const { before, input } = read
  // Its tag came in pieces.
  if (!context.isSsml && isSsml(input)) return yield* ssmlRefused
  const offset = clause.start - before
  const said = yield* Effect.result(speakInput(context, { clause, input, offset, knownAtMs }))
  // A lexicon can leave nothing of it.
  if (Result.isFailure(said) && !isOfSilence(said.failure)) return yield* placed(said.failure, offset)
})

interface Read extends Omit<Utterance, "plan"> {
  readonly input: string
}

const speakInput = Effect.fnUntraced(function* (context: LiveContext, { input, ...read }: Read) {
  const plan = yield* planOf(context, read.clause, input)
  yield* Effect.flatMap(persistently(context, spokenOnce(context, { plan, ...read })), Effect.fromResult)
})

/** Without tags and entities. */
const textOf = ({ isSsml: isMarkup }: Pick<LiveContext, "isSsml">, { text }: Clause) =>
  isMarkup ? text.replaceAll(/<[^<>]*>|&\w+;/gu, " ") : text

/** The text that is read of a clause, and the length before it; undefined if it makes no sound. */
const readOf = (context: Pick<LiveContext, "isSsml">, clause: Clause) => {
  const { isSsml: isMarkup } = context
  if (hasWords.test(textOf(context, clause))) return isMarkup ? ssmlOf(clause) : { input: clause.text, before: 0 }
  // Punctuation between two clauses could not be read alone.
  const silence = isMarkup ? silenceOf(clause) : undefined
  return silence === undefined ? undefined : { input: silence, before: 0 }
}

/** A refusal names positions in what was read; the caller knows those in the full text. */
const placed = (error: WireError, offset: number): WireError => {
  const moved = (text: string) =>
    text.replaceAll(/\bat offset (\d+)/gu, (_, at: string) => `at offset ${Number(at) + offset}`)
  const { fields } = error
  const own = fields && Object.fromEntries(Object.entries(fields).map(([path, fault]) => [path, moved(fault)]))
  return new WireError({ ...error, message: moved(error.message), ...(own === undefined ? {} : { fields: own }) })
}

// A restarting role is back in some three seconds, on a busy machine in ten: speech continues then.
const outageMsMax = 10_000
const againEveryMs = 250

const isForNow = ({ status }: WireError) => status === 429 || status === 503

/** Retries a clause while it cannot be started just now. In a process that is shutting down it never can. */
const persistently = Effect.fnUntraced(function* <A, R>(context: LiveContext, attempt: Effect.Effect<A, WireError, R>) {
  const untilMs = (yield* Clock.currentTimeMillis) + outageMsMax
  for (;;) {
    const tried = yield* Effect.result(attempt)
    if (Result.isSuccess(tried)) return tried.success
    const isOver = (yield* Clock.currentTimeMillis) >= untilMs || context.isShuttingDown
    if (isOver || !isForNow(tried.failure)) return yield* tried.failure
    yield* Effect.sleep(againEveryMs)
  }
})

interface Utterance {
  readonly plan: SpeechPlan
  readonly clause: Clause
  /** From a position in what is read to one in the full text. */
  readonly offset: number
  readonly knownAtMs: number
}

/**
 * One clause, as one utterance. It can be retried only while none of it was sent; a later failure is returned as the
 * result.
 */
const spokenOnce = (context: LiveContext, { plan, clause, offset, knownAtMs }: Utterance) =>
  Effect.scoped(
    Effect.gen(function* () {
      let hasSent = false
      const said = Effect.gen(function* () {
        yield* (yield* Admission).enter(context.workspace)
        const utterance = yield* speak(plan, yield* started)
        const takeMarks = () => {
          const marks = utterance.takeMarks().map((mark) => shifted(mark, offset, context.audioMs))
          const others = utterance.takeOthers().map((mark) => shifted(mark, offset, context.audioMs))
          context.marks.push(...marks)
          context.others.push(...others)
          return { marks, others }
        }
        const send = (bytes: Uint8Array) =>
          Effect.gen(function* () {
            if (!hasSent) context.onFirstAudio(((yield* Clock.currentTimeMillis) - knownAtMs) / 1_000)
            if (!hasSent) context.billed += clause.text.length
            if (!hasSent) context.silentAtMs = Math.max(context.silentAtMs ?? 0, yield* Clock.currentTimeMillis)
            hasSent = true
            context.hasSound = true
            yield* context.emit(context, { _tag: "Audio", bytes, ...takeMarks(), atMs: context.audioMs })
          })
        yield* Effect.mapError(Stream.runForEach(utterance.bytes, send), (error) => refusalOf(error, false))
        const rest = takeMarks()
        if (rest.marks.length + rest.others.length > 0)
          yield* context.emit(context, { _tag: "Audio", bytes: none, ...rest, atMs: context.audioMs })
        context.audioMs += utterance.durationMs()
        if (hasSent) context.billed += utterance.billableCharacters() - clause.text.length
        context.silentAtMs = (context.silentAtMs ?? 0) + utterance.durationMs()
      })
      const result = yield* Effect.result(said)
      if (Result.isFailure(result) && !hasSent) return yield* result.failure
      return result
    })
  )

const none = new Uint8Array(0)

// A writer's pause between two sentences. After a longer one others can take its place.
const pauseMsMax = 5_000

const planOf = Effect.fnUntraced(function* (
  { plan, silentAtMs = Number.NEGATIVE_INFINITY, workspace }: LiveContext,
  { goesOn, text }: Clause,
  input: string
) {
  const turns = plan.turns.map((turn) => ({ ...turn, input, ...(goesOn && { goesOn }) }))
  const isContinuation = (yield* Clock.currentTimeMillis) < silentAtMs + pauseMsMax
  const priority = { waitsTurn: true, isContinuation }
  return yield* completed({ ...plan, turns, billableCharacters: text.length, priority }, workspace)
})

const shifted = <Mark extends WordMark | OtherMark>(mark: Mark, offset: number, ms: number): Mark => ({
  ...mark,
  start: mark.start + offset,
  end: mark.end + offset,
  start_time: mark.start_time + ms,
  end_time: mark.end_time + ms
})

/** Ends it at once. What was already sent can still be in flight. */
export const stopContext = ({ speaking: fiber }: LiveContext): Effect.Effect<void> =>
  fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
