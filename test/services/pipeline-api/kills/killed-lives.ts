/** Lives that are killed at a test's order, and then checked in every way. */
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Publisher, type Requests, StreamReader } from "#bus"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import type { Cut } from "../../../support/cut-proxy.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"
import { type Dice, diceOf } from "../../../support/random-ssml.ts"
import { allOf, type Begin, isSettled, type KilledLife, killedLife, positionIn } from "./killed-life.ts"
import {
  assertFollowed,
  assertForward,
  assertOnce,
  assertReplays,
  assertShown,
  assertTold,
  recordsOf
} from "./log-invariants.ts"
import { openReleaseId } from "./random-inputs.ts"

/** The role's writes from a command to the last of its follow-ups. */
export const steps = {
  "a record": /^log\./u,
  "what follows for a release": /^log\.release\./u,
  "an operator's answer that is set aside": /^\$KV\.answers\./u,
  "the answer to a caller": /^_INBOX/u,
  "the relay's cursor with what is to be told": /^\$KV\.relays\.events$/u,
  "an event": /^events\./u,
  "a row of the views": /^\$KV\.views\.(?!cursor$)/u,
  "the cursor of the views": /^\$KV\.views\.cursor$/u,
  "the cursor of the follow-ups": /^\$KV\.cursors\.follow-ups$/u,
  "the ack of a report": /^\$JS\.ACK\..*REPORTS/u,
  "a lease": /^\$KV\.leases\./u
} as const
export const sides = ["before", "after"] as const

export const diceFor = (seed: number): Dice => diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)

/** Anywhere, or at one of the steps. */
export const randomCut = ({ below, of }: Dice): Cut =>
  below(3) === 0
    ? { subject: /^/u, nth: 1 + below(250), side: of(sides) }
    : { subject: of(Object.values(steps)), nth: 1 + below(5), side: of(sides) }

/** Continues until the process is dead. */
export const untilDead = (life: KilledLife, waves: number) =>
  Effect.gen(function* () {
    for (let wave = 0; wave < waves && (yield* life.send); wave++);
    return life.isDead()
  })

/** Nothing that is stored under one name is ever replaced by something older. */
const watchPositions = Effect.fnUntraced(function* (stream: string, subject: (of: string) => boolean) {
  const reader = yield* StreamReader
  const seen = new Map<string, number>()
  const back: Array<string> = []
  const watch = Stream.runForEach(reader.follow(stream, 1), (message) =>
    Effect.sync(() => {
      if (message.data.length === 0 || !subject(message.subject)) return
      const stored = JSON.parse(new TextDecoder().decode(message.data)) as { readonly sequence?: number }
      const now = stored.sequence ?? positionIn(message.data)
      const before = seen.get(message.subject) ?? 0
      if (now < before) back.push(`${message.subject} went from ${before} to ${now}`)
      seen.set(message.subject, now)
    })
  )
  yield* Effect.forkScoped(watch)
  return { back, seen }
})

const check = Effect.fnUntraced(function* (life: KilledLife) {
  yield* eventually(isSettled)
  const records = recordsOf(yield* allOf("LOG"))
  assertReplays(records)
  assertOnce(records, life.told)
  assertTold(records, yield* allOf("EVENTS"), life.reports)
  assertShown(records, yield* allOf("KV_views"))
  assertForward(records, life.told)
  assertFollowed(records, openReleaseId)
  assert.deepStrictEqual(yield* allOf("REJECTED"), [])
  return records
})

/** `cuts` one after another, then a process that lives; then everything is looked at. */
export const lifeWith = (
  seed: number,
  begin: (server: TestNatsServer) => Begin,
  cuts: (life: KilledLife) => Effect.Effect<void, never, Publisher | Requests>
) =>
  withBus((server) =>
    Effect.scoped(
      Effect.gen(function* () {
        const watched = [
          yield* watchPositions("KV_views", () => true),
          yield* watchPositions("KV_cursors", () => true),
          yield* watchPositions("KV_relays", () => true)
        ]
        const life = yield* killedLife(server, diceFor(seed), begin(server))
        yield* cuts(life)
        yield* life.start()
        yield* life.send
        const records = yield* check(life)
        assert.deepStrictEqual(
          watched.flatMap(({ back }) => back),
          []
        )
        for (const { seen } of watched) assert.isNotEmpty(seen)
        return records
      })
    )
  )
