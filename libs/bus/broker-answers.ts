/** The JSON that JetStream answers with: what was asked for, or its error. Pure. */
import type { Msg } from "@nats-io/nats-core"
import { Result } from "effect"
import { type BusError, BusUnavailable, fromApiError } from "./errors.ts"
import { parseJson } from "./message-codec.ts"

export type BrokerAnswer = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is BrokerAnswer => typeof value === "object" && value !== null

/** Fails with what the broker says is wrong; an answer that is no JSON object is none. */
export const parseAnswer = (operation: string, { data }: Pick<Msg, "data">): Result.Result<BrokerAnswer, BusError> => {
  const parsed = parseJson(data)
  if (Result.isFailure(parsed) || !isRecord(parsed.success)) {
    return Result.fail(new BusUnavailable({ operation, detail: "an answer we cannot read" }))
  }
  const { error } = parsed.success
  if (error === undefined) return Result.succeed(parsed.success)
  if (!isRecord(error)) {
    return Result.fail(new BusUnavailable({ operation, detail: "an error we cannot read" }))
  }
  const { err_code: code, code: status, description } = error
  return Result.fail(fromApiError(operation, Number(code ?? 0), Number(status ?? 0), String(description)))
}
