/** The stored log of work items, replayed, and compared with the published events. */
import { assert } from "@effect/vitest"
import { replay } from "#actors"
import { decodeToken } from "#base"
import type { WorkItemFact, WorkItemState } from "#pipeline/contract"
import { workItem } from "#pipeline"
import type { Json } from "./pipeline-api.ts"
import type { PipelineBus } from "./pipeline-bus.ts"
import { until } from "../../dev/fixtures/eventually.ts"

interface StoredRecord {
  readonly commandId: string
  readonly atMs: number
  readonly facts: ReadonlyArray<WorkItemFact>
  readonly events: ReadonlyArray<{ readonly event: string }>
  readonly state: WorkItemState
}

export interface ItemLog {
  readonly id: string
  readonly records: ReadonlyArray<StoredRecord>
  /** The state after the last record. */
  readonly state: WorkItemState
}

export const readItemLogs = async (bus: PipelineBus): Promise<ReadonlyArray<ItemLog>> => {
  const byId = new Map<string, Array<StoredRecord>>()
  for (const { subject, value } of await bus.read("LOG", "log.workitem.*")) {
    const id = decodeToken(subject.replace("log.workitem.", ""))
    const records = byId.get(id) ?? []
    records.push(value as unknown as StoredRecord)
    byId.set(id, records)
  }
  return [...byId].map(([id, records]) => ({ id, records, state: lastOf(records).state }))
}

const lastOf = (records: ReadonlyArray<StoredRecord>) => {
  const last = records.at(-1)
  if (last === undefined) throw new Error("an item without a record")
  return last
}

/** The facts of the log come to the state that its last record carries. */
export const assertReplays = ({ id, records, state }: ItemLog) => {
  const steps = records.map(({ facts, commandId, atMs }) => ({ facts, context: { id, commandId, atMs } }))
  assert.deepStrictEqual(replay(workItem, steps), state, `the log of ${id}`)
}

// Of no entity: a report of it is published directly.
const ownerless = (event: Json) =>
  String(event["event"]).startsWith("sandbox.leak_") ||
  (event["workItem"] === null && ["disk.deferred", "sandbox.provisioning_deferred"].includes(String(event["event"])))

/**
 * EVENTS holds the events of LOG's records, each once and in order, and no other event of an entity. Events during the
 * check are ignored.
 */
export const assertAllTold = async (bus: PipelineBus) => {
  const recorded = await recordedEvents(bus)
  const read = async () =>
    (await bus.read("EVENTS", "events.>")).map(({ value }) => value).filter((event) => !ownerless(event))
  let published = await read()
  await until(async () => (published = await read()).length >= recorded.length)
  assert.deepStrictEqual(published, (await recordedEvents(bus)).slice(0, published.length))
}

const recordedEvents = async (bus: PipelineBus) =>
  (await bus.read("LOG", "log.>")).flatMap(({ value }) => value["events"] as ReadonlyArray<Json>)
