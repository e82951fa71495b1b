/**
 * Core messages straight to a process: audio, credit, cancel. A process subscribes once, at its start, and
 * distinguishes its sessions by the token after its own name: a subscription per session would lose the first frames in
 * a cluster. Nothing is stored or confirmed; the sender must bound its unconfirmed messages.
 *
 * The transport between roles of one process. A question to a subject that another role of the process answers, and
 * messages to its mailbox, skip the broker, whose round trip costs a millisecond. Question and answer are passed as
 * values when both sides use the same codecs. A role that runs alone, has left or is full is not found: the message
 * then goes to the broker, and any replica can get it. Only for plain subjects; the broker matches wildcards.
 */
import { randomBytes } from "node:crypto"
import { Context, Effect, Layer, type Scope } from "effect"
import { subjects } from "#base"
import { acquireLightly, Role } from "#runtime"
import { type MessageCodec, toHeaders } from "./message.ts"
import { Nats } from "./connection/connection.ts"
import { noResponders } from "./connection/calls.ts"
import { hasMailbox, mailboxWord } from "./topology/topology.ts"

export interface Answerer<Question, Answer> {
  readonly question: MessageCodec<Question>
  readonly answer: MessageCodec<Answer>
  /** Whether one more question would be started at once. */
  readonly hasRoom: () => boolean
  /** Call `respond` once, at any time; the asker may have stopped waiting. */
  readonly pose: (question: Question, respond: (answer: Answer) => void) => void
}

/** The receiver owns the bytes. */
type Receive = (sessionId: string, bytes: Uint8Array) => void

interface Registry<A> {
  /** Undefined when this process has no such name. */
  readonly find: (name: string) => A | undefined
  /** The first to register keeps the name until it leaves. */
  readonly enter: (name: string, entry: A) => () => void
}

interface Transport {
  readonly mailboxes: Registry<Receive>
  readonly answer: <Q, A>(subject: string, answerer: Answerer<Q, A>) => () => void
  /** The role that would currently answer such a question. */
  readonly answererOf: <Q, A>(
    subject: string,
    question: MessageCodec<Q>,
    answer: MessageCodec<A>
  ) => Answerer<Q, A> | undefined
}

const registry = <A>(): Registry<A> => {
  const byName = new Map<string, A>()
  return {
    find: (name) => byName.get(name),
    enter: (name, entry) => {
      if (!byName.has(name)) byName.set(name, entry)
      return () => void (byName.get(name) === entry && byName.delete(name))
    }
  }
}

const inProcess = (): Transport => {
  const answerers = registry<unknown>()
  return {
    mailboxes: registry(),
    answer: (subject, answerer) => answerers.enter(subject, answerer),
    answererOf: <Q, A>(subject: string, question: MessageCodec<Q>, answer: MessageCodec<A>) => {
      const found = answerers.find(subject) as Answerer<Q, A> | undefined
      // The same codecs carry the same values, so the type above holds.
      return found?.question === question && found.answer === answer && found.hasRoom() ? found : undefined
    }
  }
}

const none: Transport = {
  mailboxes: { find: () => undefined, enter: () => () => undefined },
  answer: () => () => undefined,
  answererOf: () => undefined
}

/** Finds nothing unless the process provides `localTransport`. */
export const LocalTransport = Context.Reference<Transport>("starling/bus/LocalTransport", { defaultValue: () => none })

/** Shared by all roles of a process on one broker. */
export const localTransport = Layer.effect(LocalTransport, Effect.sync(inProcess))

export class Mailbox extends Context.Service<
  Mailbox,
  {
    /** This process's name in subjects. */
    readonly instance: string
    /** Receives the messages of a session until the scope closes. The receiver owns the bytes. */
    readonly open: (sessionId: string, receive: (bytes: Uint8Array) => void) => Effect.Effect<void, never, Scope.Scope>
    /** Receives the messages of sessions that are not open; there is no other way to inform the sender. */
    readonly onUnknown: (receive: (sessionId: string, bytes: Uint8Array) => void) => Effect.Effect<void>
    /** False for an instance that is known to be gone: it no longer receives messages. */
    readonly isThere: (instance: string) => Effect.Effect<boolean>
    /** Sends without waiting. All messages of one turn of the event loop leave in one write. */
    readonly send: (instance: string, sessionId: string, bytes: Uint8Array) => void
  }
>()("starling/bus/Mailbox") {
  static readonly layer = Layer.effect(
    Mailbox,
    Effect.gen(function* () {
      const nats = yield* Nats
      const { mailboxes } = yield* LocalTransport
      const role = yield* Role
      const instance = `${mailboxWord(role)}-${randomBytes(12).toString("base64url")}`
      const open = new Map<string, (bytes: Uint8Array) => void>()
      let unknown: (sessionId: string, bytes: Uint8Array) => void = () => {}
      const deliver = (sessionId: string, bytes: Uint8Array) => {
        const receive = open.get(sessionId)
        if (receive === undefined) unknown(sessionId, bytes)
        else receive(bytes)
      }
      const nearby = Effect.acquireRelease(
        Effect.sync(() => mailboxes.enter(instance, deliver)),
        (leave) => Effect.sync(leave)
      )
      const listening = Effect.acquireRelease(
        Effect.sync(() =>
          nats.connection.subscribe(subjects.mailbox(instance), {
            callback: (error, message) => {
              if (error !== null) return
              deliver(message.subject.slice(message.subject.lastIndexOf(".") + 1), message.data)
            }
          })
        ),
        (subscription) => Effect.sync(() => subscription.unsubscribe())
      )
      // A role without a mailbox may also lack the permission to subscribe.
      if (hasMailbox(role)) yield* Effect.andThen(listening, nearby)
      return Mailbox.of({
        instance,
        open: (sessionId, receive) =>
          acquireLightly(
            Effect.sync(() => void open.set(sessionId, receive)),
            () => Effect.sync(() => open.delete(sessionId))
          ),
        isThere: (name) => (mailboxes.find(name) === undefined ? isListening(nats, name) : Effect.succeed(true)),
        onUnknown: (receive) => Effect.sync(() => void (unknown = receive)),
        send: (to, sessionId, bytes) =>
          nats.sends.add(() => {
            const receive = mailboxes.find(to)
            // A copy, because the sender may reuse its bytes.
            if (receive !== undefined) return receive(sessionId, bytes.slice())
            // A closed connection gets no error; the receiver's peer notices the silence.
            if (!nats.connection.isClosed()) nats.connection.publish(subjects.mailboxSession(to, sessionId), bytes)
          })
      })
    })
  )
}

// The broker reports at once when there is no subscriber; a subscriber does not answer.
const silenceMs = 300
const nothing = new Uint8Array(0)

const isListening = (nats: Nats["Service"], instance: string) => {
  const operation = `look for ${instance}`
  const asked = { subject: subjects.mailboxSession(instance, "there"), data: nothing, headers: toHeaders([]) }
  return nats.ask(operation, asked, silenceMs).pipe(
    Effect.as(true),
    Effect.catch((error) => Effect.succeed(error._tag !== "BusUnavailable" || error.detail !== noResponders))
  )
}
