/**
 * The lines that an agent may print beside its work: JSON on its standard output, each with a `type`. Every other line
 * is only a sign of life.
 *
 *   {"type":"question","questionId":"q-1","questionText":"Which one?"}    {"type":"no-action"}
 *   {"type":"suggestion","title":"...","rationale":"...", ...}            {"type":"usage","costMicroUsd":1200, ...}
 *   {"type":"finding","severity":"Error","title":"...", ...}              {"type":"quota","toAgent":null, ...}
 *   {"type":"verdict","isMatched":true,"answer":"...","followUp":null}
 */
import { Result, Schema } from "effect"
import { ReportedFinding, ReportedSuggestion, ReportedUsage, workItemReports } from "#pipeline/contract"

const { checkVerdict, quotaHit, questionsAsked } = workItemReports
const question = questionsAsked.fields.questions.value.fields
const { auditor: _auditor, ...finding } = ReportedFinding.fields

export const AgentLine = Schema.Union([
  Schema.Struct({ type: Schema.Literal("question"), ...question }),
  Schema.Struct({ type: Schema.Literal("suggestion"), ...ReportedSuggestion.fields }),
  Schema.Struct({ type: Schema.Literal("finding"), ...finding }),
  Schema.Struct({ type: Schema.Literal("usage"), ...ReportedUsage.fields }),
  Schema.Struct({ type: Schema.Literal("no-action") }),
  Schema.Struct({
    type: Schema.Literal("quota"),
    toAgent: quotaHit.fields.toAgent,
    toModel: quotaHit.fields.toModel,
    resetAtMs: quotaHit.fields.resetAtMs
  }),
  Schema.Struct({
    type: Schema.Literal("verdict"),
    isMatched: checkVerdict.fields.isMatched,
    answer: checkVerdict.fields.answer,
    followUp: checkVerdict.fields.followUp
  })
])
export type AgentLine = typeof AgentLine.Type
export type AgentLineOf<Type extends AgentLine["type"]> = Extract<AgentLine, { readonly type: Type }>

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(AgentLine))

/** Undefined for a line of no known type. */
export const readAgentLine = (line: string): AgentLine | undefined => {
  if (!line.startsWith("{")) return undefined
  const read = decode(line)
  return Result.isSuccess(read) ? read.success : undefined
}

export const linesOf = <Type extends AgentLine["type"]>(lines: ReadonlyArray<AgentLine>, type: Type) =>
  lines.filter((line): line is AgentLineOf<Type> => line.type === type)
