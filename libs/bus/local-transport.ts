/**
 * The transport between roles of one process: a question to a subject that another role answers, and what is sent to its
 * mailbox, go without the broker, whose round trip costs a millisecond. Question and answer are handed over as values,
 * where both sides have the same codecs. A role that is alone, has left or is full is not found: then the broker has the
 * message, and any replica may get it. Only of plain subjects; one with a wildcard is the broker's to match.
 */
import { Context, Effect, Layer } from "effect"
import type { MessageCodec } from "./message.ts"

export interface Answerer<Question, Answer> {
  readonly question: MessageCodec<Question>
  readonly answer: MessageCodec<Answer>
  /** Whether one more would be worked on at once. */
  readonly hasRoom: () => boolean
  /** `respond` once, and at any time; the asker may have given up. */
  readonly pose: (question: Question, respond: (answer: Answer) => void) => void
}

/** The bytes are the receiver's to keep. */
type Receive = (sessionId: string, bytes: Uint8Array) => void

interface Registry<A> {
  /** `undefined` where nobody in this process has the name. */
  readonly find: (name: string) => A | undefined
  /** The first to come keeps the name until it leaves. */
  readonly enter: (name: string, entry: A) => () => void
}

interface Transport {
  readonly mailboxes: Registry<Receive>
  readonly answer: <Q, A>(subject: string, answerer: Answerer<Q, A>) => () => void
  /** Who would take such a question now. */
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
      // The same codecs are of the same values: this is what makes the type above true.
      return found?.question === question && found.answer === answer && found.hasRoom() ? found : undefined
    }
  }
}

const none: Transport = {
  mailboxes: { find: () => undefined, enter: () => () => undefined },
  answer: () => () => undefined,
  answererOf: () => undefined
}

/** Finds nobody, unless the process provides `localTransport`. */
export const LocalTransport = Context.Reference<Transport>("starling/bus/LocalTransport", { defaultValue: () => none })

/** For all roles of a process on one broker. */
export const localTransport = Layer.effect(LocalTransport, Effect.sync(inProcess))
