/**
 * The roles of one process, for each other. A question to a subject that another of them answers, and what is sent to
 * its mailbox, is handed over without the broker between: a round trip through it costs a millisecond, and a paid call
 * would make two. The bytes are the same, and are decoded and answered the same way. A role that is alone, has left or
 * is full is no neighbour: then the broker has the message, and any replica may get it. Only of plain subjects; one
 * with a wildcard is the broker's to match.
 */
import { Context, Effect, Layer } from "effect"
import type { Reply } from "./broker-calls.ts"

/** A question as its answerer sees it, from wherever it came. */
export interface Posed extends Reply {
  readonly subject: string
  /** Once, and at any time; who asked may have given up. */
  readonly respond: (reply: Reply) => void
}

export interface Answerer {
  /** Whether one more would be worked on at once. */
  readonly hasRoom: () => boolean
  readonly pose: (question: Posed) => void
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
  readonly answerers: Known<Answerer>
  readonly mailboxes: Known<Receive>
}

const nobody = <A>(): Known<A> => ({ find: () => undefined, enter: () => () => undefined })

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

/** Nobody, unless the process says that its roles are neighbours. */
export const Neighbours = Context.Reference<Neighbourhood>("starling/bus/Neighbours", {
  defaultValue: () => ({ answerers: nobody(), mailboxes: nobody() })
})

/** For all roles of a process on one broker. */
export const neighbours = Layer.effect(
  Neighbours,
  Effect.sync(() => ({ answerers: residents<Answerer>(), mailboxes: residents<Receive>() }))
)
