/**
 * A party's permissions on the broker, derived from the topology: its own streams, buckets, stores and core subjects,
 * the broker's API for just these, and an inbox of its own, so that no role receives another's answers. No party here
 * can create, change or delete a stream, and few can create a consumer: that request names any subject to deliver to.
 * The users of a nats-server and its accounts are generated from this. Pure.
 */
import { eventCatalogue, subjects as subjectsOf } from "#base"
import { inboxPrefix } from "../connection/dial.ts"
import {
  type BucketDeclaration,
  type CoreDeclaration,
  type ObjectStoreDeclaration,
  parties,
  type Party,
  type StreamDeclaration,
  type Topology,
  userOf,
  watchers
} from "./declarations.ts"
import { announcementsOf, coreSubjects, partOf } from "./topology.ts"

/** Subjects by NATS' rules. `answers`: can answer a received message, once. */
export interface Permissions {
  readonly publish: ReadonlyArray<string>
  readonly publishNever: ReadonlyArray<string>
  readonly subscribe: ReadonlyArray<string>
  readonly answers: boolean
}

/** Events that internal services publish about themselves; every other name of the catalogue belongs to the actors. */
export const outsideEvents: ReadonlyArray<string> = [
  "agent.smoke_failed",
  "agent.smoke_recovered",
  "sandbox.leak_detected",
  "sandbox.leak_disposed",
  "sandbox.leak_dispose_failed"
]

export const permissionsOf = (topology: Topology, core: ReadonlyArray<CoreDeclaration>, party: Party): Permissions => {
  const { streams, buckets, objectStores } = partOf(topology, party)
  const sent = core.filter(({ senders }) => senders.includes(party))
  const received = core.filter(({ receivers }) => receivers.includes(party))
  const publish = [
    "$JS.API.INFO",
    ...streams.flatMap((stream) => streamRights(stream, party)),
    ...buckets.flatMap((bucket) => bucketRights(bucket, party)),
    ...objectStores.flatMap((store) => objectStoreRights(store, party)),
    ...(watchers.includes(party) ? watchRights(topology) : []),
    ...sent.flatMap(({ subjects }) => subjects)
  ]
  return {
    publish: [...new Set(publish)],
    publishNever: party === "internal services" && streams.some(({ name }) => name === "EVENTS") ? reserved : [],
    subscribe: [
      `${inboxPrefix(userOf(party))}.>`,
      ...received.flatMap(({ kind, subjects, arrivesOn }) =>
        kind === "notice" ? [subjectsOf.rejected(userOf(party))] : (arrivesOn ?? subjects)
      ),
      ...streams.filter(({ readers }) => readers.includes(party)).flatMap(({ name }) => announcementsOf(name)),
      ...buckets.flatMap(({ name }) => announcementsOf(`KV_${name}`))
    ],
    answers: received.some(({ kind }) => kind === "question")
  }
}

const streamRights = (stream: StreamDeclaration, party: Party) => [
  `$JS.API.STREAM.INFO.${stream.name}`,
  ...(stream.publishers.includes(party) ? publishSubjects(stream, party) : []),
  ...(stream.readers.includes(party) ? readRights(stream.name) : []),
  ...(stream.consumers?.includes(party) === true ? consumerRights(stream.name) : []),
  ...(stream.readyConsumers?.some(({ reader }) => reader === party) === true
    ? takeRights(stream.name, userOf(party))
    : []),
  ...(stream.keepers?.includes(party) === true ? keepRights(stream.name) : [])
]

const publishSubjects = ({ subjects, publishesOnly = {} }: StreamDeclaration, party: Party) =>
  publishesOnly[party] ?? subjects

const bucketRights = (bucket: BucketDeclaration, party: Party) => {
  const stream = `KV_${bucket.name}`
  return [
    `$JS.API.STREAM.INFO.${stream}`,
    ...(bucket.writers.includes(party) ? [`$KV.${bucket.name}.>`] : []),
    // A publisher reads what it is about to change.
    ...readRights(stream),
    ...(bucket.keepers?.includes(party) === true ? keepRights(stream) : [])
  ]
}

const objectStoreRights = (store: ObjectStoreDeclaration, party: Party) => {
  const stream = `OBJ_${store.name}`
  return [
    `$JS.API.STREAM.INFO.${stream}`,
    // The parts of an object that is replaced or removed are purged.
    ...(store.writers.includes(party)
      ? [`$O.${store.name}.C.>`, `$O.${store.name}.M.>`, `$JS.API.STREAM.PURGE.${stream}`]
      : []),
    ...readRights(stream)
  ]
}

