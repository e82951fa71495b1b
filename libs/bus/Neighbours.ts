/**
 * The roles of one process, for each other. A question to a subject that another of them answers, and what is sent to
 * its mailbox, is handed over without the broker between: a round trip through it costs a millisecond, and a paid call
 * would make two. A question and its answer are the very values, where both sides have the same codecs: decoding what
 * was encoded a moment ago would give the same again. A role that is alone, has left or is full is no neighbour: then
 * the broker has the message, and any replica may get it. Only of plain subjects; one with a wildcard is the broker's
 * to match.
 */
import { Context, Effect, Layer } from "effect"
import type { MessageCodec } from "./message-codec.ts"

export interface Answerer<Question, Answer> {
  readonly question: MessageCodec<Question>
  readonly answer: MessageCodec<Answer>
  /** Whether one more would be worked on at once. */
  readonly hasRoom: () => boolean
  /** `respond` once, and at any time; who asked may have given up. */
  readonly pose: (question: Question, respond: (answer: Answer) => void) => void
}

/** The bytes are the receiver's to keep. */
export type Receive = (sessionId: string, bytes: Uint8Array) => void

interface Known<A> {
  /** `undefined` where nobody in this process is called so. */
  readonly find: (name: string) => A | undefined
  /** The first to come keeps the name; who leaves gives it back. */
  readonly enter: (name: string, resident: A) => () => void
}

export interface Neighbourhood {
  readonly mailboxes: Known<Receive>
  readonly answer: <Q, A>(subject: string, answerer: Answerer<Q, A>) => () => void
  /** Who would take such a question now. */
  readonly answererOf: <Q, A>(
    subject: string,
    question: MessageCodec<Q>,
    answer: MessageCodec<A>
  ) => Answerer<Q, A> | undefined
}

const residents = <A>(): Known<A> => {
  const byName = new Map<string, A>()
  return {
    find: (name) => byName.get(name),
    enter: (name, resident) => {
      if (!byName.has(name)) byName.set(name, resident)
      return () => void (byName.get(name) === resident && byName.delete(name))
    }
  }
}

const neighbourhood = (): Neighbourhood => {
  const answerers = residents<unknown>()
  return {
    mailboxes: residents(),
    answer: (subject, answerer) => answerers.enter(subject, answerer),
    answererOf: <Q, A>(subject: string, question: MessageCodec<Q>, answer: MessageCodec<A>) => {
      const found = answerers.find(subject) as Answerer<Q, A> | undefined
      // The same codecs are of the same values: this is what makes the type above true.
      return found?.question === question && found.answer === answer && found.hasRoom() ? found : undefined
    }
  }
}

const alone: Neighbourhood = {
  mailboxes: { find: () => undefined, enter: () => () => undefined },
  answer: () => () => undefined,
  answererOf: () => undefined
}

/** Nobody, unless the process says that its roles are neighbours. */
export const Neighbours = Context.Reference<Neighbourhood>("starling/bus/Neighbours", { defaultValue: () => alone })

/** For all roles of a process on one broker. */
export const neighbours = Layer.effect(Neighbours, Effect.sync(neighbourhood))
