/**
 * What a record of LOG says was spent. A million of them are read when spending is counted anew, so a record is only
 * parsed when its bytes speak of usage at all.
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
const nothing: Read = Result.succeed([])

const isUsage = (fact: unknown) =>
  typeof fact === "object" && fact !== null && "_tag" in fact && fact._tag === "UsageAdded"

/** Fails for a record that speaks of usage and cannot be read. */
export const spentIn = (message: SourceMessage): Read => {
  if (!message.subject.startsWith(itemSubjects)) return nothing
  const { buffer, byteOffset, byteLength } = message.data
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(mark)) return nothing
  return Result.flatMap(codec.decode(message), ({ atMs, facts }) => {
    const spent: Array<Spent> = []
    for (const fact of facts.filter(isUsage)) {
      const usage = decodeUsage(fact)
      if (Result.isFailure(usage)) return Result.fail([{ path: "/facts", message: usage.failure.message }])
      spent.push({ projectId: usage.success.projectId, atMs, costMicroUsd: usage.success.costMicroUsd })
    }
    return Result.succeed(spent)
  })
}
