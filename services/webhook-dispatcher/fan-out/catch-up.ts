/**
 * Endpoints that are behind, because they were parked or are new, catch up between the runs of a lane: a few per turn,
 * each by a page of history, so that they barely delay the others.
 */
import { Clock, Effect, Stream } from "effect"
import { StreamReader } from "#bus"
import { Configuration } from "#configuration"
import { EventTypes } from "#events"
import { Metrics } from "#runtime"
import type { FanOutCursor } from "#webhooks"
import { Endpoints } from "../endpoints/Endpoints.ts"
import type { EndpointSettings } from "../endpoints/settings.ts"
import { parkedExpired } from "../metrics.ts"
import { eventsOf } from "./events.ts"
import { type FanOutStep, planCatchUp } from "./plan.ts"

// One page of history per endpoint and turn, and a few endpoints per turn: live events wait at most for these.
const catchUpsPerTurn = 4
const catchUpPageMessages = 256
const dayMs = 86_400_000

/** The steps of one turn. `messagesMax`: the most events that a step can cover. */
export const catchUpsOf = Effect.fnUntraced(function* (lane: number, isParked: (endpointId: string) => boolean) {
  const endpoints = yield* Endpoints
  const types = yield* EventTypes
  const reader = yield* StreamReader
  const expired = (yield* Metrics).counter(parkedExpired)
  const parkedMaxMs = (yield* Configuration).WebhookDelivery.ParkedMaxDays * dayMs

  const catchUp = Effect.fnUntraced(function* (cursor: FanOutCursor, target: EndpointSettings, messagesMax: number) {
    const from = cursor.next[target.id] ?? cursor.position + 1
    const { firstSequence } = yield* reader.bounds("EVENTS")
    if (from < firstSequence) {
      expired.inc({ endpoint: target.name }, firstSequence - from)
      yield* Effect.logError("a parked endpoint missed events that are no longer stored").pipe(
        Effect.annotateLogs({ endpoint: target.name, events: firstSequence - from })
      )
    }
    const range = reader.range("EVENTS", { fromSequence: from, toSequence: cursor.position })
    const pageMessages = Math.min(catchUpPageMessages, messagesMax)
    const page = yield* Stream.runCollect(Stream.take(range, pageMessages))
    const tooOldMs = (yield* Clock.currentTimeMillis) - parkedMaxMs
    const given = page.filter((message) => message.storedAtMs >= tooOldMs)
    expired.inc({ endpoint: target.name }, page.length - given.length)
    const events = eventsOf(given, types)
    const isLastPage = page.length < pageMessages
    const lastSequence = isLastPage ? cursor.position : (page.at(-1)?.sequence ?? cursor.position)
    return planCatchUp({ events, lastSequence, target, lane, newDeliveryId: () => crypto.randomUUID() }, cursor)
  })

  let turn = 0
  return Effect.fnUntraced(function* (cursor: FanOutCursor, messagesMax: number) {
    const isBehind = (id: string) => (cursor.next[id] ?? 0) <= cursor.position && !isParked(id)
    const behind = Object.keys(cursor.next).filter(isBehind)
    // They take turns.
    const start = behind.length === 0 ? 0 : turn++ % behind.length
    const steps: Array<FanOutStep> = []
    for (const id of [...behind.slice(start), ...behind.slice(0, start)].slice(0, catchUpsPerTurn)) {
      const target = endpoints.byId(id)
      if (target !== undefined) steps.push(yield* catchUp(steps.at(-1)?.cursor ?? cursor, target, messagesMax))
    }
    return steps
  })
})
