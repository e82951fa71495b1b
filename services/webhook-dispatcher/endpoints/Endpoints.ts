/**
 * All endpoints, sorted by id: the configured ones, fixed while the process runs, and the runtime ones, which follow
 * their bucket. A configured endpoint wins by name.
 */
import { Context, Deferred, Effect, Layer, Option, Result, Schedule, Stream } from "effect"
import {
  type BusError,
  BusUnavailable,
  kept,
  type KvBucket,
  type KvChange,
  type KvEntry,
  records,
  replaced
} from "#bus"
import type { DispatcherPresence, EndpointRecord } from "#webhooks/contract"
import { Configuration } from "#configuration"
import { EventTypes } from "#events"
import { InvalidConfiguration, check } from "#runtime"
import {
  configuredSeal,
  type EndpointStore,
  isUnencrypted,
  eventNames,
  filterFaults,
  openEndpointStore,
  openPresences,
  type SecretSeal,
  withoutOldSecrets
} from "#webhooks"
import { followFiles, watchCertificates } from "./connection.ts"
import { holdPresence } from "./presence.ts"
import { commonSettings, configuredEndpoints, type EndpointSettings, settingsOfRecord } from "./settings.ts"

/** A removed endpoint whose deliveries are not archived yet. */
export interface LeavingEndpoint {
  readonly id: string
  readonly name: string
  readonly revision: number
}

export class Endpoints extends Context.Service<
  Endpoints,
  {
    readonly configured: ReadonlyArray<EndpointSettings>
    /** The present endpoints; the same array until one changes. */
    readonly all: () => ReadonlyArray<EndpointSettings>
    readonly byId: (id: string) => EndpointSettings | undefined
    readonly leaving: () => ReadonlyMap<string, LeavingEndpoint>
    /** Whether nothing is left of it: one that is leaving, or cannot be read, still exists. */
    readonly isRemoved: (id: string) => boolean
    /** The bucket's change up to which all this holds. */
    readonly revision: () => number
    /** Completes when every change stored by now is in `all` and acted on. */
    readonly catchUp: Effect.Effect<void, BusError>
    /** How many dispatchers live, this one included; counted while an endpoint has a rate. */
    readonly dispatchers: () => number
    /** Whether a request can be sent now. A runtime endpoint may have been removed meanwhile. */
    readonly mayLeave: (endpoint: EndpointSettings) => boolean
    /** Sets the handler for the ids of changed endpoints. A change counts as acted on when it completes. */
    readonly onChange: (act: (ids: ReadonlyArray<string>) => Effect.Effect<void>) => Effect.Effect<void>
    /** Completes when an endpoint exists. */
    readonly first: Effect.Effect<void>
    readonly store: EndpointStore
  }
>()("starling/webhook-dispatcher/Endpoints") {
  static readonly layer = Layer.effect(
    Endpoints,
    Effect.gen(function* () {
      const configured = yield* configuredEndpoints
      yield* checkFilters
      yield* followFiles(configured)
      const store = yield* openEndpointStore
      const copy = endpointsCopy(configured, yield* readerOfRecords)
      yield* watchCertificates(copy.all)
      yield* watchEncryption(copy.unencrypted)
      let act: (ids: ReadonlyArray<string>) => Effect.Effect<void> = () => Effect.void
      let actsOn = 0
      const first = Deferred.makeUnsafe<void>()

      const catchUp = catchUpOf(store, () => actsOn)
      const presences = yield* openPresences
      const presence = yield* holdPresence({
        presences,
        actsOn: () => actsOn,
        catchUp,
        lanes: (yield* Configuration).WebhookDelivery.Lanes
      })
      const apply = Effect.fnUntraced(function* (changes: ReadonlyArray<KvChange<EndpointRecord>>) {
        const ids = yield* Effect.forEach(changes, copy.apply)
        yield* act([...new Set(ids)])
        actsOn = copy.revision()
        yield* presence.announce
        if (copy.all().length > 0) Deferred.doneUnsafe(first, Effect.void)
      })
      yield* load(store, copy, apply)
      if (copy.all().length > 0) Deferred.doneUnsafe(first, Effect.void)
      yield* Effect.forkScoped(follow(store, copy, apply))
      yield* Effect.forkScoped(
        Effect.repeat(Effect.ignore(dropOldSecrets(store, copy.rotating)), Schedule.spaced(dropEvery))
      )

      const dispatchers = yield* countDispatchers(presences, copy.all)
      return Endpoints.of({
        configured,
        dispatchers,
        all: copy.all,
        byId: copy.byId,
        leaving: () => copy.leaving,
        isRemoved: copy.isRemoved,
        revision: copy.revision,
        catchUp,
        mayLeave: (endpoint) => endpoint.madeAtRunTime === null || presence.isCurrent(),
        onChange: (next) => Effect.sync(() => void (act = next)),
        first: Deferred.await(first),
        store
      })
    })
  )
}

