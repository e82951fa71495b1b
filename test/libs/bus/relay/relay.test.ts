import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BusRefused, type RelayStep, type SourceMessage } from "#bus"
import {
  giverOf,
  type Observation as Seen,
  observe,
  patienceOf,
  type Standby,
  type StepWriter,
  takesOver
} from "../../../../libs/bus/relay/relay.ts"

const patience = patienceOf(0)
type Observation = Omit<Seen, "isOurs"> & Partial<Seen>
const lookMs = 250

/** When, counted from the first look, a relay takes up that sees the cursor so at each look; undefined if never. */
const takesUpAfter = (looks: ReadonlyArray<Observation>, { behindMs, quietMs } = patience) => {
  let state: Standby | undefined
  for (const [index, sighting] of looks.entries()) {
    state = observe(state, { isOurs: true, ...sighting }, index * lookMs)
    if (takesOver(state, { behindMs, quietMs }, index * lookMs)) return index * lookMs
  }
  return undefined
}
const looks = (count: number, at: (index: number) => Observation) =>
  Array.from({ length: count }, (_, index) => at(index))

describe("a relay on standby", () => {
  it("leaves the work to a twin that moves the cursor, whatever the backlog", () => {
    const moving = looks(1_000, (index) => ({ sequence: index, isBehind: true }))
    assert.isUndefined(takesUpAfter(moving))
    // Also one that is slow: a step takes it two looks.
    const slow = looks(1_000, (index) => ({ sequence: Math.floor(index / 2), isBehind: true }))
    assert.isUndefined(takesUpAfter(slow))
  })

  it("takes over after half a second when messages wait and the cursor is stuck", () => {
    assert.strictEqual(takesUpAfter(looks(100, () => ({ sequence: 7, isBehind: true }))), 500)
  })

  it("counts the half second from the first waiting message, not from the last step", () => {
    const late = looks(100, (index) => ({ sequence: 7, isBehind: index >= 6 }))
    assert.strictEqual(takesUpAfter(late), 6 * lookMs + 500)
  })

  it("starts the count again when the backlog is done", () => {
    const inTime = looks(8, (index) => ({ sequence: index < 4 ? 7 : 8, isBehind: index % 4 === 3 }))
    assert.isUndefined(takesUpAfter(inTime))
  })

  it("takes over after three seconds of silence, because an idle twin looks like a dead one", () => {
    assert.strictEqual(takesUpAfter(looks(100, () => ({ sequence: 7, isBehind: false }))), 3_000)
  })

  it("leaves an idle twin of another configuration alone, but succeeds it when messages wait", () => {
    assert.isUndefined(takesUpAfter(looks(1_000, () => ({ sequence: 7, isBehind: false, isOurs: false }))))
    assert.strictEqual(takesUpAfter(looks(100, () => ({ sequence: 7, isBehind: true, isOurs: false }))), 500)
    const changed = looks(100, (index) => ({ sequence: index < 4 ? 7 : 8, isBehind: false, isOurs: index >= 4 }))
    assert.strictEqual(takesUpAfter(changed), 4 * lookMs + 3_000)
  })

  it("is not misled by its own stall: its view on waking comes first", () => {
    const before = observe(undefined, { sequence: 7, isBehind: true, isOurs: true }, 0)
    assert.isFalse(takesOver(observe(before, { sequence: 9, isBehind: false, isOurs: true }, 60_000), patience, 60_000))
  })

  it("has a random patience between one and two times the minimum", () => {
    const waiting = looks(100, () => ({ sequence: 7, isBehind: true }))
    const quiet = looks(100, () => ({ sequence: 7, isBehind: false }))
    for (const share of [0, 0.25, 0.5, 0.999]) {
      const its = patienceOf(share)
      assert.isAtLeast(takesUpAfter(waiting, its) ?? 0, 500)
      assert.isAtMost(takesUpAfter(waiting, its) ?? Infinity, 1_000)
      assert.isAtMost(takesUpAfter(quiet, its) ?? Infinity, 6_000)
    }
    assert.isBelow(patienceOf(0).behindMs, patienceOf(0.1).behindMs)
  })
})

interface Position {
  readonly position: number
}

const source = (sequence: number): SourceMessage => ({
  subject: "source.note",
  sequence,
  storedAtMs: 0,
  data: new Uint8Array(0),
  header: () => undefined
})

