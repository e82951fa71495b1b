/**
 * Publishes an event, or a report, as an internal service or a runner would. An envelope comes from a file, from
 * standard input or from the example of its type, which a file's fields override; a missing head (version, name, time)
 * is filled in. It is checked before it is sent, and every fault is reported.
 */
import { Effect, Result } from "effect"
import { Publisher } from "#bus"
import { decodeEnvelope, didYouMean, eventSchemaVersion, exampleEnvelope, findEvent, subjects } from "#base"
import { type EventType, exampleEnvelopeOf, faultsOfContent } from "#events"
import { decodeReport, exampleReport, isReportKind, reportKinds } from "#pipeline/contract"
import { busOf } from "./connection.ts"
import { declaredTypes } from "./declared-types.ts"
import { noSuchEvent } from "./event-names.ts"
import { CommandRefused, misused, print, readJsonObject } from "./console.ts"

interface PublishOrder {
  readonly event: string
  readonly file: string | undefined
  readonly example: boolean
  readonly unchecked: boolean
  readonly count: number
  readonly nats: string | undefined
}

export const publish = Effect.fnUntraced(function* ({ event, file, example, unchecked, count, nats }: PublishOrder) {
  if (file === undefined && !example) return yield* misused("what to publish? name a --file, or use --example")
  const given = file === undefined ? {} : yield* readJsonObject(file)
  const types = findEvent(event) === undefined ? yield* declaredTypes(nats) : new Map<string, EventType>()
  const type = types.get(event)
  const made = example ? exampleOf(event, type) : {}
  if (made === undefined) return yield* new CommandRefused({ reason: noSuchEvent(event, [...types.keys()]) })
  const envelope: Fields = { ...heads(event, type), ...overlaid(made, given) }
  if (envelope["event"] !== event) {
    return yield* new CommandRefused({
      reason: `that envelope is of ${String(envelope["event"])}, nothing was sent as ${event}`
    })
  }
  if (!unchecked) yield* check(envelope, type, [...types.keys()])
  const data = new TextEncoder().encode(JSON.stringify(envelope))
  const send = Effect.gen(function* () {
    const publisher = yield* Publisher
    const one = publisher.publishRaw(subjects.event(event), data)
    const stored = yield* Effect.forEach(Array.from({ length: count }), () => one, { concurrency: 256 })
    yield* print(`published ${event}: stored as ${stored.map(({ sequence }) => sequence).slice(-1)} in EVENTS`)
  })
  yield* send.pipe(Effect.provide(busOf(nats)))
})

/** Undefined for a name that is not declared. */
const exampleOf = (event: string, type: EventType | undefined): Fields | undefined =>
  type === undefined ? exampleEnvelope(event) : exampleEnvelopeOf(type)

const heads = (event: string, type: EventType | undefined) => ({
  eventSchemaVersion: type?.schemaVersion ?? eventSchemaVersion,
  event,
  occurredAt: new Date().toISOString()
})

/** Refuses an envelope with a fault, by the schema of its type too, and one of a name that is not declared. */
const check = Effect.fnUntraced(function* (
  envelope: Fields,
  type: EventType | undefined,
  declared: ReadonlyArray<string>
) {
  const decoded = decodeEnvelope(envelope)
  const found = Result.match(decoded, {
    onFailure: (faults) => faults,
    onSuccess: (read) => (type === undefined ? [] : faultsOfContent(type, read.envelope))
  })
  if (found.length > 0) {
    const faults = found.map(({ path, message }) => `  ${path === "" ? "/" : path}: ${message}`)
    return yield* new CommandRefused({ reason: `the envelope is not good, nothing was sent:\n${faults.join("\n")}` })
  }
  const isKnown = type !== undefined || (Result.isSuccess(decoded) && decoded.success.known)
  if (isKnown) return
  return yield* new CommandRefused({
    reason: `${noSuchEvent(String(envelope["event"]), declared)}\nnothing was sent; --unchecked sends it all the same`
  })
})

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Objects are merged field by field; any other value replaces the one below. */
const overlaid = (below: Fields, above: Fields): Fields => ({
  ...below,
  ...Object.fromEntries(
    Object.entries(above).map(([key, value]) => {
      const under = below[key]
      return [key, isObject(under) && isObject(value) ? overlaid(under, value) : value]
    })
  )
})

/**
 * A report to publish: from a file, from standard input or from the schema's example; with both, the file's fields
 * override the example's. A missing part of the head (kind, id, time) is filled in.
 */
export interface ReportOrder {
  /** Without a kind, all existing kinds are listed. */
  readonly kind: string | undefined
  readonly file: string | undefined
  readonly example: boolean
  readonly unchecked: boolean
  readonly nats: string | undefined
  readonly count: number
}

export const publishReport = Effect.fnUntraced(function* (order: ReportOrder) {
  const { kind, unchecked, count, nats } = order
  if (kind === undefined || !isReportKind(kind)) {
    const known = Object.keys(reportKinds).map((name) => `  ${name}`)
    const slip = kind === undefined ? "" : `there is no report ${kind}${didYouMean(kind, Object.keys(reportKinds))}\n`
    return yield* misused(`${slip}publish report takes one kind, of:\n${known.join("\n")}`)
  }
  const given = yield* fieldsOf(kind, order)
  if ("kind" in given && given["kind"] !== kind) {
    return yield* new CommandRefused({
      reason: `that report is of ${String(given["kind"])}, nothing was sent as ${kind}`
    })
  }
  // With a given id the report is one report, however often it is sent; otherwise each is a new one.
  const report = (): Fields => ({ ...head(kind), ...given })
  const decoded = decodeReport(kind, report())
  if (Result.isFailure(decoded) && !unchecked) {
    const faults = decoded.failure.map(({ path, message }) => `  ${path === "" ? "/" : path}: ${message}`)
    return yield* new CommandRefused({ reason: `the report is not good, nothing was sent:\n${faults.join("\n")}` })
  }
  const sequence = yield* send(kind, report, count).pipe(Effect.provide(busOf(nats)))
  yield* print(`published report ${kind}: stored as ${sequence} in REPORTS`)
})

/** Returns the sequence of the last. */
const send = Effect.fnUntraced(function* (kind: string, make: () => Fields, count: number) {
  const publisher = yield* Publisher
  const one = Effect.suspend(() => {
    const report = make()
    const data = new TextEncoder().encode(JSON.stringify(report))
    return publisher.publishRaw(subjects.report(kind), data, { messageId: String(report["reportId"]) })
  })
  const stored = yield* Effect.forEach(Array.from({ length: count }), () => one, { concurrency: 256 })
  return stored.at(-1)?.sequence
})

const head = (kind: string): Fields => ({ kind, reportId: crypto.randomUUID(), atMs: Date.now() })

const fieldsOf = Effect.fnUntraced(function* (kind: string, { file, example }: ReportOrder) {
  if (file === undefined && !example) {
    return yield* misused("what to publish? name a --file, or use --example")
  }
  // The example's head is constant: sent twice, the report would count as a repetition.
  const { reportId: _id, atMs: _at, ...made } = (example ? exampleReport(kind) : undefined) ?? ({} as Fields)
  const read: Fields = file === undefined ? {} : yield* readJsonObject(file)
  return overlaid(made as Fields, read)
})
