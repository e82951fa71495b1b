import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { FanOutCursor, StoredEvent } from "#webhooks"
import { beginCursor } from "#webhooks"
import {
  type FanOutStep,
  type FanOutTarget,
  isFlood,
  planAhead,
  planCatchUp,
  planRun
} from "../../../../services/webhook-dispatcher/fan-out/plan.ts"

const event = (sequence: number, bytes = 10): StoredEvent => ({
  sequence,
  storedAtMs: sequence,
  event: "work_item.merged",
  schemaVersion: "1.1.0",
  entity: undefined,
  envelope: { eventSchemaVersion: "1.1.0", event: "work_item.merged", occurredAt: "2026-01-01T00:00:00.000Z" },
  body: new Uint8Array(bytes)
})
const target = (id: string, wants = true): FanOutTarget => ({ id, partition: 0, wants: () => wants })
const ordered = (id: string): FanOutTarget => ({
  ...target(id),
  orderKey: ({ entity }) => (entity === "none" ? undefined : "key")
})
const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => event(from + index))
const id = () => "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
const nobody = () => false

/** The steps' deliveries, as `endpoint:sequence`. */
const written = (steps: ReadonlyArray<FanOutStep>) =>
  steps.flatMap(({ messages }) =>
    messages.map(({ subject, headers }) => {
      const header = headers.find(([name]) => name === "Starling-Delivery")?.[1] ?? "{}"
      return `${subject.split(".").at(-1)}:${(JSON.parse(header) as { sequence: number }).sequence}`
    })
  )
const last = (steps: ReadonlyArray<FanOutStep>): FanOutCursor => steps.at(-1)?.cursor ?? beginCursor(-1)

describe("the fan-out of a run", () => {
  it("gives every event to every endpoint with a matching filter, in order, and moves the cursor past them", () => {
    const steps = planRun(
      {
        events: events(1, 2),
        lastSequence: 2,
        targets: [target("a"), target("b", false), target("c")],
        isParked: nobody,
        newDeliveryId: id
      },
      beginCursor(0)
    )
    assert.deepStrictEqual(written(steps), ["a:1", "c:1", "a:2", "c:2"])
    assert.deepInclude(last(steps), { position: 2, through: null, next: {} })
  })

  it("skips sequences without a valid event", () => {
    const steps = planRun(
      { events: [event(2)], lastSequence: 5, targets: [target("a")], isParked: nobody, newDeliveryId: id },
      beginCursor(0)
    )
    assert.deepStrictEqual(written(steps), ["a:2"])
    assert.strictEqual(last(steps).position, 5)
  })

  it("does nothing for events behind the cursor", () => {
    assert.deepStrictEqual(
      planRun(
        { events: events(1, 3), lastSequence: 3, targets: [target("a")], isParked: nobody, newDeliveryId: id },
        beginCursor(3)
      ),
      []
    )
  })

  it("stops between two endpoints of one event when a step is full, and continues exactly there", () => {
    const targets = Array.from({ length: 600 }, (_, index) => target(String(index).padStart(3, "0")))
    const steps = planRun(
      { events: [event(1)], lastSequence: 1, targets, isParked: nobody, newDeliveryId: id },
      beginCursor(0)
    )
    assert.deepStrictEqual(
      steps.map((step) => step.messages.length),
      [256, 256, 88]
    )
    assert.deepInclude(steps[0]?.cursor, { position: 0, through: "255" })
    const resumed = planRun(
      { events: [event(1)], lastSequence: 1, targets, isParked: nobody, newDeliveryId: id },
      steps[0]?.cursor ?? beginCursor(0)
    )
    assert.deepStrictEqual([...written(steps.slice(0, 1)), ...written(resumed)], written(steps))
  })

  it("closes a step before its bytes exceed the broker's limit", () => {
    const large = Array.from({ length: 40 }, (_, index) => event(index + 1, 256 * 1_024))
    const steps = planRun(
      { events: large, lastSequence: 40, targets: [target("a")], isParked: nobody, newDeliveryId: id },
      beginCursor(0)
    )
    assert.isAbove(steps.length, 2)
    for (const { messages } of steps) {
      assert.isAtMost(
        messages.reduce((sum, message) => sum + message.data.length, 0),
        4.25 * 1_024 * 1_024
      )
    }
  })

  it("parks an endpoint at its position, and keeps the first event it still needs", () => {
    const parked = (endpoint: string) => endpoint === "b"
    const steps = planRun(
      {
        events: events(4, 6),
        lastSequence: 6,
        targets: [target("a"), target("b")],
        isParked: parked,
        newDeliveryId: id
      },
      beginCursor(3)
    )
    assert.deepStrictEqual(written(steps), ["a:4", "a:5", "a:6"])
    assert.deepStrictEqual(last(steps).next, { b: 4 })
  })

  it("parks an endpoint only at an event that it wants", () => {
    const targets = [target("a"), { ...target("b"), wants: (name: string) => name === "work_item.done" }]
    const run = { lastSequence: 6, targets, isParked: (endpoint: string) => endpoint === "b", newDeliveryId: id }
    const without = planRun({ ...run, events: events(4, 6) }, beginCursor(3))
    assert.deepStrictEqual(last(without).next, {})
    const with5 = [event(4), { ...event(5), event: "work_item.done" }, event(6)]
    const steps = planRun({ ...run, events: with5 }, beginCursor(3))
    assert.deepStrictEqual(written(steps), ["a:4", "a:5", "a:6"])
    assert.deepStrictEqual(last(steps).next, { b: 5 })
  })

  it("asks an endpoint once for what it wants, however many events of a name come", () => {
    let asked = 0
    const targets = [{ ...target("a"), wants: () => (asked += 1) > 0 }]
    const run = { targets, isParked: nobody, newDeliveryId: id }
    planRun({ ...run, events: events(1, 20), lastSequence: 20 }, beginCursor(0))
    planRun({ ...run, events: events(21, 40), lastSequence: 40 }, beginCursor(20))
    assert.strictEqual(asked, 1)
  })

  it("skips events from before a new endpoint's start", () => {
    const cursor: FanOutCursor = { ...beginCursor(0), next: { n: 3 } }
    const steps = planRun(
      { events: events(1, 4), lastSequence: 4, targets: [target("n")], isParked: nobody, newDeliveryId: id },
      cursor
    )
    assert.deepStrictEqual(written(steps), ["n:3", "n:4"])
    assert.deepStrictEqual(last(steps).next, {})
  })
})