/** Fails with every filter that no event can pass; where events may come that nobody declared, it warns. */
const checkFilters = Effect.gen(function* () {
  const types = yield* EventTypes
  yield* types.catchUp
  const faults = (yield* Configuration).Webhooks.flatMap((filters, index) =>
    filterFaults(filters, eventNames(types)).map(({ path, message }) => ({
      path: `Webhooks[${index}]${path.replaceAll(/\/(\d+)/gu, "[$1]").replaceAll("/", ".")}`,
      message
    }))
  )
  if (faults.length === 0) return
  if (!types.takesUndeclared) return yield* new InvalidConfiguration({ faults })
  yield* Effect.logWarning("filters name events that are not declared").pipe(Effect.annotateLogs({ faults }))
})

/** Where the streams are somebody's, so are their backups: secrets belong encrypted there. */
const watchEncryption = Effect.fnUntraced(function* (unencrypted: ReadonlyMap<string, string>) {
  if ((yield* Configuration).Bus.Topology !== "verify") return
  const run = Effect.suspend(() =>
    unencrypted.size === 0
      ? Effect.void
      : Effect.fail(
          `secrets of ${unencrypted.size} endpoints are not encrypted on the bus, which the next release refuses: set WebhookDelivery.SecretsKeyEnvVar, then ./starling endpoints reseal`
        )
  )
  yield* check({ name: "sealing", run })
})

const countEvery = "1 second"

const countDispatchers = Effect.fnUntraced(function* (
  presences: KvBucket<DispatcherPresence>,
  all: () => ReadonlyArray<EndpointSettings>
) {
  let dispatchers = 1
  const count = Effect.suspend(() =>
    all().some(({ ratePerSecond }) => ratePerSecond !== undefined)
      ? Effect.map(Stream.runCount(presences.scan("*")), (present) => void (dispatchers = Math.max(1, present)))
      : Effect.void
  )
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(count), Schedule.spaced(countEvery)))
  return () => dispatchers
})

type ReadRecord = (record: EndpointRecord) => ReturnType<typeof settingsOfRecord>

const readerOfRecords = Effect.gen(function* () {
  const { WebhookDelivery } = yield* Configuration
  const seal: SecretSeal = yield* configuredSeal(WebhookDelivery)
  const common = yield* commonSettings
  const read: ReadRecord = (record) => settingsOfRecord(record, common, seal)
  return read
})

interface EndpointsCopy {
  readonly all: () => ReadonlyArray<EndpointSettings>
  readonly byId: (id: string) => EndpointSettings | undefined
  readonly leaving: ReadonlyMap<string, LeavingEndpoint>
  readonly revision: () => number
  /** The names of those with something that is only encoded on the bus. */
  readonly unencrypted: ReadonlyMap<string, string>
  /** The ids with an expiring secret. */
  readonly rotating: ReadonlySet<string>
  readonly isRemoved: (id: string) => boolean
  /** The ids of runtime endpoints. */
  readonly ids: () => ReadonlyArray<string>
  /** Applies one change, and returns its id. */
  readonly apply: (change: KvChange<EndpointRecord>) => Effect.Effect<string>
}

const endpointsCopy = (configured: ReadonlyArray<EndpointSettings>, read: ReadRecord): EndpointsCopy => {
  const present = new Map(configured.map((endpoint) => [endpoint.id, endpoint]))
  const ofFile = new Set(present.keys())
  const leaving = new Map<string, LeavingEndpoint>()
  const stored = new Set<string>()
  const rotating = new Set<string>()
  const unencrypted = new Map<string, string>()
  let all = configured
  let revision = 0

  const put = (id: string, endpoint: EndpointSettings | undefined) => {
    if (endpoint === undefined) present.delete(id)
    else present.set(id, endpoint)
    all = withEndpoint(all, id, endpoint)
  }
  const apply = Effect.fnUntraced(function* ({ key: id, revision: changed, entry }: KvChange<EndpointRecord>) {
    revision = Math.max(revision, changed)
    leaving.delete(id)
    rotating.delete(id)
    unencrypted.delete(id)
    if (Option.isSome(entry) && isUnencrypted(entry.value.value)) unencrypted.set(id, entry.value.value.name)
    if (Option.isSome(entry) && hasEnd(entry.value.value)) rotating.add(id)
    if (Option.isNone(entry)) stored.delete(id)
    else stored.add(id)
    if (ofFile.has(id)) {
      if (Option.isSome(entry)) yield* warn("an endpoint of the configuration hides one made at run time", entry.value)
      return id
    }
    if (Option.isNone(entry)) put(id, undefined)
    else if (entry.value.value.removed !== null) {
      leaving.set(id, { id, name: entry.value.value.name, revision: entry.value.revision })
      put(id, undefined)
    } else {
      const settings = read(entry.value.value)
      if (Result.isFailure(settings)) {
        yield* warn("an endpoint made at run time cannot be used: its events wait", entry.value).pipe(
          Effect.annotateLogs({ faults: settings.failure })
        )
      }
      put(id, Result.getOrUndefined(settings))
    }
    return id
  })
  return {
    all: () => all,
    byId: (id) => present.get(id),
    leaving,
    rotating,
    unencrypted,
    revision: () => revision,
    isRemoved: (id) => !present.has(id) && !stored.has(id),
    ids: () => [...stored],
    apply
  }
}

