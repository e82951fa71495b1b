/** The JSON that JetStream answers with: what was asked for, or its error. Pure. */
import type { Msg } from "@nats-io/nats-core"
import { Result } from "effect"
import { type BusError, BusUnavailable, fromApiError } from "./errors.ts"
import { parseJson } from "./message-codec.ts"

export type BrokerAnswer = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is BrokerAnswer => typeof value === "object" && value !== null

/** Fails with what the broker says is wrong; an answer that is no JSON object is none. */
export const parseAnswer = (operation: string, message: Pick<Msg, "data">): Result.Result<BrokerAnswer, BusError> =>
  Result.flatMap(readAnswer(operation, message), (answer) => unlessWrong(operation, answer))

/**
 * As `parseAnswer`, and undefined where there is no such message: what is looked for is often not there, and an error
 * with its stack costs more than all the rest of the look.
 */
export const parseFound = (
  operation: string,
  message: Pick<Msg, "data">
): Result.Result<BrokerAnswer | undefined, BusError> =>
  Result.flatMap(readAnswer(operation, message), (answer) =>
    isRecord(answer["error"]) && answer["error"]["err_code"] === noMessageFound
      ? Result.succeed(undefined)
      : unlessWrong(operation, answer)
  )

const noMessageFound = 10_037

const readAnswer = (operation: string, { data }: Pick<Msg, "data">): Result.Result<BrokerAnswer, BusError> => {
  const parsed = parseJson(data)
  if (Result.isSuccess(parsed) && isRecord(parsed.success)) return Result.succeed(parsed.success)
  return Result.fail(new BusUnavailable({ operation, detail: "an answer we cannot read" }))
}

const unlessWrong = (operation: string, answer: BrokerAnswer): Result.Result<BrokerAnswer, BusError> => {
  const { error } = answer
  if (error === undefined) return Result.succeed(answer)
  if (!isRecord(error)) {
    return Result.fail(new BusUnavailable({ operation, detail: "an error we cannot read" }))
  }
  const { err_code: code, code: status, description } = error
  return Result.fail(fromApiError(operation, Number(code ?? 0), Number(status ?? 0), String(description)))
}
