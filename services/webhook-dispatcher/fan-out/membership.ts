/**
 * A lane's membership: gathers the facts about endpoints, lanes and their stored state, has the members planned from
 * these, and does what the plan needs before its steps are written. It asks the broker only where something changed,
 * and remembers the members of a cursor that no other process has taken.
 */
import { Clock, Effect } from "effect"
import { type BusError, StreamReader } from "#bus"
import { deliveryStream, subjects } from "#base"
import { Configuration } from "#configuration"
import type { FanOutCursor, Members } from "#webhooks"
import { AbandonedDeliveries, logRemoved } from "../abandoned.ts"
import { Endpoints } from "../endpoints/Endpoints.ts"
import type { EndpointSettings } from "../endpoints/settings.ts"
import { areAligned, isOwn } from "../lane-cursors.ts"
import { type Admissions, DeliveryLanes, idsOf, throttled } from "../lanes.ts"
import { fingerprint, hasLetGo, lackingOf, type MemberPlan, planMembers, withoutRuntime } from "./members.ts"
import { openRemovals } from "./removals.ts"
import type { FanOutStep } from "./plan.ts"

const absent = "the endpoint is no longer configured"
// Absence is counted in hours, so one check a minute is enough.
const rosterEveryMs = 60_000
// A request to every lane, while an endpoint waits for its old lane.
const askEveryMs = 200
// One or two requests to each lane, and only while there is something to arrange.
const arrangeEveryMs = 200
// Whether the number changed, or an endpoint returned that belongs elsewhere.
const lookEveryMs = 2_000

export interface Membership extends Effect.Success<ReturnType<typeof membershipOf>> {}

export const membershipOf = Effect.fnUntraced(function* (lane: number) {
  const deps = yield* dependenciesOf(lane)
  const state: State = { members: undefined, readFor: [], isComplete: false, targets: [], rosterAtMs: 0 }
  return {
    /** The steps that bring the cursor in line with the present endpoints. */
    keep: (cursor: FanOutCursor) => keep(deps, state, cursor),
    /** The endpoints that receive events, as of the last steps. The same array until that changes. */
    targets: () => state.targets,
    /** Another process held the cursor: the lane's members are read again. */
    forget: () => void (state.members = undefined)
  }
})

interface State {
  members: Members | undefined
  /** The inputs of the last plan. */
  readFor: ReadonlyArray<unknown>
  /** Whether the lane has every endpoint that belongs to it. */
  isComplete: boolean
  targets: ReadonlyArray<EndpointSettings>
  rosterAtMs: number
}

const keep = Effect.fnUntraced(function* (
  deps: Dependencies,
  state: State,
  cursor: FanOutCursor
): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
  const { lane, endpoints, lanes } = deps
  const nowMs = yield* Clock.currentTimeMillis
  const laneFacts = (yield* deps.mayFollowLanes(cursor)) ? yield* lanes.factsFor(lane, cursor) : undefined
  const leaving = leavingOf(deps, state)
  const isLetGo = hasLetGo(cursor, leaving)
  // The first lane archives them, once every lane has released them.
  if (lane === 0 && leaving.length > 0 && isLetGo) yield* deps.removals
  const isRosterDue = cursor.roster !== deps.ours || nowMs - state.rosterAtMs >= rosterEveryMs
  const isSettled = state.isComplete && areSame(inputsOf(endpoints.all(), state.members, cursor), state.readFor)
  if (isSettled && isLetGo && laneFacts === undefined && !isRosterDue) return []

  // A twin may have known changes that this process has not read yet.
  if ((cursor.revision ?? 0) > endpoints.revision()) yield* endpoints.catchUp
  const members = (state.members ??= yield* deps.stored)
  const admitted = yield* deps.admissions(cursor, members)
  const roster = isRosterDue || isTaking(deps, state, cursor, admitted) ? yield* deps.rosterFacts(nowMs) : undefined
  if (roster !== undefined) state.rosterAtMs = nowMs
  const plan = planMembers(cursor, {
    lane,
    leaving: leavingOf(deps, state),
    members: state.members,
    ...presentIn(endpoints),
    revision: endpoints.revision(),
    admitted,
    lanes: laneFacts,
    roster
  })
  adopt(deps, state, plan)
  yield* deps.prepare(plan)
  return plan.steps
})

/** Forgets the leaving endpoints before anything is read: a recreated one counts as new. */
const leavingOf = ({ endpoints }: Dependencies, state: State) => {
  const leaving = [...endpoints.leaving().values()]
  state.members &&= withoutRuntime(state.members, endpoints.leaving().keys())
  return leaving
}

