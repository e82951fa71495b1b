/**
 * The plan of a lane's members: which endpoints its fan-out has, and where each begins, from its cursor and the facts.
 * Pure. In order, the lane follows the number of lanes, releases what another lane has taken over, takes new runtime
 * endpoints, forgets removed ones, and follows the configuration: an endpoint new there starts now; one that left it is
 * absent, and can return and miss nothing until it is archived.
 */
import { hash } from "node:crypto"
import { type BatchMessage, header } from "#bus"
import { deliveryLaneOf } from "#webhooks/contract"
import { subjects } from "#base"
import { type FanOutCursor, firstNeeded, type Members, park, placed, rosterCodec } from "#webhooks"
import { isOwn, lanesOf, rearranged, withoutLeft } from "../lane-cursors.ts"
import type { Admissions, LaneFacts } from "../lanes.ts"
import type { LeavingEndpoint } from "../endpoints/Endpoints.ts"
import type { FanOutStep } from "./plan.ts"

interface NamedEndpoint {
  readonly id: string
  readonly name: string
}

/** A runtime endpoint, and the last event before its own. */
interface RuntimeEndpoint {
  readonly id: string
  readonly startsAfter: number
}

export interface MemberFacts {
  readonly lane: number
  /** As stored beside the cursor, excluding endpoints that are leaving. */
  readonly members: Members
  /** All present endpoints, in any lane. */
  readonly configured: ReadonlyArray<NamedEndpoint>
  readonly atRunTime: ReadonlyArray<RuntimeEndpoint>
  readonly leaving: ReadonlyArray<LeavingEndpoint>
  /** The change of runtime endpoints up to which all this holds. */
  readonly revision: number
  /** The endpoints that the lane can take; undefined for a lane that is alone, and takes all. */
  readonly admitted: Admissions | undefined
  /** Undefined until the other lanes have been read. */
  readonly lanes: LaneFacts | undefined
  /** Undefined when the roster need not be checked. */
  readonly roster: RosterFacts | undefined
}

interface RosterFacts {
  /** The last sequence of EVENTS. */
  readonly lastSequence: number
  readonly nowMs: number
  readonly archiveAfterMs: number
}

export interface MemberPlan {
  readonly steps: ReadonlyArray<FanOutStep>
  readonly cursor: FanOutCursor
  readonly members: Members
  /** Endpoints taken over by another lane; their own messages must be removed here before the steps are written. */
  readonly takenOver: ReadonlyArray<string>
  /** Configured endpoints absent for too long, whose deliveries must be archived before that. */
  readonly archived: ReadonlyArray<NamedEndpoint>
}

export const planMembers = (start: FanOutCursor, facts: MemberFacts): MemberPlan =>
  [followLanes, letOthersHave, takeNew, forgetRemoved, followConfiguration].reduce<MemberPlan>(
    (plan, move) => move(plan, facts),
    { steps: [], cursor: start, members: facts.members, takenOver: [], archived: [] }
  )

/** Identifies a set of configured endpoints. */
export const fingerprint = (configured: ReadonlyArray<Pick<NamedEndpoint, "id">>) =>
  hash("sha256", JSON.stringify(configured.map(({ id }) => id).toSorted()), "hex").slice(0, 32)

const hasMember = ({ configured, atRunTime }: Members, id: string) => configured[id] !== undefined || atRunTime.has(id)

type Present = Pick<MemberFacts, "lane" | "members" | "configured" | "atRunTime">

/** The endpoints that belong to the lane by its cursor, but that it does not have yet. */
export const lackingOf = (cursor: FanOutCursor, { lane, members, configured, atRunTime }: Present) => [
  ...configured.flatMap(({ id }) => (isOwn(cursor, lane, id) && !hasMember(members, id) ? [id] : [])),
  ...atRunTime.flatMap(({ id }) => (isOwn(cursor, lane, id) && !members.atRunTime.has(id) ? [id] : []))
]

/** The members without certain runtime endpoints; the same value if it has none of them. */
export const withoutRuntime = (members: Members, ids: Iterable<string>): Members => {
  const removed = new Set(ids)
  if (![...removed].some((id) => members.atRunTime.has(id))) return members
  return { ...members, atRunTime: new Set([...members.atRunTime].filter((id) => !removed.has(id))) }
}

/**
 * Whether a lane has had a turn in which it knew of these removals. Until then it can still write what it planned
 * before, or mistake an endpoint recreated under the name for the former one, and give it the events in between.
 */
