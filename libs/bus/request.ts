/**
 * Question and answer between roles over core messages: asked on a subject, answered by one of a queue group. Nothing
 * is stored. A missing answerer is detected within milliseconds and is `BusUnavailable`. So is a full one: it reports
 * at once that it is at its limit of questions, instead of queueing more. For a slow question the asker can have the
 * answerer send progress messages: an answerer that dies meanwhile is then detected soon, and another is asked.
 */
import { randomBytes } from "node:crypto"
import type { Msg } from "@nats-io/nats-core"
import { Clock, Context, Effect, Layer, Option, Result, Schedule, type Scope, Semaphore } from "effect"
import { currentTraceparent, defineCounter, Metrics } from "#runtime"
import { type BusError, BusRefused, BusUnavailable } from "./errors.ts"
import { header, headerReader, type MessageCodec, toHeaders } from "./message.ts"
import { Nats } from "./connection/connection.ts"
import { type Answerer, LocalTransport, Mailbox } from "./mailbox.ts"
import { Rejections } from "./rejections.ts"

export const questionsTurnedAway = defineCounter({
  name: "bus_questions_turned_away_total",
  help: "Questions that were answered with busy at once, for too many were being answered already, by subject.",
  labels: ["subject"]
})

export interface AskOptions<Question, Answer> {
  readonly subject: string
  readonly question: MessageCodec<Question>
  readonly answer: MessageCodec<Answer>
  readonly timeoutMs: number
  /**
   * The first answerer was silent or busy: ask through the broker, so that another replica can get it. Default false.
   */
  readonly isAgain?: boolean
  /**
   * The answerer sends progress messages throughout. After this long in silence it counts as dead or hung, and the
   * question is asked again, within the same time. For questions that are safe to ask twice, between roles where the
   * answerer sends to the asker's mailbox.
   */
  readonly silence?: { readonly msMax: number; readonly onSilence: Effect.Effect<void> }
}

export interface AnswerOptions<Question, Answer, R> {
  readonly subject: string
  /** Replicas of a role share a queue group: one of them answers. */
  readonly queueGroup: string
  readonly question: MessageCodec<Question>
  readonly answer: MessageCodec<Answer>
  /** Questions in work at once. */
  readonly concurrency: number
  /** Questions waiting beyond those in work; any further one is told at once to ask again. Default 1,024. */
  readonly waitingMax?: number
  readonly handler: (question: Question) => Effect.Effect<Answer, never, R>
}

const refusedHeader = "Starling-Refused"
const busyHeader = "Starling-Busy"
/** Where to report that a question is in work: an instance, and a session of its mailbox. */
const heartbeatHeader = "Starling-Tell"

// A queue longer than a moment's work holds only questions whose askers have stopped waiting.
const waitingMaxDefault = 1_024

export class Requests extends Context.Service<
  Requests,
  {
    readonly ask: <Q, A>(options: AskOptions<Q, A>, question: Q) => Effect.Effect<A, BusError>
    readonly answer: <Q, A, R>(options: AnswerOptions<Q, A, R>) => Effect.Effect<void, never, R | Scope.Scope>
  }
>()("starling/bus/Requests") {
  static readonly layer = Layer.effect(
    Requests,
    Effect.gen(function* () {
      const nats = yield* Nats
      const rejections = yield* Rejections
      const local = yield* LocalTransport
      const mailbox = yield* Mailbox
      const turnedAway = (yield* Metrics).counter(questionsTurnedAway)

      const ask = Effect.fnUntraced(function* <Q, A>(options: AskOptions<Q, A>, question: Q) {
        const operation = `ask ${options.subject}`
        const isAgain = options.isAgain === true
        const nearby = isAgain ? undefined : local.answererOf(options.subject, options.question, options.answer)
        if (nearby !== undefined) {
          const pose = (respond: (answer: A) => void) => nearby.pose(question, respond)
          return yield* nats.askNear(operation, options.subject, options.timeoutMs, pose)
        }
        const encoded = options.question.encode(question)
        const traceparent = yield* currentTraceparent
        const trace = traceparent === undefined ? [] : [[header.traceparent, traceparent] as const]
        const { subject, silence, timeoutMs } = options
        const send = (more: ReadonlyArray<readonly [string, string]>, withinMs: number) => {
          const headers = toHeaders([...encoded.headers, ...trace, ...more])
          return nats.ask(operation, { subject, data: encoded.data, headers }, withinMs)
        }
        const reply = yield* silence === undefined
          ? send([], timeoutMs)
          : askUntilAnswered({ mailbox, operation, send, timeoutMs, ...silence })
        return yield* answerIn(operation, options.answer, reply)
      })

      const answer = Effect.fnUntraced(function* <Q, A, R>(options: AnswerOptions<Q, A, R>) {
        turnedAway.begin({ subject: options.subject })
        const run = Effect.runForkWith(yield* Effect.context<R>())
        const slots = yield* Semaphore.make(options.concurrency)
        const presentMax = options.concurrency + (options.waitingMax ?? waitingMaxDefault)
        const tooMany = toHeaders([[busyHeader, `${presentMax} questions are being answered`]])
        let present = 0
        const leave = Effect.sync(() => void (present -= 1))
        const work = (answering: Effect.Effect<void, never, R>) => {
          present += 1
          run(Effect.ensuring(answering, leave))
        }
        const inTurn = slots.withPermits(1)
        const callback = (_error: unknown, message: Msg) => {
          if (present < presentMax) {
            return work(withHeartbeat(mailbox, message, inTurn(answerOne(options, rejections, nats, message))))
          }
          turnedAway.inc({ subject: options.subject })
          return void message.respond(new Uint8Array(0), { headers: tooMany })
        }
        const answerer: Answerer<Q, A> = {
          question: options.question,
          answer: options.answer,
          hasRoom: () => present < options.concurrency,
          pose: (question, respond) => work(inTurn(Effect.map(options.handler(question), respond)))
        }
        yield* Effect.acquireRelease(
          Effect.sync(() => local.answer(options.subject, answerer)),
          (goAway) => Effect.sync(goAway)
        )
        yield* Effect.acquireRelease(
          Effect.sync(() => nats.connection.subscribe(options.subject, { queue: options.queueGroup, callback })),
          // A connection that is already closed has nothing to drain.
          (subscription) => Effect.ignore(Effect.tryPromise(() => subscription.drain()))
        )
      })
      return Requests.of({ ask, answer })
    })
  )
}