const hasEnd = ({ secrets, standardWebhooksSecrets }: EndpointRecord) =>
  [...secrets, ...standardWebhooksSecrets].some(({ notAfterMs }) => notAfterMs !== null)

// An expired secret signs nothing; it only remains to be removed from the bucket.
const dropEvery = "5 seconds"

/** Removes expired secrets from the bucket. Any dispatcher can be the first. */
const dropOldSecrets = Effect.fnUntraced(function* ({ bucket }: EndpointStore, rotating: ReadonlySet<string>) {
  for (const id of rotating) {
    yield* records(bucket).change(id, (before, { nowMs }) => {
      const after = before && withoutOldSecrets(before, nowMs)
      return after === undefined ? kept(before) : replaced(after)
    })
  }
})

const warn = (message: string, { value }: KvEntry<EndpointRecord>) =>
  Effect.logWarning(message).pipe(Effect.annotateLogs({ endpoint: value.name }))

/** The list with one endpoint inserted, replaced or removed; still sorted by id. */
export const withEndpoint = <A extends { readonly id: string }>(
  all: ReadonlyArray<A>,
  id: string,
  endpoint: A | undefined
): ReadonlyArray<A> => {
  let [low, high] = [0, all.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((all[middle]?.id ?? "") < id) low = middle + 1
    else high = middle
  }
  const isThere = all[low]?.id === id
  return all.toSpliced(low, isThere ? 1 : 0, ...(endpoint === undefined ? [] : [endpoint]))
}

type Apply = (changes: ReadonlyArray<KvChange<EndpointRecord>>) => Effect.Effect<void>

/** Loads the complete bucket. Endpoints missing since the last load count as removed. */
const load = Effect.fnUntraced(function* ({ bucket }: EndpointStore, copy: EndpointsCopy, apply: Apply) {
  const entries = yield* Stream.runCollect(bucket.scan(">"))
  const found = new Set(entries.map(({ key }) => key))
  const removed = copy.ids().filter((id) => !found.has(id))
  yield* apply([
    ...removed.map((key) => ({ key, revision: 0, entry: Option.none<KvEntry<EndpointRecord>>() })),
    ...entries.map((entry) => ({ key: entry.key, revision: entry.revision, entry: Option.some(entry) }))
  ])
})

// Changes that arrive together are acted on together; a single one waits no longer than this.
const run = { messagesMax: 256, withinMs: 5 }
const followAgainEvery = "500 millis"

/** Runs forever. When following breaks off, the complete bucket is read again: its markers may have expired by then. */
const follow = (store: EndpointStore, copy: EndpointsCopy, apply: Apply) =>
  Effect.suspend(() => Stream.runForEach(store.bucket.changesInBatches(copy.revision() + 1, run), apply)).pipe(
    Effect.catch((error) => Effect.logDebug("endpoints made at run time are not followed", error)),
    Effect.andThen(Effect.sleep(followAgainEvery)),
    Effect.andThen(load(store, copy, apply).pipe(Effect.retry(Schedule.spaced(followAgainEvery)))),
    Effect.forever
  )

const catchUpMsMax = 5_000
const lookEveryMs = 5

const catchUpOf = ({ lastRevision }: EndpointStore, actsOn: () => number) =>
  Effect.gen(function* () {
    const wanted = yield* lastRevision
    for (let waitedMs = 0; actsOn() < wanted; waitedMs += lookEveryMs) {
      if (waitedMs >= catchUpMsMax) {
        return yield* new BusUnavailable({ operation: "follow the endpoints", detail: "changes come too late" })
      }
      yield* Effect.sleep(lookEveryMs)
    }
  })