export const hasLetGo = (cursor: FanOutCursor | undefined, leaving: ReadonlyArray<LeavingEndpoint>) =>
  cursor !== undefined &&
  (cursor.revision ?? 0) >= newestOf(leaving) &&
  !leaving.some(({ id }) => cursor.next[id] !== undefined || cursor.left?.[id] !== undefined)

export const newestOf = (leaving: ReadonlyArray<LeavingEndpoint>) =>
  Math.max(...leaving.map(({ revision }) => revision))

type Move = (plan: MemberPlan, facts: MemberFacts) => MemberPlan

const stepped = (
  plan: MemberPlan,
  { messages, cursor, ...changed }: FanOutStep & Partial<Omit<MemberPlan, "steps">>
): MemberPlan => ({ ...plan, ...changed, cursor, steps: [...plan.steps, { messages, cursor }] })

/**
 * The number and the departing endpoints are written together: a reader of the new number alone would think that
 * endpoints yet to leave had moved.
 */
const followLanes: Move = (plan, { lane, lanes, configured, atRunTime }) => {
  if (lanes === undefined) return plan
  const { count } = lanes
  const numbered = renumbered(plan.cursor, lane, lanes)
  const known = [...configured, ...atRunTime].flatMap(({ id }) => (hasMember(plan.members, id) ? [id] : []))
  const isToLeave = (id: string) => deliveryLaneOf(id, count) !== lane && numbered.left?.[id] === undefined
  const isArranged = lanesOf(numbered) === count && !known.some(isToLeave)
  const cursor = isArranged ? numbered : rearranged(numbered, { lane, count, known })
  return cursor === plan.cursor ? plan : stepped(plan, { messages: [], cursor })
}

/** The first lane's cursor with the number before a change, or without it at the end. */
const renumbered = (cursor: FanOutCursor, lane: number, { count, isMoved }: LaneFacts): FanOutCursor => {
  if (lane !== 0) return cursor
  const { lanesBefore, ...others } = cursor
  if (lanesBefore !== undefined) return isMoved ? others : cursor
  return count === lanesOf(cursor) ? cursor : { ...cursor, lanesBefore: lanesOf(cursor) }
}

const letOthersHave: Move = (plan, { lane, lanes }) => {
  const { cursor, members } = plan
  const left = Object.entries(cursor.left ?? {})
  if (lanes === undefined || left.length === 0) return plan
  const count = lanesOf(cursor)
  const takenOver = left.flatMap(([id]) => {
    const other = lanes.others[deliveryLaneOf(id, count)]
    return other?.count === count && other.has.has(id) ? [id] : []
  })
  // One that returned to this lane before another took it over belongs to it again, at its place.
  const back = left.filter(([id]) => deliveryLaneOf(id, count) === lane)
  if (takenOver.length === 0 && back.length === 0) return plan
  const rest = withoutMembers(members, takenOver)
  return stepped(plan, {
    messages: takenOver.length === 0 ? [] : [rosterMessage(lane, rest)],
    cursor: withoutLeft(placed(cursor, back), [...takenOver, ...back.map(([id]) => id)]),
    members: rest,
    takenOver
  })
}

const withoutMembers = (members: Members, ids: ReadonlyArray<string>): Members => {
  const removed = new Set(ids)
  const configured = Object.fromEntries(Object.entries(members.configured).filter(([id]) => !removed.has(id)))
  return { ...withoutRuntime(members, ids), configured }
}

// With the cursor they fill one atomic write of the broker's.
const newMax = 500

/** Runtime endpoints get their place; one that has become unreadable is parked. */
const takeNew: Move = (plan, { lane, atRunTime, configured, leaving, revision, admitted }) => {
  const { cursor, members } = plan
  const isNew = ({ id }: RuntimeEndpoint) =>
    !members.atRunTime.has(id) && isOwn(cursor, lane, id) && (admitted === undefined || admitted.has(id))
  const fresh = atRunTime.filter(isNew)
  const lost = lostOf(plan, { atRunTime, configured, leaving })
  if (fresh.length === 0 && lost.length === 0) return plan
  let current: FanOutCursor = { ...lost.reduce(park, cursor), revision }
  const steps: Array<FanOutStep> = []
  for (let from = 0; from === 0 || from < fresh.length; from += newMax) {
    const page = fresh.slice(from, from + newMax)
    // One that was configured before resumes where it was.
    const without = page.filter(({ id }) => members.configured[id] === undefined)
    const firsts = without.map(({ id, startsAfter }) => [id, admitted?.get(id) ?? startsAfter + 1] as const)
    current = placed(current, firsts)
    steps.push({ messages: page.map(({ id }) => memberMessage(lane, id)), cursor: current })
  }
  const known = new Set([...members.atRunTime, ...fresh.map(({ id }) => id)])
  return { ...plan, steps: [...plan.steps, ...steps], cursor: current, members: { ...members, atRunTime: known } }
}

