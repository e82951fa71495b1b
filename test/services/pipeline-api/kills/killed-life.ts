/**
 * A whole process of pipeline-api that dies repeatedly while callers and services go on sending. Each process has its
 * own line to the broker, and is dead to the broker when that is cut. A caller without an answer repeats the command,
 * or loses interest. Leases and unacked reports of the dead count as expired, as they are after seconds.
 */
import { Clock, Effect, Exit, Layer, Option, References, Scope, Stream } from "effect"
import { eventRelayPlace } from "#actors"
import { BusUnavailable, header, Nats, type Publisher, type Requests, StreamReader } from "#bus"
import { subjects } from "#base"
import { type Cut, type CutProxy, startCutProxy } from "../../../support/cut-proxy.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"
import { commandOver, type Json, pipelineOn, publishReport } from "../../../support/pipeline.ts"
import type { Dice } from "../../../support/random-ssml.ts"
import { type Given, type Input, placeOf, randomInput } from "./random-inputs.ts"

/** A caller's answer. */
export interface Told {
  readonly given: Given
  readonly sequence: number
  readonly was: string
}

export interface KilledLife {
  /** A new process whose line is to be cut there; without a cut it lives on. */
  readonly start: (cut?: Cut) => Effect.Effect<void>
  /** Sends some inputs at once, and all those again that got no answer. False when the process has died meanwhile. */
  readonly send: Effect.Effect<boolean, never, Publisher | Requests>
  readonly isDead: () => boolean
  /** Answers of commands that were carried out, in the order in which they came. */
  readonly told: ReadonlyArray<Told>
  readonly reports: ReadonlyArray<string>
  /** The sent inputs, for debugging a failure. */
  readonly inputs: ReadonlyArray<Input>
}

const atOnceMax = 4
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

/** Begins a process of the role on that address of the broker; answers with its end. */
export type Begin = (url: string) => {
  readonly begun: Effect.Effect<unknown>
  readonly end: Effect.Effect<unknown>
}

/** In this very process, on a line of its own. Nothing that a dead one still does reaches the broker. */
export const insideHere =
  (server: TestNatsServer): Begin =>
  (url) => {
    const scope = Scope.makeUnsafe()
    const role = pipelineOn({ ...server, url }).pipe(Layer.provideMerge(quiet))
    return {
      begun: Effect.orDie(Layer.buildWithScope(role, scope)),
      // Not waited for: without its line it takes seconds.
      end: Effect.forkDetach(Scope.close(scope, Exit.void))
    }
  }

