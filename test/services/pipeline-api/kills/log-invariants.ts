/**
 * The invariants of the log, the events, the views and the numbers in them, however often their writers died: each
 * function checks one of these, and fails with the fault.
 */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { type ActorDefinition, type EntityProjection, entityProjection } from "#actors"
import { header, type SourceMessage } from "#bus"
import type { CommandEntity } from "#pipeline/contract"
import { decodeToken, subjects } from "#base"
import {
  agentProjection,
  definitions,
  projectProjection,
  queueProjection,
  releaseProjection,
  workItemProjection
} from "#pipeline"
import { followUpsOf } from "../../../../services/pipeline-api/follow-ups/follow-ups-of.ts"
import { readRecord } from "../../../../services/pipeline-api/History.ts"
import type { Told } from "./killed-life.ts"

type AnyDefinition = ActorDefinition<unknown, unknown, unknown>

interface StoredRecord {
  readonly commandId: string
  readonly atMs: number
  readonly facts: ReadonlyArray<unknown>
  readonly events: ReadonlyArray<unknown>
  readonly state: unknown
  readonly isRetired: boolean
}

export interface LogRecord extends StoredRecord {
  readonly entity: CommandEntity
  readonly id: string
  readonly message: SourceMessage
}

const utf8 = new TextDecoder()
const jsonOf = ({ data }: SourceMessage) => JSON.parse(utf8.decode(data)) as unknown

/** Without notes, which are no entity's. */
export const recordsOf = (log: ReadonlyArray<SourceMessage>): ReadonlyArray<LogRecord> =>
  log.flatMap((message) => {
    const [, entity = "", token = ""] = message.subject.split(".")
    if (!Object.hasOwn(definitions, entity)) return []
    const stored = jsonOf(message) as StoredRecord
    return [{ ...stored, entity: entity as CommandEntity, id: decodeToken(token), message }]
  })

const byEntity = (records: ReadonlyArray<LogRecord>) => Map.groupBy(records, ({ entity, id }) => `${entity} ${id}`)

/** Every record's state is the one before with its facts applied. */
export const assertReplays = (records: ReadonlyArray<LogRecord>) => {
  for (const [name, own] of byEntity(records)) {
    let state: unknown = null
    for (const { entity, id, facts, commandId, atMs, state: stored } of own) {
      // An entity and its definition are of one kind; the compiler cannot know that of one looked up.
      const { evolve } = definitions[entity] as unknown as AnyDefinition
      const context = { id, commandId, atMs }
      state = facts.reduce<unknown>((inner, fact) => evolve(inner, fact, context), state)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(state)), stored, `${name}, by ${commandId}`)
    }
  }
}

/** No command is carried out twice, and each command reported as carried out has its record. */
export const assertOnce = (records: ReadonlyArray<LogRecord>, told: ReadonlyArray<Told>) => {
  for (const [name, own] of byEntity(records)) {
    const ids = own.map(({ commandId }) => commandId)
    assert.strictEqual(new Set(ids).size, ids.length, `a command was carried out twice for ${name}`)
  }
  for (const { given, sequence, was } of told) {
    if (was === "unchanged") continue
    const record = records.find(({ entity, id, commandId }) => {
      return entity === given.entity && id === given.id && commandId === given.commandId
    })
    assert.isDefined(record, `${given.entity} ${given.id} was told that ${given.commandId} was carried out`)
    assert.isAtLeast(sequence, record?.message.sequence ?? 0)
  }
}

/** EVENTS holds the records' events, each once, in the order of the log, and otherwise only reported ones. */
export const assertTold = (
  records: ReadonlyArray<LogRecord>,
  events: ReadonlyArray<SourceMessage>,
  reports: ReadonlyArray<string>
) => {
  const idOf = (message: SourceMessage) => message.header(header.messageId) ?? "none"
  const told = events.filter(({ subject }) => subject !== subjects.eventsCursor)
  const ofLog = told.filter((message) => idOf(message).startsWith("log."))
  const announced = records.flatMap(({ message, events }) =>
    events.map((event, index) => ({ id: `log.${message.sequence}.${index}`, event }))
  )
  assert.deepStrictEqual(
    ofLog.map((message) => withoutSecret(idOf(message))),
    announced.map(({ id }) => id)
  )
  assert.deepStrictEqual(
    ofLog.map(jsonOf),
    announced.map(({ event }) => event)
  )
  const others = told.filter((message) => !idOf(message).startsWith("log.")).map(idOf)
  assert.strictEqual(new Set(others).size, others.length)
  for (const id of others)
    assert.include(reports, withoutSecret(id).replace("report.", ""), "an event that nothing stands for")
}

/** An id ends with what nobody can guess. */
const withoutSecret = (id: string) => id.slice(0, id.lastIndexOf("."))

