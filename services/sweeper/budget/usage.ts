/**
 * What a record of LOG says was spent. A million of them are read when spending is counted anew: a record is parsed
 * only when its bytes speak of usage at all, and then without the state, which is most of it and comes last.
 */
import { Result, Schema } from "effect"
import { jsonCodec, type SourceMessage } from "#bus"
import { EpochMs, type Fault, workItemFacts } from "#contracts"

export interface Spent {
  readonly projectId: string
  readonly atMs: number
  readonly costMicroUsd: number
}

type Read = Result.Result<ReadonlyArray<Spent>, ReadonlyArray<Fault>>

const codec = jsonCodec(Schema.Struct({ atMs: EpochMs, facts: Schema.Array(Schema.Unknown) }))
const { projectId, costMicroUsd } = workItemFacts.UsageAdded.fields
const decodeUsage = Schema.decodeUnknownResult(Schema.Struct({ projectId, costMicroUsd }))

const itemSubjects = "log.workitem."
const mark = '"UsageAdded"'
// Quotes within texts are escaped, so this is a member's name wherever it stands.
const stateMark = ',"state":{'
const closing = Buffer.from("}")
const nothing: Read = Result.succeed([])

const isUsage = (fact: unknown) =>
  typeof fact === "object" && fact !== null && "_tag" in fact && fact._tag === "UsageAdded"

/** What is before the state, if that reads as a whole: cut anywhere but between two members of it, it would not. */
const headOf = (message: SourceMessage, bytes: Buffer) => {
  const end = bytes.indexOf(stateMark)
  if (end < 0) return codec.decode(message)
  const head = codec.decode({ data: Buffer.concat([bytes.subarray(0, end), closing]), header: message.header })
  return Result.isSuccess(head) ? head : codec.decode(message)
}

/** Fails for a record that speaks of usage and cannot be read. */
export const spentIn = (message: SourceMessage): Read => {
  if (!message.subject.startsWith(itemSubjects)) return nothing
  const { buffer, byteOffset, byteLength } = message.data
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  if (!bytes.includes(mark)) return nothing
  return Result.flatMap(headOf(message, bytes), ({ atMs, facts }) => {
    const spent: Array<Spent> = []
    for (const fact of facts.filter(isUsage)) {
      const usage = decodeUsage(fact)
      if (Result.isFailure(usage)) return Result.fail([{ path: "/facts", message: usage.failure.message }])
      spent.push({ projectId: usage.success.projectId, atMs, costMicroUsd: usage.success.costMicroUsd })
    }
    return Result.succeed(spent)
  })
}
