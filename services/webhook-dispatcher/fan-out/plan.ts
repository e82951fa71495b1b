/**
 * The plan of the deliveries that follow from a run of events. Pure. It goes through the events in order, and for each
 * through the endpoints in order of their ids. A step closes when it is full, also between two endpoints of one event,
 * and its cursor says exactly how far it came. An endpoint is parked at the first event that it wants and may not have.
 */
import { type BatchMessage, header, type RelayStep } from "#bus"
import { type Delivery, subjects } from "#contracts"
import { deliveryHeaders, type FanOutCursor, hasNextEvent, join, park } from "#webhooks"

/** An event that passed its schema. Times in epoch milliseconds. */
export interface FanOutEvent {
  readonly sequence: number
  readonly storedAtMs: number
  readonly event: string
  readonly schemaVersion: string
  readonly entity: string | undefined
  readonly body: Uint8Array
}

/** An endpoint as the fan-out sees it. */
export interface FanOutTarget {
  readonly id: string
  readonly partition: number
  readonly wants: (event: string) => boolean
}

export type FanOutStep = RelayStep<FanOutCursor>

// Batches of 256 carry the most messages a second; the limit in bytes keeps the broker's work per batch short.
const stepMessagesMax = 256
const stepBytesMax = 4 * 1_024 * 1_024

export interface FanOutRun {
  readonly events: ReadonlyArray<FanOutEvent>
  /** Covers events that broke their schema: they get no delivery, but are passed. */
  readonly lastSequence: number
  /** Sorted by id; the same array until an endpoint changes. */
  readonly targets: ReadonlyArray<FanOutTarget>
  /** Whose stream the deliveries go to; the first where absent. */
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
    steps.push({ messages: step.messages, cursor })
    step = emptyStep()
  }
  for (const event of events) {
    if (event.sequence <= cursor.position) continue
    cursor = join(advance(cursor, event.sequence - 1), isParked)
    for (const target of wanting(targets, event.event)) {
      if (cursor.next[target.id] !== undefined || hasNextEvent(cursor, target.id)) continue
      if (isParked(target.id)) {
        cursor = park(cursor, target.id)
        continue
      }
      step.messages.push(dueMessage(event, { target, lane, deliveryId: newDeliveryId() }))
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

export interface FanOutPage {
  readonly events: ReadonlyArray<FanOutEvent>
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
  const step = emptyStep()
  let next = lastSequence + 1
  for (const event of events) {
    if (event.sequence < from || event.sequence > lastSequence || !target.wants(event.event)) continue
    if (isFull(step)) {
      next = event.sequence
      break
    }
    step.messages.push(dueMessage(event, { target, lane, deliveryId: newDeliveryId() }))
    step.bytes += event.body.length
  }
  const moved = { ...cursor, next: { ...cursor.next, [target.id]: next } }
  return { messages: step.messages, cursor: join(moved, (id) => id !== target.id) }
}

interface OpenStep {
  readonly messages: Array<BatchMessage>
  bytes: number
}

const emptyStep = (): OpenStep => ({ messages: [], bytes: 0 })
const isFull = (step: OpenStep) => step.messages.length >= stepMessagesMax || step.bytes >= stepBytesMax

export const advance = (cursor: FanOutCursor, position: number): FanOutCursor =>
  position <= cursor.position ? cursor : { ...cursor, position, through: null }

// The catalogue's names fit several times; what else is published must not fill the memory.
const namesMax = 512

/** What each set of targets wants, by the event's name: with ten thousand endpoints, asking each for each event is dear. */
const wanted = new WeakMap<ReadonlyArray<FanOutTarget>, Map<string, ReadonlyArray<FanOutTarget>>>()

export const wanting = (targets: ReadonlyArray<FanOutTarget>, event: string) => {
  let byName = wanted.get(targets)
  if (byName === undefined) wanted.set(targets, (byName = new Map()))
  const known = byName.get(event)
  if (known !== undefined) return known
  const found = targets.filter(({ wants }) => wants(event))
  if (byName.size < namesMax) byName.set(event, found)
  return found
}

interface ToEndpoint {
  readonly target: FanOutTarget
  readonly lane: number
  readonly deliveryId: string
}

const dueMessage = (event: FanOutEvent, { target, lane, deliveryId }: ToEndpoint): BatchMessage => {
  const delivery: Delivery = {
    deliveryId,
    endpointId: target.id,
    event: event.event,
    schemaVersion: event.schemaVersion,
    sequence: event.sequence,
    attempt: 1,
    storedAt: Math.round(event.storedAtMs),
    dueAt: Math.round(event.storedAtMs),
    ...(event.entity === undefined ? {} : { entity: event.entity })
  }
  return {
    subject: subjects.deliveries(lane).due(target.partition, target.id),
    data: event.body,
    headers: [...deliveryHeaders(delivery), [header.messageId, `${deliveryId}:1`]]
  }
}