/** Whether the lane takes an endpoint of the configuration now: one that moves here, or all of a roster that was lost. */
const isTaking = (
  { lane, endpoints }: Dependencies,
  { members }: State,
  cursor: FanOutCursor,
  admitted: Admissions | undefined
) => {
  if (members === undefined) return false
  const lacking = lackingOf(cursor, { lane, members, configured: endpoints.configured, atRunTime: [] })
  return lacking.some((id) => admitted === undefined || admitted.has(id))
}

const adopt = ({ lane, endpoints }: Dependencies, state: State, { cursor, members }: MemberPlan) => {
  const all = endpoints.all()
  state.members = members
  state.isComplete = lackingOf(cursor, { lane, members, ...presentIn(endpoints) }).length === 0
  const inputs = inputsOf(all, members, cursor)
  if (areSame(inputs, state.readFor)) return
  state.readFor = inputs
  const has = idsOf(members)
  state.targets = all.filter(({ id }) => isOwn(cursor, lane, id) && has.has(id))
}

const inputsOf = (
  all: ReadonlyArray<EndpointSettings>,
  members: Members | undefined,
  { lanes, left }: FanOutCursor
) => [all, members, lanes, left]

const areSame = (some: ReadonlyArray<unknown>, others: ReadonlyArray<unknown>) =>
  some.length === others.length && some.every((each, index) => each === others[index])

/** The present endpoints, as a plan takes them. */
const presentIn = ({ configured, all }: Endpoints["Service"]) => ({
  configured,
  atRunTime: all().flatMap(({ id, madeAtRunTime }) =>
    madeAtRunTime === null ? [] : [{ id, startsAfter: madeAtRunTime.startsAfter }]
  )
})

interface Dependencies extends Effect.Success<ReturnType<typeof dependenciesOf>> {}

const none: Admissions = new Map()

const dependenciesOf = Effect.fnUntraced(function* (lane: number) {
  const endpoints = yield* Endpoints
  const lanes = yield* DeliveryLanes
  const reader = yield* StreamReader
  const abandoned = yield* AbandonedDeliveries
  const archiveAfterMs = (yield* Configuration).WebhookDelivery.ArchiveAfterHours * 3_600_000
  const isAlone = lanes.all.length === 1
  const [mayAsk, mayArrange, mayLook] = [throttled(askEveryMs), throttled(arrangeEveryMs), throttled(lookEveryMs)]

  /** An endpoint takes its place along to another lane, but not its events ahead of it. */
  const mayFollowLanes = (cursor: FanOutCursor) => {
    if (isAlone || cursor.ahead !== undefined) return Effect.succeed(false)
    const now = lanes.state()
    return now.before !== undefined || cursor.left !== undefined || !areAligned(now) ? mayArrange : mayLook
  }
  const admissions = Effect.fnUntraced(function* (cursor: FanOutCursor, members: Members) {
    if (isAlone) return undefined
    const lacking = lackingOf(cursor, { lane, members, ...presentIn(endpoints) })
    return lacking.length > 0 && (yield* mayAsk) ? yield* lanes.admissions(lane, lacking) : none
  })
  const stored = Effect.suspend(() => {
    // Those can be archived and recreated before the answer arrives.
    const leavingIds = [...endpoints.leaving().keys()]
    return Effect.map(lanes.membersOf(lane), (found) => withoutRuntime(found, leavingIds))
  })
  const rosterFacts = (nowMs: number) =>
    Effect.map(reader.bounds("EVENTS"), ({ lastSequence }) => ({ lastSequence, nowMs, archiveAfterMs }))
  const prepare = Effect.fnUntraced(function* ({ takenOver, archived }: MemberPlan): Effect.fn.Return<void, BusError> {
    for (const id of takenOver) yield* reader.purge(deliveryStream(lane), subjects.deliveries(lane).rosterOf(id))
    if (archived.length === 0) return
    const below = yield* lanes.ends
    for (const endpoint of archived) {
      const archival = { ...endpoint, reason: absent, below }
      yield* logRemoved(archival, yield* abandoned.endpoint(archival))
    }
  })
  const ours = fingerprint(endpoints.configured)
  const removals = yield* openRemovals
  return { lane, endpoints, lanes, ours, removals, stored, mayFollowLanes, admissions, rosterFacts, prepare }
})