/** Steps of up to `stepMax` messages, each named after its source message. */
const stepsOf = (run: ReadonlyArray<SourceMessage>, stepMax: number): ReadonlyArray<RelayStep<Position>> =>
  Array.from({ length: Math.ceil(run.length / stepMax) }, (_, index) => {
    const part = run.slice(index * stepMax, (index + 1) * stepMax)
    return {
      messages: part.map(({ sequence }) => ({ subject: String(sequence), data: new Uint8Array(0), headers: [] })),
      cursor: { position: part.at(-1)?.sequence ?? 0 }
    }
  })

/** A broker that refuses some messages, and says which only where it is asked for nothing else. */
const writerRefusing = (refuses: (sequence: number) => boolean) => {
  let cursor: Position = { position: 0 }
  const written: Array<number> = []
  const putAway: Array<number> = []
  const moves: Array<number> = []
  const writer: StepWriter<Position, never> = {
    held: () => ({ cursor, sequence: 0 }),
    write: (steps, isAlone) =>
      Effect.forEach(
        steps,
        (step) => {
          const numbers = step.messages.map(({ subject }) => Number(subject))
          if (numbers.some(refuses)) {
            const code = numbers.length === 1 ? 10097 : 10176
            if (!isAlone) return Effect.fail(new BusRefused({ operation: "write", detail: "too large", code }))
            putAway.push(...numbers)
          } else written.push(...numbers)
          cursor = step.cursor
          moves.push(cursor.position)
          return Effect.void
        },
        { discard: true }
      )
  }
  return { writer, written, putAway, moves }
}

describe("a run that the broker refuses", () => {
  const cases = [1, 3, 64, 256].flatMap((stepMax) =>
    [[], [1], [256], [7, 8], [1, 100, 101, 255], Array.from({ length: 256 }, (_, index) => index + 1)].map((bad) => ({
      stepMax,
      bad
    }))
  )
  it.effect.each(cases)(
    "in steps of $stepMax is given all the same, without $bad: each message is accounted for once",
    ({ stepMax, bad }) =>
      Effect.gen(function* () {
        const refused = new Set(bad)
        const { writer, written, putAway, moves } = writerRefusing((sequence) => refused.has(sequence))
        const giver = giverOf<Position, never, never>(
          {
            translate: (run) => Effect.succeed(stepsOf(run, stepMax)),
            aside: () => Effect.succeed([]),
            position: ({ position }) => position
          },
          writer
        )
        const run = Array.from({ length: 256 }, (_, index) => source(index + 1))
        yield* giver.give(run)
        assert.deepStrictEqual(putAway, bad)
        assert.deepStrictEqual(
          written,
          run.map(({ sequence }) => sequence).filter((sequence) => !refused.has(sequence))
        )
        assert.deepStrictEqual(
          moves,
          moves.toSorted((left, right) => left - right)
        )
        assert.strictEqual(moves.at(-1), 256)
      })
  )

  it.effect("for another reason fails as it is", () =>
    Effect.gen(function* () {
      const refusal = new BusRefused({ operation: "write", detail: "not allowed", code: 0 })
      const writer: StepWriter<Position, never> = {
        held: () => ({ cursor: { position: 0 }, sequence: 0 }),
        write: () => Effect.fail(refusal)
      }
      const given = giverOf<Position, never, never>(
        {
          translate: (run) => Effect.succeed(stepsOf(run, 256)),
          aside: () => Effect.succeed([]),
          position: ({ position }) => position
        },
        writer
      ).give([source(1), source(2)])
      assert.strictEqual(yield* Effect.flip(given), refusal)
    })
  )

  it.effect("between two runs is asked for with ever fewer source messages", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const { writer, putAway } = writerRefusing((sequence) => sequence === 1)
      const giver = giverOf<Position, never, never>(
        {
          translate: () => Effect.succeed([]),
          aside: (_, messagesMax) => {
            asked.push(messagesMax)
            const run = Array.from({ length: messagesMax }, (_each, index) => source(index + 1))
            return Effect.succeed(stepsOf(run, 256))
          },
          position: ({ position }) => position
        },
        writer
      )
      yield* giver.relayAside
      assert.deepStrictEqual(asked, [256, 128, 64, 32, 16, 8, 4, 2, 1])
      assert.deepStrictEqual(putAway, [1])
    })
  )
})