/** A removed endpoint counts as present until it is archived. */
const lostOf = (
  { cursor, members }: MemberPlan,
  there: Pick<MemberFacts, "atRunTime" | "configured" | "leaving">
): ReadonlyArray<string> => {
  const present = new Set([...there.atRunTime, ...there.configured, ...there.leaving].map(({ id }) => id))
  const hasPlace = (id: string) => cursor.next[id] !== undefined || cursor.left?.[id] !== undefined
  return [...members.atRunTime].filter((id) => !present.has(id) && !hasPlace(id))
}

/** Removed endpoints lose their places; the cursor's revision reports that to the first lane. */
const forgetRemoved: Move = (plan, { leaving }) => {
  const { cursor } = plan
  if (hasLetGo(cursor, leaving)) return plan
  const ids = leaving.map(({ id }) => id)
  const next = { ...cursor.next }
  for (const id of ids) delete next[id]
  const revision = Math.max(cursor.revision ?? 0, newestOf(leaving))
  return stepped(plan, { messages: [], cursor: withoutLeft({ ...cursor, next, revision }, ids) })
}

const followConfiguration: Move = (plan, facts) => {
  const { lane, configured, admitted, roster } = facts
  if (roster === undefined) return plan
  const { cursor, members } = plan
  const ours = fingerprint(configured)
  const { present, archived, parked } = absences(plan, facts, roster)
  const isNew = ({ id }: NamedEndpoint) =>
    isOwn(cursor, lane, id) && !hasMember(members, id) && (admitted === undefined || admitted.has(id))
  const fresh = configured.filter(isNew)
  if (cursor.roster === ours && fresh.length === 0 && archived.length === 0) return plan
  const known = configured.filter(({ id }) => isOwn(cursor, lane, id) && hasMember(members, id))
  for (const { id, name } of [...known, ...fresh]) present[id] = { name, absentSinceMs: null }
  const firstOf = (id: string) => admitted?.get(id) ?? Math.max(roster.lastSequence + 1, firstNeeded(parked, id))
  // The cursor of a lane that is alone names this configuration: the stored roster was lost, and all keep their places.
  const isRosterLost = cursor.roster === ours && admitted === undefined
  const started = isRosterLost
    ? parked
    : placed(
        parked,
        fresh.map(({ id }) => [id, firstOf(id)])
      )
  const changed: Members = { ...members, configured: present }
  const messages = [rosterMessage(lane, changed)]
  return stepped(plan, { messages, cursor: { ...started, roster: ours }, members: changed, archived })
}

/** What happens to the lane's endpoints that the configuration lacks, or has for another lane. */
const absences = (
  { cursor, members }: MemberPlan,
  { lane, configured, atRunTime }: MemberFacts,
  { nowMs, archiveAfterMs }: RosterFacts
) => {
  const ofFile = new Set(configured.map(({ id }) => id))
  const remade = new Set(atRunTime.map(({ id }) => id))
  const present: Record<string, { name: string; absentSinceMs: number | null }> = {}
  const archived: Array<NamedEndpoint> = []
  let parked = cursor
  for (const [id, { name, absentSinceMs: since }] of Object.entries(members.configured)) {
    // A runtime endpoint under its name resumes in its place.
    if (remade.has(id) || (ofFile.has(id) && isOwn(cursor, lane, id))) continue
    const absentSinceMs = ofFile.has(id) ? null : (since ?? nowMs)
    if (absentSinceMs !== null && nowMs - absentSinceMs >= archiveAfterMs) {
      archived.push({ id, name })
      continue
    }
    present[id] = { name, absentSinceMs }
    if (absentSinceMs !== null && parked.left?.[id] === undefined) parked = park(parked, id)
  }
  if (archived.length === 0) return { present, archived, parked }
  const ids = archived.map(({ id }) => id)
  const next = { ...parked.next }
  for (const id of ids) delete next[id]
  const rest = { ...parked, next }
  return { present, archived, parked: rest.left === undefined ? rest : withoutLeft(rest, ids) }
}

const rosterMessage = (lane: number, { configured }: Members): BatchMessage => ({
  subject: subjects.deliveries(lane).roster,
  data: rosterCodec.encode({ endpoints: configured }).data,
  headers: [[header.rollup, "sub"]]
})

const memberMessage = (lane: number, id: string): BatchMessage => ({
  subject: subjects.deliveries(lane).rosterOf(id),
  data: new Uint8Array(0),
  headers: [[header.rollup, "sub"]]
})