const answerIn = <A>(operation: string, codec: MessageCodec<A>, reply: Msg): Effect.Effect<A, BusError> => {
  const read = headerReader(reply.headers)
  const busy = read(busyHeader)
  if (busy !== undefined) return Effect.fail(new BusUnavailable({ operation, detail: `busy: ${busy}` }))
  const decoded = codec.decode({ data: reply.data, header: read })
  if (read(refusedHeader) === undefined && Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
  const detail = read(refusedHeader) ?? "an answer that breaks its schema"
  return Effect.fail(new BusRefused({ operation, detail, code: 0 }))
}

interface Asking {
  readonly mailbox: Mailbox["Service"]
  readonly operation: string
  readonly send: (headers: ReadonlyArray<readonly [string, string]>, withinMs: number) => Effect.Effect<Msg, BusError>
  readonly timeoutMs: number
  readonly msMax: number
  readonly onSilence: Effect.Effect<void>
}

/** Asks again each time the answerer falls silent, until the time is over. */
const askUntilAnswered = ({ mailbox, operation, send, timeoutMs, msMax, onSilence }: Asking) =>
  Effect.scoped(
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const session = randomBytes(12).toString("base64url")
      let aliveAtMs = 0
      yield* mailbox.open(session, () => void (aliveAtMs = clock.currentTimeMillisUnsafe()))
      const silent = Effect.gen(function* () {
        for (;;) {
          const leftMs = aliveAtMs + msMax - clock.currentTimeMillisUnsafe()
          if (leftMs <= 0) return Option.none<Msg>()
          yield* Effect.sleep(leftMs)
        }
      })
      const untilMs = clock.currentTimeMillisUnsafe() + timeoutMs
      for (;;) {
        aliveAtMs = clock.currentTimeMillisUnsafe()
        const leftMs = untilMs - aliveAtMs
        if (leftMs <= 0) return yield* new BusUnavailable({ operation, detail: `no answer within ${timeoutMs} ms` })
        const asked = Effect.asSome(send([[heartbeatHeader, `${mailbox.instance} ${session}`]], leftMs))
        const answered = yield* Effect.raceFirst(asked, silent)
        if (Option.isSome(answered)) return answered.value
        yield* onSilence
      }
    })
  )

// Several of them fit within the shortest silence that an asker takes for a death.
const heartbeatMs = 500
const mailboxPattern = /^([A-Za-z0-9_-]{1,64}) ([A-Za-z0-9_-]{1,64})$/u
const nothing = new Uint8Array(0)

/** Tells the asker that its question is waiting or in work, if it asked for that. */
const withHeartbeat = <R>(
  mailbox: Mailbox["Service"],
  { headers }: Msg,
  answering: Effect.Effect<void, never, R>
): Effect.Effect<void, never, R> => {
  const [, instance, session] = mailboxPattern.exec(headerReader(headers)(heartbeatHeader) ?? "") ?? []
  if (instance === undefined || session === undefined) return answering
  const beat = Effect.sync(() => mailbox.send(instance, session, nothing))
  return Effect.raceFirst(answering, Effect.andThen(Effect.repeat(beat, Schedule.spaced(heartbeatMs)), Effect.never))
}

const answerOne = Effect.fnUntraced(function* <Q, A, R>(
  options: AnswerOptions<Q, A, R>,
  rejections: Rejections["Service"],
  nats: Nats["Service"],
  message: Msg
) {
  const question = options.question.decode({
    data: message.data,
    // Decoded on demand, because few answerers read headers.
    header: (name) => headerReader(message.headers)(name),
    subject: message.subject,
    headerNames: () => message.headers?.keys() ?? []
  })
  if (Result.isFailure(question)) {
    const faults = question.failure
    const refused = { origin: "requests", subject: message.subject, sequence: null, faults, payload: message.data }
    yield* Effect.ignore(rejections.reject(refused))
    const refusal = rejections
      .reportable(faults)
      .map((fault) => `${fault.path}: ${fault.message}`)
      .join("; ")
    message.respond(new Uint8Array(0), { headers: toHeaders([[refusedHeader, refusal.replace(/[\r\n]+/gu, " ")]]) })
    return
  }
  const encoded = options.answer.encode(yield* options.handler(question.success))
  const sent = encoded.headers.length === 0 ? {} : { headers: toHeaders(encoded.headers) }
  nats.sends.add(() => {
    // A closed connection gets no answer.
    if (!nats.connection.isClosed()) message.respond(encoded.data, sent)
  })
})