describe("a flood from outside the fleet", () => {
  const filed = (sequence: number): StoredEvent => ({ ...event(sequence), from: "reports" })
  const many = (count: number, from?: string) => Array.from({ length: count }, () => from)
  const ahead = { isParked: nobody, newDeliveryId: id, targets: [target("a"), target("b")] }

  it("is a run as long as it may be that others published most of", () => {
    assert.isTrue(isFlood([...many(129, "reports"), ...many(127)], 256))
    assert.isTrue(isFlood([...many(100, "reports"), ...many(100, "orders")], 256))
    assert.isTrue(isFlood([...many(31), ...many(33, "reports")], 64))
    assert.isFalse(isFlood([...many(128, "reports"), ...many(128)], 256), "as many of the fleet")
    assert.isFalse(isFlood(many(128, "reports"), 256), "few at once")
    assert.isFalse(isFlood(many(256), 256), "of the fleet itself")
  })

  it("is overtaken by the fleet's own events, which nobody in step gets again when their turn comes", () => {
    const step = planAhead({ ...ahead, events: [event(4), event(6)] }, beginCursor(1))
    assert.deepStrictEqual(written([step]), ["a:4", "b:4", "a:6", "b:6"])
    assert.deepInclude(step.cursor, { position: 1, ahead: 6 })
    const log = [filed(2), filed(3), event(4), filed(5), event(6), event(7)]
    const steps = planRun({ ...ahead, events: log, lastSequence: 7 }, step.cursor)
    assert.deepStrictEqual(written(steps), ["a:2", "b:2", "a:3", "b:3", "a:5", "b:5", "a:7", "b:7"])
    assert.notProperty(last(steps), "ahead")
  })

  it("is not overtaken by an event that has more takers than fit into one write", () => {
    const targets = Array.from({ length: 257 }, (_, index) => target(String(index).padStart(3, "0")))
    const step = planAhead({ ...ahead, targets, events: [event(4)] }, beginCursor(1))
    assert.deepStrictEqual([step.messages.length, step.cursor.ahead], [0, undefined])
    const large = planAhead({ ...ahead, events: [event(4, 3 * 1_024 * 1_024)] }, beginCursor(1))
    assert.strictEqual(large.messages.length, 0)
  })

  it("leaves an endpoint that is parked meanwhile what it has, and what it lacks", () => {
    const step = planAhead({ ...ahead, events: [event(3)] }, beginCursor(1))
    const isParked = (endpoint: string) => endpoint === "b"
    const further = planAhead({ ...ahead, isParked, events: [event(5)] }, step.cursor)
    assert.deepStrictEqual(written([further]), ["a:5"])
    const log = [filed(2), event(3), filed(4), event(5)]
    const passed = last(planRun({ ...ahead, isParked, events: log, lastSequence: 5 }, further.cursor))
    assert.deepInclude(passed, { next: { b: 2 }, had: { b: 3 } })
    const caughtUp = planCatchUp({ events: log, lastSequence: 5, target: target("b"), newDeliveryId: id }, passed)
    assert.deepStrictEqual(written([caughtUp]), ["b:2", "b:4", "b:5"])
    assert.deepStrictEqual(caughtUp.cursor, beginCursor(5))
  })
})

