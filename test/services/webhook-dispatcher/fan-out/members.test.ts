import { assert, describe, it } from "@effect/vitest"
import { deliveryLaneOf, endpointIdOf } from "#webhooks/contract"
import { beginCursor, type FanOutCursor, type Members } from "#webhooks"
import {
  fingerprint,
  hasLetGo,
  lackingOf,
  type MemberFacts,
  planMembers
} from "../../../../services/webhook-dispatcher/fan-out/members.ts"

const hourMs = 3_600_000
const endpoint = (id: string) => ({ id, name: `endpoint ${id}` })
const made = (id: string, startsAfter: number) => ({ id, startsAfter })
const subjectsOf = (plan: ReturnType<typeof planMembers>) =>
  plan.steps.flatMap(({ messages }) => messages.map(({ subject }) => subject))

/** What a lane has: of the configuration, with since when each is absent, and made at run time. */
const members = (configured: Record<string, number | null>, atRunTime: ReadonlyArray<string> = []): Members => ({
  configured: Object.fromEntries(
    Object.entries(configured).map(([id, absentSinceMs]) => [id, { name: `endpoint ${id}`, absentSinceMs }])
  ),
  atRunTime: new Set(atRunTime)
})

/** A lane that is alone, with nothing to do; `more` says what there is. */
const facts = (more: Partial<MemberFacts>): MemberFacts => ({
  lane: 0,
  members: members({}),
  configured: [],
  atRunTime: [],
  leaving: [],
  revision: 9,
  admitted: undefined,
  lanes: undefined,
  roster: undefined,
  ...more
})
const roster = { lastSequence: 80, nowMs: 0, archiveAfterMs: 24 * hourMs }

describe("a changed configuration", () => {
  it.each([
    ["starts a new endpoint now, not at the beginning of the log", 50, 80, { n: 81 }],
    ["gives a new endpoint not even an event that the others have yet to get", 50, 51, { n: 52 }],
    ["holds nothing back where all events were given", 80, 80, {}]
  ])("%s", (_what, position, lastSequence, next) => {
    const configured = [endpoint("a"), endpoint("n")]
    const has = { members: members({ a: null }), configured, roster: { ...roster, lastSequence } }
    const plan = planMembers(beginCursor(position), facts(has))
    assert.deepStrictEqual(plan.cursor, { ...beginCursor(position), next, roster: fingerprint(configured) })
    assert.deepStrictEqual(subjectsOf(plan), ["deliveries.roster"])
    assert.deepStrictEqual(plan.members, members({ a: null, n: null }))
  })

  it("gives all endpoints back to a cursor that held them when the stored roster is lost, each at its place", () => {
    const configured = [endpoint("a"), endpoint("b")]
    const cursor = { ...beginCursor(50), next: { b: 31 }, roster: fingerprint(configured) }
    const plan = planMembers(cursor, facts({ members: members({}), configured, roster }))
    assert.deepStrictEqual(plan.cursor, cursor)
    assert.deepStrictEqual(subjectsOf(plan), ["deliveries.roster"])
    assert.deepStrictEqual(plan.members, members({ a: null, b: null }))
  })

  it("parks a removed endpoint, and remembers since when", () => {
    const has = { members: members({ a: null, b: null }), configured: [endpoint("a")], roster: { ...roster, nowMs: 7 } }
    const plan = planMembers(beginCursor(50), facts(has))
    assert.deepStrictEqual(plan.cursor.next, { b: 51 })
    assert.deepStrictEqual(plan.members, members({ a: null, b: 7 }))
    assert.deepStrictEqual(plan.archived, [])
  })

  it("lets an endpoint that returns within the day continue where it was", () => {
    const cursor: FanOutCursor = { ...beginCursor(90), next: { b: 51 } }
    const has = { members: members({ b: 7 }), configured: [endpoint("b")], roster: { ...roster, nowMs: hourMs } }
    const plan = planMembers(cursor, facts(has))
    assert.deepStrictEqual(plan.cursor.next, { b: 51 })
    assert.deepStrictEqual(plan.members, members({ b: null }))
  })

  it("archives an endpoint after a longer absence, and forgets it, also where it has yet to move to another lane", () => {
    const cursor: FanOutCursor = { ...beginCursor(90), next: { b: 51 }, left: { c: 12 } }
    const late = { ...roster, nowMs: 24 * hourMs }
    const has = { members: members({ a: null, b: 0, c: 0 }), configured: [endpoint("a")], roster: late }
    const plan = planMembers(cursor, facts(has))
    assert.deepStrictEqual(plan.archived, [endpoint("b"), endpoint("c")])
    assert.deepStrictEqual(plan.cursor.next, {})
    assert.notProperty(plan.cursor, "left")
    assert.deepStrictEqual(plan.members, members({ a: null }))
  })

  it("leaves the place of an absent endpoint to one made at run time under its name", () => {
    const cursor: FanOutCursor = { ...beginCursor(40), next: { n: 12 } }
    const has = { members: members({ n: 0 }), atRunTime: [made("n", 3)], roster: { ...roster, nowMs: 48 * hourMs } }
    const plan = planMembers(cursor, facts(has))
    assert.deepStrictEqual(plan.cursor.next, { n: 12 })
    assert.deepStrictEqual(plan.archived, [])
    assert.deepStrictEqual(plan.members, members({}, ["n"]))
  })

  it("is identified by its set of endpoints, in any order", () => {
    assert.strictEqual(fingerprint([endpoint("a"), endpoint("b")]), fingerprint([endpoint("b"), endpoint("a")]))
    assert.notStrictEqual(fingerprint([endpoint("a")]), fingerprint([endpoint("a"), endpoint("b")]))
  })
})

