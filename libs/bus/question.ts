/** A question to whoever answers on a subject. That nobody is there is known at once, from the broker. */
import type { Msg } from "@nats-io/nats-core"
import { Effect } from "effect"
import type { BrokerCalls, Outgoing, ReadAnswer } from "./broker-calls.ts"
import { type BusError, BusUnavailable } from "./errors.ts"

export type Question = (operation: string, question: Outgoing, withinMs: number) => Effect.Effect<Msg, BusError>

export const question =
  ({ call }: BrokerCalls): Question =>
  (operation, asked, withinMs) =>
    call(operation, answerOf, asked, [], withinMs)

/** Of an error that says so: whoever was asked for has gone, or never was. */
export const nobodyThere = "nobody is there"

const answerOf: ReadAnswer<Msg> = (operation, answer) =>
  answer.data.length === 0 && answer.headers?.code === 503
    ? Effect.fail(new BusUnavailable({ operation, detail: nobodyThere }))
    : Effect.succeed(answer)