describe("an ordered endpoint", () => {
  const run = { targets: [ordered("a"), target("b")], isParked: nobody, newDeliveryId: id }
  const subjectsOf = (steps: ReadonlyArray<FanOutStep>) =>
    steps.flatMap(({ messages }) => messages.map(({ subject }) => subject))

  it("has subjects of its own, but for an event without a key", () => {
    const steps = planRun(
      { ...run, events: [event(1), { ...event(2), entity: "none" }], lastSequence: 2 },
      beginCursor(0)
    )
    assert.deepStrictEqual(subjectsOf(steps), [
      "deliveries.due.ordered.a",
      "deliveries.due.0.b",
      "deliveries.due.0.a",
      "deliveries.due.0.b"
    ])
  })

  it("has several of its deliveries stored in order, or none of them", () => {
    const [two] = planRun({ ...run, events: events(1, 2), lastSequence: 2 }, beginCursor(0))
    assert.isTrue(two?.isInOrder)
    const [one] = planRun({ ...run, events: [event(1)], lastSequence: 1 }, beginCursor(0))
    assert.notProperty(one, "isInOrder")
    const [unordered] = planRun(
      { ...run, targets: [target("b")], events: events(1, 2), lastSequence: 2 },
      beginCursor(0)
    )
    assert.notProperty(unordered, "isInOrder")
  })

  it("catches up behind a flood that others are ahead of", () => {
    const log = [{ ...event(1), from: "reports" }, event(2)]
    const ahead = planAhead({ ...run, events: [event(2)] }, beginCursor(0))
    assert.deepStrictEqual(written([ahead]), ["b:2"])
    assert.deepInclude(ahead.cursor, { next: { a: 1 }, ahead: 2 })
    assert.notProperty(ahead.cursor, "had")
    const passed = last(planRun({ ...run, events: log, lastSequence: 2 }, ahead.cursor))
    const caughtUp = planCatchUp({ events: log, lastSequence: 2, target: ordered("a"), newDeliveryId: id }, passed)
    assert.deepStrictEqual(written([caughtUp]), ["a:1", "a:2"])
    assert.deepStrictEqual(caughtUp.cursor, beginCursor(2))
  })
})

describe("catching up", () => {
  it("gives a parked endpoint its missed events and brings it back in step", () => {
    const cursor: FanOutCursor = { ...beginCursor(9), next: { a: 4, b: 10 } }
    const step = planCatchUp({ events: events(4, 9), lastSequence: 9, target: target("a"), newDeliveryId: id }, cursor)
    assert.deepStrictEqual(written([step]), ["a:4", "a:5", "a:6", "a:7", "a:8", "a:9"])
    assert.deepStrictEqual(step.cursor.next, { b: 10 })
  })

  it("gives it only matching events, from its own position on, and nothing beyond the page", () => {
    const cursor: FanOutCursor = { ...beginCursor(7), next: { a: 4 } }
    const step = planCatchUp({ events: events(2, 9), lastSequence: 7, target: target("a"), newDeliveryId: id }, cursor)
    assert.deepStrictEqual(written([step]), ["a:4", "a:5", "a:6", "a:7"])
    const unwanted = planCatchUp(
      { events: events(2, 9), lastSequence: 7, target: target("a", false), newDeliveryId: id },
      cursor
    )
    assert.deepStrictEqual(written([unwanted]), [])
    assert.deepStrictEqual(unwanted.cursor.next, {})
  })

  it("goes page by page", () => {
    const cursor: FanOutCursor = { ...beginCursor(1_000), next: { a: 1 } }
    const step = planCatchUp(
      { events: events(1, 256), lastSequence: 256, target: target("a"), newDeliveryId: id },
      cursor
    )
    assert.strictEqual(step.messages.length, 256)
    assert.deepStrictEqual(step.cursor.next, { a: 257 })
  })
})