describe("an endpoint made at run time", () => {
  it.each([
    ["before the cursor came there: it waits for its first event", 50, { n: 51 }],
    ["where the cursor stands: it is in step", 40, {}],
    ["behind the cursor: it catches up", 30, { n: 31 }]
  ])("begins %s", (_when, startsAfter, next) => {
    const plan = planMembers(beginCursor(40), facts({ atRunTime: [made("n", startsAfter)] }))
    assert.deepStrictEqual(plan.cursor, { ...beginCursor(40), next, revision: 9 })
    assert.deepStrictEqual(subjectsOf(plan), ["deliveries.roster.n"])
  })

  it("keeps its place once it is known, and the place that it had in the configuration", () => {
    const known = facts({ atRunTime: [made("n", 3)], members: members({}, ["n"]) })
    assert.deepStrictEqual(planMembers(beginCursor(40), known).steps, [])
    const cursor = { ...beginCursor(40), next: { n: 12 } }
    const before = facts({ atRunTime: [made("n", 3)], members: members({ n: null }) })
    assert.deepStrictEqual(planMembers(cursor, before).cursor.next, { n: 12 })
  })

  it("is parked while its record cannot be read, and not while it leaves", () => {
    const lost = facts({ members: members({}, ["n"]) })
    assert.deepStrictEqual(planMembers(beginCursor(40), lost).cursor.next, { n: 41 })
    const leaving = facts({ members: members({}, ["n"]), leaving: [{ id: "n", name: "n", revision: 8 }] })
    assert.deepStrictEqual(planMembers({ ...beginCursor(40), revision: 8 }, leaving).steps, [])
  })

  it("fits with a thousand others into steps of what the broker takes at once", () => {
    const atRunTime = Array.from({ length: 1_200 }, (_, index) => made(`n${index}`, 50))
    const { steps } = planMembers(beginCursor(40), facts({ atRunTime }))
    assert.deepStrictEqual(
      steps.map(({ messages, cursor: { next } }) => [messages.length, Object.keys(next).length]),
      [
        [500, 500],
        [500, 1_000],
        [200, 1_200]
      ]
    )
  })

  it("has no place once its removal is known, and the cursor says so", () => {
    const cursor = { ...beginCursor(40), next: { n: 12, o: 3 }, left: { p: 5 } }
    const leaving = ["n", "p"].map((id, index) => ({ id, name: id, revision: 20 + index }))
    assert.isFalse(hasLetGo(cursor, leaving))
    const plan = planMembers(cursor, facts({ leaving }))
    assert.deepStrictEqual(plan.cursor, { ...beginCursor(40), next: { o: 3 }, revision: 21 })
    assert.isTrue(hasLetGo(plan.cursor, leaving))
  })
})

const ids = Array.from({ length: 64 }, (_, index) => endpointIdOf(`endpoint ${index}`))
const leaves = ids.find((id) => deliveryLaneOf(id, 2) === 0 && deliveryLaneOf(id, 4) === 2) ?? ""
const at = (lanes: number, more: Partial<FanOutCursor> = {}): FanOutCursor => ({ ...beginCursor(100), lanes, ...more })
const nothing = { isMoved: false, others: [] }

