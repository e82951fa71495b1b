/**
 * Removed endpoints are archived once no dispatcher sends to them any more, and no lane makes deliveries for them.
 * Alongside the first lane's turns, their deliveries go to ABANDONED, and then their records are deleted. A process
 * that dies in between leaves the record, and the next one starts over.
 */
import { Effect, Option } from "effect"
import { deleted, kept, records, StreamReader } from "#bus"
import { deliveryStream, subjects } from "#base"
import { dispatchersBehind, openPresences } from "#webhooks"
import { AbandonedDeliveries, logRemoved, removed } from "../abandoned.ts"
import { DeliveryLanes, throttled } from "../lanes.ts"
import { DeliveryOrder } from "../order/DeliveryOrder.ts"
import { Endpoints, type LeavingEndpoint } from "../endpoints/Endpoints.ts"
import { hasLetGo, newestOf } from "./members.ts"

// Few enough that a restarted process has little to repeat.
const removalsAtOnce = 16
// An unresponsive dispatcher must not cost a request at every turn.
const lookEveryMs = 250

interface Services extends Effect.Success<typeof services> {}

const services = Effect.gen(function* () {
  return {
    endpoints: yield* Endpoints,
    lanes: yield* DeliveryLanes,
    reader: yield* StreamReader,
    presences: yield* openPresences,
    abandoned: yield* AbandonedDeliveries,
    order: yield* DeliveryOrder
  }
})

/** Checks once whether removed endpoints can be archived, and starts doing so; call it repeatedly. */
export const openRemovals = Effect.gen(function* () {
  const deps = yield* services
  const { endpoints, lanes, presences } = deps
  const scope = yield* Effect.scope
  const mayLook = throttled(lookEveryMs)
  let isAtWork = false

  const archiveAll = (leaving: ReadonlyArray<LeavingEndpoint>) =>
    Effect.forEach(leaving, (endpoint) => archive(deps, endpoint), { discard: true }).pipe(
      Effect.catch((error) => Effect.logWarning("a removed endpoint's deliveries are archived later", error)),
      Effect.ensuring(Effect.sync(() => (isAtWork = false)))
    )
  return Effect.gen(function* () {
    if (isAtWork || !(yield* mayLook)) return
    const leaving = [...endpoints.leaving().values()].slice(0, removalsAtOnce)
    if ((yield* dispatchersBehind(presences, newestOf(leaving))).length > 0) return
    // As stored, including this lane's: another dispatcher may have taken it.
    const { cursors } = yield* lanes.read
    if (!cursors.every((cursor) => hasLetGo(cursor, leaving))) return
    isAtWork = true
    yield* Effect.forkIn(archiveAll(leaving), scope)
  })
})

const looksEmpty = 2

const archive = Effect.fnUntraced(function* (
  { endpoints, lanes, reader, abandoned, order }: Services,
  { id, name, revision }: LeavingEndpoint
) {
  const { bucket } = endpoints.store
  let [deliveries, empty] = [0, 0]
  let below: ReadonlyArray<number> = []
  // A delivery can be forwarded meanwhile, from a lane not yet checked to one already checked: the next check finds it.
  while (empty < looksEmpty) {
    // Messages stored from here on can belong to an endpoint recreated under the name, if another process was faster.
    below = yield* lanes.ends
    const record = yield* bucket.get(id)
    if (Option.isNone(record) || record.value.revision !== revision) return
    const found = yield* abandoned.endpoint({ id, name, reason: removed, below })
    deliveries += found
    empty = found === 0 ? empty + 1 : 0
  }
  yield* logRemoved({ name, reason: removed }, deliveries)
  yield* order.forgetGaps(id)
  for (const lane of lanes.all) {
    yield* reader.purge(deliveryStream(lane), subjects.deliveries(lane).rosterOf(id), below[lane])
  }
  yield* records(bucket).change(id, (_, standing) =>
    standing.revision === revision ? deleted(undefined, "erase") : kept(undefined)
  )
})