describe("a filter on content", () => {
  const fits = (envelope: unknown) => (envelope as { readonly project?: unknown }).project !== undefined
  const about = (sequence: number): StoredEvent => {
    const { envelope, ...rest } = event(sequence)
    return { ...rest, envelope: { ...envelope, project: { id: "p" } as never } }
  }
  const log = [event(1), about(2), event(3), about(4)]
  const picky: FanOutTarget = { ...target("picky"), fits }
  const run = { targets: [target("all"), picky], newDeliveryId: id }

  it("is asked of each event that the names choose, in a run, ahead of a flood and catching up", () => {
    const steps = planRun({ ...run, events: log, lastSequence: 4, isParked: nobody }, beginCursor(0))
    assert.deepStrictEqual(written(steps), ["all:1", "all:2", "picky:2", "all:3", "all:4", "picky:4"])
    const ahead = planAhead({ ...run, events: log, isParked: nobody }, beginCursor(0))
    assert.deepStrictEqual(written([ahead]), written(steps))
    const behind = { ...beginCursor(4), next: { picky: 1 } }
    const caughtUp = planCatchUp({ events: log, lastSequence: 4, target: picky, newDeliveryId: id }, behind)
    assert.deepStrictEqual(written([caughtUp]), ["picky:2", "picky:4"])
    assert.deepStrictEqual(caughtUp.cursor, beginCursor(4))
  })

  it("is not asked where the name does not fit", () => {
    const never = { ...target("a", false), fits: () => assert.fail("asked") }
    planRun({ ...run, targets: [never], events: log, lastSequence: 4, isParked: nobody }, beginCursor(0))
    planCatchUp(
      { events: log, lastSequence: 4, target: never, newDeliveryId: id },
      { ...beginCursor(4), next: { a: 1 } }
    )
  })

  it("parks an endpoint at the first event that fits", () => {
    const steps = planRun({ ...run, events: log, lastSequence: 4, isParked: (one) => one === "picky" }, beginCursor(0))
    assert.deepStrictEqual(last(steps).next, { picky: 2 })
    const ahead = planAhead({ ...run, events: log, isParked: (one) => one === "picky" }, beginCursor(0))
    assert.deepStrictEqual(written([ahead]), ["all:1", "all:2", "all:3", "all:4"])
  })
})

describe("any order of parking and resuming", () => {
  const Turn = Schema.Struct({
    published: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
    parked: Schema.Array(Schema.Literals(["a", "b", "c", "d"])),
    from: Schema.Array(Schema.Literals(["fleet", "reports"])),
    isFlood: Schema.Boolean,
    // How much of the log this turn has read; the rest stands before the fleet's own events.
    read: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
    // How many of the planned steps are stored before a crash makes the rest be planned again.
    kept: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
  })

  it.prop(
    "gives every endpoint every event exactly once, and an ordered one in order",
    [Schema.Array(Turn)],
    ([turns]) => {
      const targets = [...["a", "b", "c"].map((name) => target(name)), ordered("d")]
      const log: Array<StoredEvent> = []
      const delivered: Array<string> = []
      let cursor = beginCursor(0)
      const store = (steps: ReadonlyArray<FanOutStep>) => {
        for (const step of steps) cursor = step.cursor
        delivered.push(...written(steps))
      }
      const catchUp = (isParked: (endpoint: string) => boolean) => {
        for (const one of targets) {
          const from = cursor.next[one.id]
          if (from === undefined || from > cursor.position || isParked(one.id)) continue
          store([
            planCatchUp(
              {
                events: log.slice(from - 1, cursor.position),
                lastSequence: cursor.position,
                target: one,
                newDeliveryId: id
              },
              cursor
            )
          ])
        }
      }
      for (const { published, parked, from, isFlood, read, kept } of turns) {
        const isParked = (endpoint: string) => (parked as ReadonlyArray<string>).includes(endpoint)
        for (let index = 0; index < published; index++) {
          const next = event(log.length + 1)
          log.push(from[index] === "reports" ? { ...next, from: "reports" } : next)
        }
        const run = log.slice(cursor.position).slice(0, isFlood ? read : undefined)
        const lastSequence = run.at(-1)?.sequence ?? cursor.position
        const planned = planRun({ events: run, lastSequence, targets, isParked, newDeliveryId: id }, cursor)
        store(planned.slice(0, kept))
        if (isFlood && cursor.through === null) {
          const own = log.filter((one) => one.from === undefined && one.sequence > (cursor.ahead ?? cursor.position))
          store([planAhead({ events: own, targets, isParked, newDeliveryId: id }, cursor)])
        }
        catchUp(isParked)
      }
      store(
        planRun(
          {
            events: log.slice(cursor.position),
            lastSequence: log.length,
            targets,
            isParked: nobody,
            newDeliveryId: id
          },
          cursor
        )
      )
      catchUp(nobody)
      const wanted = log.flatMap(({ sequence }) => targets.map((one) => `${one.id}:${sequence}`))
      assert.deepStrictEqual(delivered.toSorted(), wanted.toSorted())
      assert.deepStrictEqual(
        delivered.filter((one) => one.startsWith("d:")),
        wanted.filter((one) => one.startsWith("d:"))
      )
      assert.deepStrictEqual(cursor.next, {})
    }
  )
})