const projections = new Map<string, EntityProjection>(
  [
    entityProjection(workItemProjection),
    entityProjection(releaseProjection),
    entityProjection(projectProjection),
    entityProjection(agentProjection),
    entityProjection(queueProjection)
  ].map((projection) => [projection.entity, projection])
)

/** `bucket`: the stored views. Every entity has a row of its last record, and there are no others. */
export const assertShown = (records: ReadonlyArray<LogRecord>, bucket: ReadonlyArray<SourceMessage>) => {
  const rows = bucket.filter(({ data, subject }) => data.length > 0 && subject !== "$KV.views.cursor").map(jsonOf)
  const wanted = [...byEntity(records).values()].flatMap((own) => {
    const last = own.at(-1)
    const projection = projections.get(last?.entity ?? "")
    if (last === undefined || projection === undefined || last.isRetired) return []
    const { entity, id, message } = last
    const shown = Result.getOrThrow(projection.show(last.state, id))
    return shown === undefined ? [] : [{ entity, id, sequence: message.sequence, ...shown }]
  })
  const sorted = (all: ReadonlyArray<unknown>) =>
    all.map((row) => JSON.stringify(row, (_, value: unknown) => ordered(value))).toSorted()
  assert.deepStrictEqual(sorted(rows), sorted(wanted))
}

const ordered = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)))
    : value

const counts: Partial<Record<CommandEntity, ReadonlyArray<string>>> = {
  workitem: [
    "run",
    "upstreamPushAttempts",
    "conflictReworks",
    "recoveryAttempts",
    "quotaRetries",
    "transientRetries",
    "terminalFailures",
    "suggestions",
    "recheckedIteration",
    "updatedAtMs"
  ],
  release: ["updatedAtMs"],
  project: ["updatedAtMs"],
  agent: ["updatedAtMs", "sweptRestoreAtMs"],
  queue: ["updatedAtMs"]
}
type Numbers = Readonly<Record<string, number | null>>

/** Within an entity's log, and in the successive answers to its callers. */
export const assertForward = (records: ReadonlyArray<LogRecord>, told: ReadonlyArray<Told>) => {
  for (const [name, own] of byEntity(records)) {
    for (const [index, { entity, state: after }] of own.entries()) {
      const before = own[index - 1]?.state as Numbers | null | undefined
      const now = after as Numbers
      if (before == null) continue
      for (const count of counts[entity] ?? [])
        assert.isAtLeast(now[count] ?? 0, before[count] ?? 0, `${name} ${count}`)
      if (entity === "workitem") assertItemForward(name, before, now)
    }
  }
  for (const [name, own] of Map.groupBy(told, ({ given }) => `${given.entity} ${given.id}`)) {
    let last = 0
    for (const { sequence, was, given } of own) {
      // A repeated command gets the present state; one that waited for an answer may be overtaken.
      if (was === "decided") assert.notStrictEqual(sequence, last, `${name} ${given.commandId}`)
      last = Math.max(last, sequence)
    }
  }
}

const assertItemForward = (name: string, before: Numbers, now: Numbers) => {
  if (now["run"] === before["run"]) {
    assert.isAtLeast(now["auditedIterations"] ?? 0, before["auditedIterations"] ?? 0, name)
  }
  const totals = (of: Numbers) => (of["usageTotal"] ?? {}) as Numbers
  for (const [unit, amount] of Object.entries(totals(before))) {
    assert.isAtLeast(totals(now)[unit] ?? 0, amount ?? 0, `${name} usageTotal.${unit}`)
  }
}

/** The follow-ups of records are done: repeated, they leave nothing to decide. */
export const assertFollowed = (records: ReadonlyArray<LogRecord>, openReleaseId: string) => {
  const states = new Map(records.map(({ entity, id, state }) => [`${entity} ${id}`, state]))
  const lastFor = new Map<string, { readonly entity: CommandEntity; readonly id: string; readonly command: unknown }>()
  const isRelease = ({ entity, id }: LogRecord) => entity === "release" && id === openReleaseId
  // A command that named the release before its creation found none.
  const releaseSequence = records.find(isRelease)?.message.sequence ?? Infinity
  for (const { message } of records) {
    const record = readRecord(message)
    if (record === undefined) continue
    for (const followUp of Result.getOrThrow(followUpsOf(record))) {
      if (followUp._tag !== "Command") continue
      const { entity, id } = followUp
      if (entity === "workitem") assert.isTrue(states.has(`workitem ${id}`), `the item ${id} that was asked for`)
      if (entity !== "release" || id !== openReleaseId || record.sequence < releaseSequence) continue
      lastFor.set(record.id, { entity, id, command: followUp.command })
    }
  }
  for (const [itemId, { entity, id, command }] of lastFor) {
    const context = { id, commandId: "again", atMs: 0 }
    const { decide } = definitions[entity] as unknown as AnyDefinition
    const facts = Result.getOrThrow(decide(states.get(`${entity} ${id}`), command, context))
    assert.deepStrictEqual(facts, [], `what follows from ${itemId} for its release`)
  }
}
