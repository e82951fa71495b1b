/**
 * The plan of the deliveries that follow from a run of events. Pure. It goes through the events in order, and for each
 * through the endpoints in order of their ids. A step closes when it is full, even between two endpoints of one event,
 * and its cursor records exactly how far it came. An endpoint is parked at the first event that it wants but must not
 * have.
 */
import { Option, Result, Schema } from "effect"
import { type BatchMessage, header, jsonTextDecoder, type RelayStep } from "#bus"
import { Delivery, type DeliveryFormat } from "#webhooks/contract"
import { type EventFilter, orderedPartition, subjects } from "#base"
import {
  deliveryHeader,
  deliveryHeaders,
  type FanOutCursor,
  hasNextEvent,
  join,
  type OrderKey,
  park,
  type StoredEvent
} from "#webhooks"

/** An endpoint as the fan-out uses it. */
export interface FanOutTarget {
  readonly id: string
  readonly partition: number
  readonly wants: EventFilter
  /** Whether the content of an event fits; absent without a filter on it. */
  readonly fits?: ((envelope: unknown) => boolean) | undefined
  /** Of an ordered endpoint. */
  readonly orderKey?: OrderKey | undefined
  /** Without one, or for `starling`, no trace goes along. */
  readonly format?: DeliveryFormat
}

export type FanOutStep = RelayStep<FanOutCursor>

// Batches of 256 have the best throughput; the limit in bytes keeps the broker's work per batch short.
const stepMessagesMax = 256
const stepBytesMax = 4 * 1_024 * 1_024

export interface FanOutRun {
  readonly events: ReadonlyArray<StoredEvent>
  /** Covers events that broke their schema: they get no delivery, but are passed. */
  readonly lastSequence: number
  /** Sorted by id; the same array until an endpoint changes. */
  readonly targets: ReadonlyArray<FanOutTarget>
  /** The lane whose stream the deliveries go to; the first if absent. */
  readonly lane?: number
  readonly isParked: (endpointId: string) => boolean
  readonly newDeliveryId: () => string
}

/** The steps that give a run of events to every endpoint in step. */
export const planRun = (run: FanOutRun, start: FanOutCursor): ReadonlyArray<FanOutStep> => {
  const { events, lastSequence, targets, lane = 0, isParked, newDeliveryId } = run
  const steps: Array<FanOutStep> = []
  let step = emptyStep()
  let cursor = start
  const close = () => {
    steps.push(closed(step, cursor))
    step = emptyStep()
  }
  for (const event of events) {
    if (event.sequence <= cursor.position) continue
    cursor = join(advance(cursor, event.sequence - 1), isParked)
    if (isOwn(event) && event.sequence <= (cursor.ahead ?? 0)) continue
    for (const target of wanting(targets, event)) {
      if (!fits(target, event)) continue
      if (cursor.next[target.id] !== undefined || hasNextEvent(cursor, target.id)) continue
      if (isParked(target.id)) {
        cursor = park(cursor, target.id)
        continue
      }
      add(step, event, { target, lane, deliveryId: newDeliveryId() })
      step.bytes += event.body.length
      if (!isFull(step)) continue
      cursor = { ...cursor, through: target.id }
      close()
    }
    cursor = advance(cursor, event.sequence)
    if (step.messages.length >= stepMessagesMax / 2) close()
  }
  cursor = join(advance(cursor, lastSequence), isParked)
  if (step.messages.length > 0 || cursor !== start) close()
  return steps
}

/**
 * Whether a flood holds up other events: most of a run of the maximum length came from outside the fleet. `publishers`:
 * of each event of the run, undefined for the fleet.
 */
export const isFlood = (publishers: ReadonlyArray<string | undefined>, runMax: number): boolean =>
  publishers.filter((from) => from !== undefined).length > runMax / 2

export interface FanOutAhead extends Pick<FanOutRun, "targets" | "lane" | "isParked" | "newDeliveryId"> {
  /** The fleet's own events that follow what the cursor has given ahead. */
  readonly events: ReadonlyArray<StoredEvent>
}

/**
 * The step that gives the fleet's own events to the endpoints in step, ahead of a flood. It ends before an event that
 * does not fit completely: one with very many takers waits for its turn. Ordered endpoints fall out of step instead, and
 * catch up in order.
 */
export const planAhead = ({ events, targets, lane = 0, isParked, newDeliveryId }: FanOutAhead, start: FanOutCursor) => {
  const step = emptyStep()
  const ordered = targets.filter(({ orderKey }) => orderKey !== undefined)
  let cursor = start
  for (const event of events) {
    const takers = wanting(targets, event).filter((target) => fits(target, event))
    step.bytes += takers.length * event.body.length
    if (step.messages.length + takers.length > stepMessagesMax || step.bytes > stepBytesMax) break
    if (cursor === start) cursor = ordered.reduce((parked, { id }) => park(parked, id), start)
    for (const target of takers) {
      if (cursor.next[target.id] !== undefined) continue
      if (isParked(target.id)) cursor = park(cursor, target.id)
      else add(step, event, { target, lane, deliveryId: newDeliveryId() })
    }
    cursor = { ...cursor, ahead: event.sequence }
  }
  return closed(step, cursor)
}