const readRights = (stream: string) => [
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`
]

// Since 2.15 acks and flow control name the domain and the account before the stream.
const consumerRights = (stream: string) => [
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  // The client library's subject for creating a durable consumer with several filters.
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.*`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.LIST.${stream}`,
  `$JS.API.CONSUMER.NAMES.${stream}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.ACK.${stream}.>`,
  `$JS.ACK.*.*.${stream}.>`,
  `$JS.FC.${stream}.>`,
  `$JS.FC.*.*.${stream}.>`
]

/**
 * Rights to take from a consumer created by another party: it delivers to any client that asks for its next messages.
 */
const takeRights = (stream: string, durable: string) => [
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
  `$JS.ACK.*.*.${stream}.${durable}.>`
]

/** The figures of everything, and the consumers of the streams. Neither reveals a message. */
const watchRights = ({ streams, buckets, objectStores }: Topology) => [
  ...streams.flatMap(({ name }) => [
    `$JS.API.STREAM.INFO.${name}`,
    `$JS.API.CONSUMER.LIST.${name}`,
    `$JS.API.CONSUMER.INFO.${name}.*`
  ]),
  ...buckets.map(({ name }) => `$JS.API.STREAM.INFO.KV_${name}`),
  ...objectStores.map(({ name }) => `$JS.API.STREAM.INFO.OBJ_${name}`)
]

const keepRights = (stream: string) => [
  `$JS.API.STREAM.PURGE.${stream}`,
  `$JS.API.STREAM.MSG.DELETE.${stream}`,
  `$JS.API.CONSUMER.PAUSE.${stream}.*`
]

/**
 * The actors' event names: complete families where no outside party publishes one, so that a new name is covered too.
 */
const actorsEvents = () => {
  const familyOf = (name: string) => name.slice(0, name.indexOf("."))
  const shared = new Set(outsideEvents.map(familyOf))
  const subjects = eventCatalogue
    .filter(({ name }) => !outsideEvents.includes(name))
    .map(({ name }) => (shared.has(familyOf(name)) ? `events.${name}` : `events.${familyOf(name)}.>`))
  return [...new Set(subjects)]
}

const reserved = actorsEvents()

/** Whether a user from outside the fleet can publish an event of that name. Names outside the catalogue are open. */
export const mayComeFromOutside = (event: string): boolean => {
  const subject = subjectsOf.event(event)
  return !reserved.some((own) => (own.endsWith(".>") ? subject.startsWith(own.slice(0, -1)) : subject === own))
}

/** A broker's user in a nats-server's configuration; its password is set elsewhere. */
export interface BrokerUser {
  readonly user: string
  readonly permissions: {
    readonly publish: { readonly allow: ReadonlyArray<string>; readonly deny?: ReadonlyArray<string> }
    readonly subscribe: { readonly allow: ReadonlyArray<string> }
    readonly allow_responses?: { readonly max: number; readonly expires: string }
  }
}

export const partyUsers = (topology: Topology): ReadonlyArray<BrokerUser> =>
  parties.map((party: Party) => brokerUser(userOf(party), permissionsOf(topology, coreSubjects, party)))

export const brokerUser = (user: string, { publish, publishNever, subscribe, answers }: Permissions): BrokerUser => ({
  user,
  permissions: {
    publish: { allow: publish, ...(publishNever.length === 0 ? {} : { deny: publishNever }) },
    subscribe: { allow: subscribe },
    // As long as the slowest answer can take.
    ...(answers ? { allow_responses: { max: 1, expires: "1m" } } : {})
  }
})

/** A value in the syntax of a server's file. A text that begins with `$PASSWORD_` is a variable of its environment. */
export const serverSyntax = (value: unknown, depth = 0): string => {
  const inner = "  ".repeat(depth + 1)
  const outer = "  ".repeat(depth)
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + serverSyntax(item, depth + 1)).join("\n")}\n${outer}]`
  }
  if (typeof value === "object" && value !== null) {
    const lines = Object.entries(value).map(([key, item]) => `${inner}${key}: ${serverSyntax(item, depth + 1)}`)
    return `{\n${lines.join("\n")}\n${outer}}`
  }
  // A variable reference only counts without quotes.
  return typeof value === "string" && !value.startsWith("$PASSWORD_") ? JSON.stringify(value) : String(value)
}