describe("a lane of several", () => {
  it("writes a new number together with the endpoints that leave by it, each with its place", () => {
    const has = facts({ members: members({ [leaves]: null }), configured: [endpoint(leaves)], admitted: new Map() })
    const plan = planMembers(at(2), { ...has, lanes: { ...nothing, count: 4 } })
    assert.lengthOf(plan.steps, 1)
    assert.deepStrictEqual(plan.cursor, at(4, { lanesBefore: 2, left: { [leaves]: 101 } }))
  })

  it("forgets the number before when nothing moves any more", () => {
    const over = { ...nothing, count: 4, isMoved: true }
    assert.deepStrictEqual(planMembers(at(4, { lanesBefore: 2 }), facts({ lanes: over })).cursor, at(4))
  })

  it("lets an endpoint go once the other lane has it by the same number, and not before", () => {
    const has = { members: members({ [leaves]: null }), configured: [endpoint(leaves)], admitted: new Map() }
    const planWith = (count: number, known: ReadonlyArray<string>) => {
      const others = [undefined, undefined, { count, has: new Set(known) }]
      return planMembers(at(4, { left: { [leaves]: 101 } }), facts({ ...has, lanes: { ...nothing, count: 4, others } }))
    }
    assert.deepStrictEqual(planWith(4, []).takenOver, [])
    assert.deepStrictEqual(planWith(2, [leaves]).takenOver, [])
    const taken = planWith(4, [leaves])
    assert.deepStrictEqual(taken.takenOver, [leaves])
    assert.deepStrictEqual(taken.cursor, at(4))
    assert.deepStrictEqual(taken.members, members({}))
    assert.deepStrictEqual(subjectsOf(taken), ["deliveries.roster"])
  })

  it("takes an endpoint back at its place that no other lane took over before the number changed again", () => {
    const has = { members: members({ [leaves]: null }), configured: [endpoint(leaves)], admitted: new Map() }
    const cursor = at(4, { lanesBefore: 4, left: { [leaves]: 90 } })
    const plan = planMembers(cursor, facts({ ...has, lanes: { ...nothing, count: 2 } }))
    assert.deepStrictEqual(plan.cursor, at(2, { lanesBefore: 4, next: { [leaves]: 90 } }))
  })

  it("takes only what it is admitted to, from the event that the other lane names", () => {
    const present = { configured: [endpoint(leaves)], lane: 2, roster }
    const cursor = at(4, { roster: fingerprint(present.configured) })
    assert.deepStrictEqual(lackingOf(cursor, { ...facts(present), lane: 2 }), [leaves])
    assert.deepStrictEqual(planMembers(cursor, facts({ ...present, admitted: new Map() })).steps, [])
    const plan = planMembers(cursor, facts({ ...present, admitted: new Map([[leaves, 70]]) }))
    assert.deepStrictEqual(plan.cursor.next, { [leaves]: 70 })
    assert.deepStrictEqual(subjectsOf(plan), ["deliveries-2.roster"])
  })
})

/** Numbers below a bound, the same for each seed. */
const numbers = (seed: number) => {
  let state = seed * 2_654_435_761 + 1
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describe("any history of endpoints", () => {
  it("gives each present one a place, plans nothing twice, and moves no place", () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const below = numbers(seed)
      const some = (from: ReadonlyArray<string>) => from.filter(() => below(2) === 0)
      let [cursor, has, revision] = [beginCursor(0), members({}), 0]
      for (let turn = 0; turn < 30; turn += 1) {
        cursor = { ...cursor, position: cursor.position + below(5) }
        const configured = some(ids.slice(0, 4)).map(endpoint)
        const others = ids.slice(4, 10)
        const atRunTime = some(others).map((id) => made(id, below(cursor.position + 3)))
        const gone = others.filter((id) => atRunTime.every((each) => each.id !== id))
        const leaving = some(gone).map((id) => ({ id, name: id, revision: ++revision }))
        const left = new Set(leaving.map(({ id }) => id))
        const known = { ...has, atRunTime: new Set([...has.atRunTime].filter((id) => !left.has(id))) }
        const now = facts({
          members: known,
          configured,
          atRunTime,
          leaving,
          revision: ++revision,
          roster: { lastSequence: cursor.position, nowMs: turn * hourMs, archiveAfterMs: 5 * hourMs }
        })
        const plan = planMembers(cursor, now)
        assert.deepStrictEqual(lackingOf(plan.cursor, { ...now, members: plan.members }), [])
        assert.isTrue(hasLetGo(plan.cursor, leaving))
        const archived = new Set(plan.archived.map(({ id }) => id))
        for (const [id, first] of Object.entries(cursor.next)) {
          const isKept = (known.configured[id] !== undefined || known.atRunTime.has(id)) && !left.has(id)
          if (isKept && !archived.has(id)) assert.strictEqual(plan.cursor.next[id], first)
        }
        assert.deepStrictEqual(planMembers(plan.cursor, { ...now, members: plan.members }).steps, [])
        cursor = plan.cursor
        has = plan.members
      }
    }
  })
})
