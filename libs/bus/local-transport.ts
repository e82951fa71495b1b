/**
 * The transport between roles of one process. A question to a subject that another role answers, and messages to its
 * mailbox, skip the broker, whose round trip costs a millisecond. Question and answer are handed over as values when
 * both sides have the same codecs. A role that is alone, has left or is full is not found: then the broker has the
 * message, and any replica may get it. Only for plain subjects; the broker matches wildcards.
 */
import { Context, Effect, Layer } from "effect"
import type { MessageCodec } from "./message.ts"

export interface Answerer<Question, Answer> {
  readonly question: MessageCodec<Question>
  readonly answer: MessageCodec<Answer>
  /** Whether one more question would be worked on at once. */
  readonly hasRoom: () => boolean
  /** Call `respond` once, at any time; the asker may have given up. */
  readonly pose: (question: Question, respond: (answer: Answer) => void) => void
}

/** The receiver owns the bytes. */
type Receive = (sessionId: string, bytes: Uint8Array) => void

interface Registry<A> {
  /** Undefined when nobody in this process has the name. */
  readonly find: (name: string) => A | undefined
  /** The first to enter keeps the name until it leaves. */
  readonly enter: (name: string, entry: A) => () => void
}

interface Transport {
  readonly mailboxes: Registry<Receive>
  readonly answer: <Q, A>(subject: string, answerer: Answerer<Q, A>) => () => void
  /** The role that would take such a question now. */
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
      // The same codecs carry the same values, so the type above is true.
      return found?.question === question && found.answer === answer && found.hasRoom() ? found : undefined
    }
  }
}

const none: Transport = {
  mailboxes: { find: () => undefined, enter: () => () => undefined },
  answer: () => () => undefined,
  answererOf: () => undefined
}

/** Finds nothing, unless the process provides `localTransport`. */
export const LocalTransport = Context.Reference<Transport>("starling/bus/LocalTransport", { defaultValue: () => none })

/** Shared by all roles of a process on one broker. */
export const localTransport = Layer.effect(LocalTransport, Effect.sync(inProcess))
