/**
 * The log of a work item beyond its state: its records in order, a suggestion with its rationale, the findings of its
 * last audit. It is read from the stream itself, in pages. No decision depends on it.
 */
import { Context, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { type BusError, jsonCodec, type SourceMessage, StreamReader } from "#bus"
import { decodeToken, EpochMs, isoTime, subjects } from "#base"
import { type ReportedFinding, workItemFacts } from "#pipeline/contract"
import type { HistoryRecord, SuggestionView } from "#pipeline/api"

type Finding = typeof ReportedFinding.Type

export class History extends Context.Service<
  History,
  {
    /** At most `limit` records after `afterSequence`. */
    readonly page: (
      workItemId: string,
      afterSequence: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<HistoryRecord>, BusError>
    readonly suggestion: (
      workItemId: string,
      suggestionId: string
    ) => Effect.Effect<Option.Option<Omit<SuggestionView, "workItemId" | "projectId">>, BusError>
    /** The findings of the last audit that ended; empty before the first. */
    readonly lastFindings: (workItemId: string) => Effect.Effect<ReadonlyArray<Finding>, BusError>
  }
>()("starling/pipeline-api/History") {
  static readonly layer = Layer.effect(
    History,
    Effect.gen(function* () {
      const reader = yield* StreamReader

      const recordsOf = (workItemId: string, afterSequence: number) =>
        Stream.unwrap(
          Effect.map(reader.bounds("LOG"), ({ lastSequence: toSequence }) => {
            const subject = subjects.log("workitem", workItemId)
            const range = { fromSequence: afterSequence + 1, toSequence, subject }
            return afterSequence >= toSequence ? Stream.empty : reader.range("LOG", range)
          })
        ).pipe(Stream.flatMap((message) => Stream.fromIterable(readable(message))))

      const page = Effect.fn("History.page")(function* (workItemId: string, afterSequence: number, limit: number) {
        const records = yield* Stream.runCollect(Stream.take(recordsOf(workItemId, afterSequence), limit))
        return records.map(recordView)
      })

      const suggestion = Effect.fn("History.suggestion")(function* (workItemId: string, suggestionId: string) {
        const made = recordsOf(workItemId, 0).pipe(
          Stream.flatMap(({ facts, atMs }) =>
            Stream.fromIterable(
              facts.flatMap((fact) => {
                const read = decodeSuggestion(fact)
                if (Result.isFailure(read) || read.success.id !== suggestionId) return []
                const { _tag, ...details } = read.success
                return [{ ...details, madeAt: isoTime(atMs) }]
              })
            )
          )
        )
        return yield* Stream.runHead(made)
      })

      const lastFindings = Effect.fn("History.lastFindings")(function* (workItemId: string) {
        const audits = recordsOf(workItemId, 0).pipe(
          Stream.flatMap(({ facts }) => Stream.fromIterable(facts.flatMap(findingsOf)))
        )
        return Option.getOrElse(yield* Stream.runLast(audits), () => [])
      })
      return History.of({ page, suggestion, lastFindings })
    })
  )
}

const decodeSuggestion = Schema.decodeUnknownResult(workItemFacts.SuggestionMade)
const decodeAudit = Schema.decodeUnknownResult(workItemFacts.AuditEnded)

const findingsOf = (fact: unknown): ReadonlyArray<ReadonlyArray<Finding>> => {
  const read = decodeAudit(fact)
  return Result.isSuccess(read) ? [read.success.findings] : []
}

// An unreadable record is in REJECTED already.
const readable = (message: SourceMessage): ReadonlyArray<ReadRecord> => {
  const record = readRecord(message)
  return record === undefined ? [] : [record]
}

const recordView = ({ sequence, atMs, facts, events }: ReadRecord): HistoryRecord => ({
  sequence,
  at: isoTime(atMs),
  facts: facts.map((fact) => {
    const { _tag, ...details } = fact as Record<string, unknown>
    return { fact: _tag, ...details }
  }),
  events
})

/** A record of LOG for readers that follow or show the log. */
export interface ReadRecord {
  readonly entity: string
  readonly id: string
  readonly sequence: number
  readonly atMs: number
  readonly facts: ReadonlyArray<unknown>
  readonly events: ReadonlyArray<string>
  readonly state: unknown
}

const Stored = Schema.Struct({
  atMs: EpochMs,
  facts: Schema.Array(Schema.Unknown),
  events: Schema.Array(Schema.Struct({ event: Schema.String })),
  state: Schema.Unknown
})
const codec = jsonCodec(Stored)

/** None for an unreadable record, and for notes that are not an entity's record. */
export const readRecord = (message: SourceMessage): ReadRecord | undefined => {
  const read = codec.decode(message)
  if (Result.isFailure(read)) return undefined
  const [, entity = "", token = ""] = message.subject.split(".")
  const { atMs, facts, events, state } = read.success
  return {
    entity,
    id: decodeToken(token),
    sequence: message.sequence,
    atMs,
    facts,
    events: events.map(({ event }) => event),
    state
  }
}
