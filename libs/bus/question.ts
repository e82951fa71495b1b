/**
 * A question to whoever answers on a subject: a role of this process that has room for it, else any of its replicas.
 * That nobody is there is known at once, from the broker.
 */
import { Effect } from "effect"
import type { BrokerCalls, Outgoing, ReadAnswer, Reply } from "./broker-calls.ts"
import { type BusError, BusUnavailable } from "./errors.ts"
import type { Neighbourhood } from "./Neighbours.ts"

export type Question = (operation: string, question: Outgoing, withinMs: number) => Effect.Effect<Reply, BusError>

export const question =
  ({ call }: BrokerCalls): Question =>
  (operation, asked, withinMs) =>
    call(operation, answerOf, asked, [], withinMs)

/** Undefined where no neighbour can take it now. */
export const questionNearby =
  ({ near }: BrokerCalls, { answerers }: Neighbourhood) =>
  (operation: string, asked: Outgoing, withinMs: number): Effect.Effect<Reply, BusError> | undefined => {
    const answerer = answerers.find(asked.subject)
    if (answerer?.hasRoom() !== true) return undefined
    const pose = (respond: (reply: Reply) => void) => answerer.pose({ ...asked, respond })
    return near(operation, answerOf, asked.subject, pose, withinMs)
  }

const answerOf: ReadAnswer<Reply> = (operation, answer) =>
  answer.data.length === 0 && answer.headers?.code === 503
    ? Effect.fail(new BusUnavailable({ operation, detail: "nobody is there" }))
    : Effect.succeed(answer)