export interface FanOutPage {
  readonly events: ReadonlyArray<StoredEvent>
  /** The sequence up to which the event log was read. */
  readonly lastSequence: number
  readonly target: FanOutTarget
  readonly lane?: number
  readonly newDeliveryId: () => string
}

/** The step that gives one endpoint out of step the events it missed. */
export const planCatchUp = (page: FanOutPage, cursor: FanOutCursor): FanOutStep => {
  const { events, lastSequence, target, lane = 0, newDeliveryId } = page
  const from = cursor.next[target.id] ?? 0
  const had = cursor.had?.[target.id] ?? 0
  const step = emptyStep()
  let next = lastSequence + 1
  for (const event of events) {
    if (event.sequence < from || event.sequence > lastSequence || !target.wants(event.event, event.isOptIn)) continue
    if ((isOwn(event) && event.sequence <= had) || !fits(target, event)) continue
    if (isFull(step)) {
      next = event.sequence
      break
    }
    add(step, event, { target, lane, deliveryId: newDeliveryId() })
    step.bytes += event.body.length
  }
  const moved = { ...cursor, next: { ...cursor.next, [target.id]: next } }
  return closed(
    step,
    join(moved, (id) => id !== target.id)
  )
}

interface OpenStep {
  readonly messages: Array<BatchMessage>
  bytes: number
  /** Endpoints with a delivery in order. */
  ordered: Set<string> | undefined
  isInOrder: boolean
}

const emptyStep = (): OpenStep => ({ messages: [], bytes: 0, ordered: undefined, isInOrder: false })

const closed = ({ messages, isInOrder }: OpenStep, cursor: FanOutCursor): FanOutStep =>
  isInOrder ? { messages, cursor, isInOrder } : { messages, cursor }

const add = (step: OpenStep, event: StoredEvent, to: ToEndpoint) => {
  const key = to.target.orderKey?.(event)
  step.messages.push(dueMessage(event, to, key))
  if (key === undefined) return
  step.ordered ??= new Set()
  step.isInOrder ||= step.ordered.has(to.target.id)
  step.ordered.add(to.target.id)
}

const isFull = (step: OpenStep) => step.messages.length >= stepMessagesMax || step.bytes >= stepBytesMax

export const advance = (cursor: FanOutCursor, position: number): FanOutCursor => {
  if (position <= cursor.position) return cursor
  if (cursor.ahead === undefined || cursor.ahead > position) return { ...cursor, position, through: null }
  const { ahead: _, ...passed } = cursor
  return { ...passed, position, through: null }
}

const isOwn = ({ from }: StoredEvent) => from === undefined

// The catalogue's names fit several times over; other published names must not fill the memory.
const namesMax = 512

/**
 * What each set of targets wants, by event name alone: with ten thousand endpoints, asking each for each event is expensive.
 */
const wanted = new WeakMap<ReadonlyArray<FanOutTarget>, Map<string, ReadonlyArray<FanOutTarget>>>()

export const wanting = (targets: ReadonlyArray<FanOutTarget>, { event, isOptIn }: NamedEvent) => {
  let byName = wanted.get(targets)
  if (byName === undefined) wanted.set(targets, (byName = new Map()))
  const key = isOptIn === undefined ? event : `${event} ${isOptIn}`
  const known = byName.get(key)
  if (known !== undefined) return known
  const found = targets.filter(({ wants }) => wants(event, isOptIn))
  if (byName.size < namesMax) byName.set(key, found)
  return found
}

const fits = (target: FanOutTarget, { envelope }: StoredEvent) => target.fits === undefined || target.fits(envelope)
interface NamedEvent {
  readonly event: string
  readonly isOptIn?: boolean
}

interface ToEndpoint {
  readonly target: FanOutTarget
  readonly lane: number
  readonly deliveryId: string
}

/** The event of a due delivery; null if its header cannot be read. */
export const sequenceOf = ({ headers }: Pick<BatchMessage, "headers">): number | null => {
  const [, text] = headers.find(([name]) => name === deliveryHeader) ?? []
  const read = text === undefined ? undefined : Option.getOrUndefined(Result.getSuccess(readDelivery(text)))
  return read?.sequence ?? null
}

const readDelivery = jsonTextDecoder(Schema.Struct({ sequence: Delivery.fields.sequence }))

const dueMessage = (
  event: StoredEvent,
  { target, lane, deliveryId }: ToEndpoint,
  key: string | undefined
): BatchMessage => {
  const delivery: Delivery = {
    deliveryId,
    endpointId: target.id,
    event: event.event,
    schemaVersion: event.schemaVersion,
    sequence: event.sequence,
    attempt: 1,
    storedAt: Math.round(event.storedAtMs),
    dueAt: Math.round(event.storedAtMs),
    ...(event.entity === undefined ? {} : { entity: event.entity }),
    ...(key === undefined ? {} : { key }),
    ...(event.traceparent === undefined || (target.format ?? "starling") === "starling"
      ? {}
      : { traceparent: event.traceparent })
  }
  return {
    subject: subjects.deliveries(lane).due(key === undefined ? target.partition : orderedPartition, target.id),
    data: event.body,
    headers: [...deliveryHeaders(delivery), [header.messageId, `${deliveryId}:1`]]
  }
}