export const killedLife = Effect.fnUntraced(function* (server: TestNatsServer, dice: Dice, begin: Begin) {
  const reader = yield* StreamReader
  const nats = yield* Nats
  const told: Array<Told> = []
  const reports: Array<string> = []
  const inputs: Array<Input> = []
  let again: Array<Given> = []
  let line: CutProxy | undefined
  let end: Effect.Effect<unknown> = Effect.void

  const forget = (operation: string, what: Parameters<typeof nats.use>[1]) => Effect.ignore(nats.use(operation, what))
  // The effect of three seconds and half a minute on leases and on unacked reports.
  const timePasses = Effect.andThen(
    forget("end leases", ({ manager }) => manager.streams.purge("KV_leases")),
    forget("hand back reports", ({ manager }) => manager.consumers.delete("REPORTS", "pipeline-api"))
  )
  const isDead = () => line?.isCut() !== false
  const dead = Effect.suspend(() => Effect.promise(() => line?.whenCut ?? Promise.resolve()))

  const start = Effect.fnUntraced(function* (cut?: Cut) {
    line?.cutNow()
    yield* end
    yield* timePasses
    const proxy = yield* Effect.promise(() => startCutProxy(server.port))
    line = proxy
    if (cut !== undefined) proxy.arm(cut)
    const process = begin(proxy.url)
    end = process.end
    yield* Effect.raceFirst(Effect.asVoid(process.begun), dead)
  })
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      line?.cutNow()
      return end
    })
  )

  const stateOf = Effect.fnUntraced(function* (entity: string, id: string) {
    const last = yield* reader.last("LOG", subjects.log(entity, id))
    if (Option.isNone(last)) return null
    const { state, isRetired } = JSON.parse(new TextDecoder().decode(last.value.data)) as Json
    return isRetired === true ? undefined : state
  })

  const give = (given: Given) =>
    Effect.raceFirst(
      commandOver(given.entity, given.id, given.command, given.commandId),
      Effect.andThen(dead, new BusUnavailable({ operation: "ask", detail: "it is dead" }))
    ).pipe(
      Effect.map((answer) => {
        if (answer._tag === "Invalid") throw new Error(`${JSON.stringify(given)}: ${JSON.stringify(answer.faults)}`)
        if (answer._tag === "Accepted") told.push({ given, sequence: answer.sequence, was: answer.was })
        if (answer._tag === "Busy") again.push(given)
      }),
      Effect.catch(() => Effect.sync(() => void again.push(given)))
    )

  const send = Effect.gen(function* () {
    if (isDead()) return false
    const repeated = again.filter(() => dice.below(4) > 0)
    again = []
    const fresh: Array<Input> = []
    for (let count = 1 + dice.below(atOnceMax); count > 0; count--) {
      const number = inputs.length + fresh.length
      const place = placeOf(dice, number)
      const state = yield* Effect.orDie(stateOf(place.entity, place.id))
      if (state === undefined) continue
      fresh.push(randomInput(dice, place, state, number, yield* Clock.currentTimeMillis))
    }
    inputs.push(...fresh)
    const carryOut = (input: Input): Effect.Effect<void, never, Publisher | Requests> => {
      if (input._tag === "Command") return give(input)
      reports.push(String(input.report["reportId"]))
      return Effect.asVoid(Effect.orDie(publishReport(input.report)))
    }
    yield* Effect.forEach([...repeated, ...fresh], carryOut, { concurrency: "unbounded", discard: true })
    return !isDead()
  })

  const life: KilledLife = { start, send, isDead, told, reports, inputs }
  return life
})

/**
 * Whether all follow-ups of LOG are done, and no work is left. LOG is read last: it has the results of a report or a
 * follow-up before that is reported done.
 */
export const isSettled = Effect.gen(function* () {
  const reader = yield* StreamReader
  const reports = yield* reader.bounds("REPORTS")
  const announced = yield* reader.last(eventRelayPlace.stream, eventRelayPlace.subject)
  const positions = [Option.match(announced, { onNone: () => 0, onSome: ({ data }) => positionIn(data) })]
  // A small step's cursor is there before the step's events.
  const pending = Option.match(announced, { onNone: () => [], onSome: ({ data }) => pendingIn(data) })
  for (const { subject } of pending) {
    const event = yield* reader.last("EVENTS", subject)
    const id = Option.flatMapNullishOr(event, (message) => message.header(header.messageId))
    if (!pending.some((message) => message.subject === subject && Option.contains(id, message.id))) return false
  }
  for (const [bucket, key] of [
    ["views", "cursor"],
    ["cursors", "follow-ups"]
  ] as const) {
    const cursor = yield* reader.last(`KV_${bucket}`, `$KV.${bucket}.${key}`)
    positions.push(Option.match(cursor, { onNone: () => 0, onSome: ({ data }) => positionIn(data) }))
  }
  const { lastSequence } = yield* reader.bounds("LOG")
  return positions.every((position) => position === lastSequence) && reports.messages === 0
})

/** Of a cursor as it is stored, whichever. */
export const positionIn = (data: Uint8Array): number => {
  const stored = JSON.parse(new TextDecoder().decode(data)) as {
    readonly position?: number
    readonly cursor?: { readonly position: number }
  }
  return stored.cursor?.position ?? stored.position ?? 0
}

interface PendingMessage {
  readonly subject: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
}

/** The messages of a cursor's step, which are there a moment after it. */
const pendingIn = (data: Uint8Array) => {
  const stored = JSON.parse(new TextDecoder().decode(data)) as { readonly pending?: ReadonlyArray<PendingMessage> }
  return (stored.pending ?? []).map(({ subject, headers }) => ({ subject, id: new Map(headers).get(header.messageId) }))
}

/** Everything that is in a stream now, oldest first. */
export const allOf = Effect.fnUntraced(function* (stream: string) {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds(stream)
  if (lastSequence === 0) return []
  return yield* Stream.runCollect(reader.range(stream, { fromSequence: 1, toSequence: lastSequence }))
})
