/** A refusal of the gateway as lines for a terminal: what went wrong, whether money moved, and what to do now. Pure. */
import { Result, Schema } from "effect"

const ErrorBody = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.optionalKey(
      Schema.Union([
        Schema.String,
        Schema.Struct({
          message: Schema.optionalKey(Schema.String),
          code: Schema.optionalKey(Schema.NullOr(Schema.String))
        })
      ])
    ),
    code: Schema.optionalKey(Schema.String),
    message: Schema.optionalKey(Schema.String),
    debug: Schema.optionalKey(Schema.String),
    payer: Schema.optionalKey(Schema.String)
  })
)

export interface RefusedCall {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
  /** A payment was sent with the call. */
  readonly isPaid: boolean
}

export const payRefusalLines = (refused: RefusedCall): string => {
  const { status, retryAfter, body } = refused
  const read = Schema.decodeResult(ErrorBody)(body)
  if (Result.isFailure(read)) return `the gateway answered ${status}: ${oneLine(body)}`
  const { error, debug, payer } = read.success
  const inner = typeof error === "string" ? { message: error } : error
  const code = read.success.code ?? (typeof error === "string" ? undefined : (error?.code ?? undefined))
  const said = [...new Set([inner?.message, read.success.message])].filter((text) => text !== undefined)
  const marks = [String(status), code, payer === undefined ? undefined : `payer ${payer}`]
  const again = retryAfter === null ? "" : `; try again in ${retryAfter} s`
  const head = `${oneLine(said.join(": "))} (${marks.filter((mark) => mark !== undefined).join(", ")})${again}`
  const reason = debug === undefined ? [] : [`  ${oneLine(debug)}`]
  return [head, ...reason, `  ${moneyLine(refused, said[0] ?? "")}`].join("\n")
}

// Only a settlement that was refused has been near the chain, and even that moved nothing.
const moneyLine = ({ isPaid, status }: RefusedCall, said: string) => {
  if (!isPaid) return "nothing was paid"
  if (status === 402 && said.includes("settlement")) return "the chain refused the payment, nothing was paid"
  return "the payment was not used, nothing was paid"
}

const oneLine = (text: string) => text.replaceAll(/\s+/gu, " ").trim().slice(0, 500)
