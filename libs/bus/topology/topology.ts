/**
 * The bus as data: every stream, bucket and object store of the fleet. This is the one place to change it;
 * docs/topology.md, the broker's permissions and the Kubernetes resources are generated from it.
 *
 * The topology as a page: one table each for streams, buckets, object stores and core subjects. Pure; docs/topology.md
 * is generated from it, and a test fails when the page is stale.
 */
import { deliveryLanesMax, deliveryStream, subjects } from "#base"
import type { ConsumerDeclaration } from "../consumers.ts"
import { buckets, objectStores } from "./buckets.ts"
import {
  type BucketDeclaration,
  type CoreDeclaration,
  type ObjectStoreDeclaration,
  besideStreams,
  parties,
  type Party,
  storedPrefix,
  type StreamDeclaration,
  type Topology,
  userOf,
  watchers
} from "./declarations.ts"
import { streams } from "./streams.ts"

export const topology: Topology = { streams, buckets, objectStores }

/**
 * The topology of a fleet with this many delivery lanes: a stream like DELIVERIES for each lane after the first. With
 * one lane it is the topology itself. Pure.
 */
export const topologyOf = (lanes: number): Topology => {
  if (lanes <= 1) return topology
  const more = Array.from({ length: lanes - 1 }, (_, index) => index + 1)
  const isDeliveries = (stream: StreamDeclaration) => stream.name === deliveryStream(0)
  return {
    ...topology,
    streams: topology.streams.flatMap((stream) =>
      isDeliveries(stream) ? [stream, ...more.map((lane) => laneStream(stream, lane))] : [stream]
    )
  }
}

/** The consumers that are created with their streams. */
export const readyConsumersOf = ({ streams: declared }: Topology): ReadonlyArray<ConsumerDeclaration> =>
  declared.flatMap(({ name, readyConsumers = [] }) =>
    readyConsumers.map(({ reader, ...consumer }) => ({
      ...consumer,
      stream: name,
      durable: userOf(reader),
      isReady: true
    }))
  )

/** The one of them that a given reader takes from. */
export const readyConsumer = (stream: string, reader: Party): ConsumerDeclaration => {
  const found = readyConsumersOf(topology).find((each) => each.stream === stream && each.durable === userOf(reader))
  if (found === undefined) throw new Error(`${stream} has no consumer for ${reader}`)
  return found
}

const announcedAt = (subject: string) => `${storedPrefix}${subject}`

/** The stream, or the one behind a bucket or store, that stores what is sent to a subject; undefined for any other subject. */
export const streamOf = (subject: string): string | undefined => {
  const [first = "", second = ""] = subject.split(".", 2)
  if (first === "$KV") return `KV_${second}`
  return first === "$O" ? `OBJ_${second}` : streamsByFirstToken.get(first)
}

/** Where a stream, or the one behind a bucket, announces what it stores: nowhere without followers. */
export const announcementsOf = (stream: string): ReadonlyArray<string> => announcements.get(stream) ?? []

const laneStream = (first: StreamDeclaration, lane: number): StreamDeclaration => {
  const [ofFirst, ofLane] = [subjects.deliveries(0), subjects.deliveries(lane)].map(({ cursor }) =>
    cursor.slice(0, cursor.indexOf("."))
  )
  const inLane = (subject: string) => subject.replace(`${ofFirst}.`, `${ofLane}.`)
  return {
    ...first,
    name: deliveryStream(lane),
    why: `Lane ${lane} of the deliveries: those of the endpoints whose partition falls to it.`,
    subjects: first.subjects.map(inLane),
    ...(first.publishesOnly === undefined
      ? {}
      : {
          publishesOnly: Object.fromEntries(
            Object.entries(first.publishesOnly).map(([party, own]) => [party, own.map(inLane)])
          )
        })
  }
}

const streamsByFirstToken = new Map(
  topologyOf(deliveryLanesMax).streams.flatMap(({ name, subjects: own }) =>
    own.map((subject) => [subject.split(".", 1)[0] ?? "", name])
  )
)

const announcements = new Map<string, ReadonlyArray<string>>([
  ...streams.flatMap(({ name, features, subjects: own }) =>
    features.includes("announced") ? [[name, own.map(announcedAt)] as const] : []
  ),
  ...buckets.flatMap(({ name, isFollowed }) =>
    isFollowed === true ? [[`KV_${name}`, [announcedAt(`$KV.${name}.>`)]] as const] : []
  )
])

/**
 * The core subjects, as data: messages between roles that are stored nowhere, either questions with one answer or
 * messages to one process.
 */
export const coreSubjects: ReadonlyArray<CoreDeclaration> = [
  {
    name: "commands",
    kind: "question",
    why: "What an actor is asked to do; answered by what it decided.",
    subjects: ["commands.*"],
    senders: ["sweeper", "internal services", "operator"],
    receivers: ["pipeline-api"]
  },
  {
    name: "pickup",
    kind: "question",
    why: "A runner asks for something to do, and whether what it does is still its to do.",
    subjects: ["pickup.next.*", "pickup.held"],
    senders: ["internal services", "runners"],
    receivers: ["pipeline-api"]
  },
  {
    name: "events to be published",
    kind: "question",
    why: "An event is checked, stored in EVENTS, and answered: with its sequence, or with all faults. The broker adds the sender's name.",
    subjects: [subjects.publishAll],
    arrivesOn: [subjects.publishFromAll],
    senders: ["internal services"],
    receivers: ["pipeline-api"]
  },
  {
    name: "refused events",
    kind: "notice",
    why: "An event that was published straight to EVENTS is refused: its subject, its sequence and all faults, to its publisher, on `rejected.<user>`.",
    subjects: [subjects.refusedAll],
    senders: ["webhook-dispatcher"],
    receivers: ["internal services"]
  },
  {
    name: "deliveries that operators ask for",
    kind: "question",
    why: "A test, or a delivery that is sent again, by where it is kept: a dispatcher makes it and stores it in DELIVERIES. A publisher to that stream could have the broker overwrite the fan-out's cursor by a schedule.",
    subjects: [subjects.deliveriesAsked],
    senders: ["console"],
    receivers: ["webhook-dispatcher"]
  },
  {
    name: "payment verification",
    kind: "question",
    why: "Whether a payment is good, before its call is made.",
    subjects: ["payments.verify"],
    senders: ["model-gateway"],
    receivers: ["payment-verifier"]
  },
  {
    name: "orders about payment channels",
    kind: "question",
    why: "A deposit, a refund or a claim of a payment channel is to be made, the channel to be looked for on the chain, or its receipts to be written. Verifiers have sent what other x402 servers ask of the facilitator.",
    subjects: ["payments.channels"],
    senders: ["model-gateway", "payment-verifier"],
    receivers: ["payment-settler"]
  },
  {
    name: "orders about the payment books",
    kind: "question",
    why: "An operator has a finding of the reconciliation mended, or says that it is explained.",
    subjects: ["payments.books"],
    senders: ["console"],
    receivers: ["payment-settler"]
  },
  {
    name: "orders of refunds",
    kind: "question",
    why: "An operator has what a payer was charged given back, whole or in part.",
    subjects: ["payments.refunds"],
    senders: ["console"],
    receivers: ["payment-settler"]
  },
  {
    name: "speech sessions",
    kind: "question",
    why: "Who speaks this; nobody there is known in milliseconds.",
    subjects: ["speech.sessions"],
    senders: ["speech-api"],
    receivers: ["speech-sequencer"]
  },
  {
    name: "outcomes of settlements",
    kind: "mailbox",
    why: "What became of a payment, to the gateway whose caller waits for it; the claim says it too. And whether such a gateway is there at all, for who lost its answer with it.",
    subjects: ["payments.to.*.>"],
    senders: ["payment-settler", "model-gateway"],
    receivers: ["model-gateway"]
  },
  {
    name: "outcomes of a facilitator's settlements",
    kind: "mailbox",
    why: "The same, to the verifier that other x402 servers have asked to settle.",
    subjects: ["verifier.to.*.>"],
    senders: ["payment-settler"],
    receivers: ["payment-verifier"]
  },
  {
    name: "speech frames",
    kind: "mailbox",
    why: "Audio and words, to the process that serves the session.",
    subjects: ["speech.to.*.>"],
    senders: ["speech-sequencer"],
    receivers: ["speech-api"]
  },
  {
    name: "speech credit",
    kind: "mailbox",
    why: "How much more a listener takes, and what was spoken, to the process that puts the session in order.",
    subjects: ["sequencer.to.*.>"],
    senders: ["speech-api", "speech-synthesizer"],
    receivers: ["speech-sequencer"]
  },
  {
    name: "speech cancels",
    kind: "mailbox",
    why: "That nobody listens any more, to the process that speaks.",
    subjects: ["synthesizer.to.*.>"],
    senders: ["speech-sequencer"],
    receivers: ["speech-synthesizer"]
  }
]

interface Owned {
  readonly publishers?: ReadonlyArray<Party>
  readonly writers?: ReadonlyArray<Party>
  readonly readers: ReadonlyArray<Party>
}

/**
 * The part that `party` writes or reads: it can verify this part, and its permissions derive from it. The complete
 * topology for a name that is not a party.
 */
export const partOf = (topology: Topology, party: string): Topology => {
  if (!isParty(party)) return topology
  const touches = ({ publishers = [], writers = [], readers }: Owned) =>
    [...publishers, ...writers, ...readers].includes(party)
  // Only its reader can inspect a consumer.
  const withOwnConsumers = (stream: StreamDeclaration): StreamDeclaration =>
    stream.readyConsumers === undefined
      ? stream
      : { ...stream, readyConsumers: stream.readyConsumers.filter(({ reader }) => reader === party) }
  return {
    streams: topology.streams.filter(touches).map(withOwnConsumers),
    buckets: topology.buckets.filter(touches),
    objectStores: topology.objectStores.filter(touches)
  }
}

/** Whether `party` receives direct messages. True for a name that is not a party. */
export const hasMailbox = (party: string) =>
  !isParty(party) || coreSubjects.some(({ kind, receivers }) => kind === "mailbox" && receivers.includes(party))

/** Whose messages `party` receives: the first token of their subjects. */
export const mailboxWord = (party: string) => {
  const own = coreSubjects.find(
    ({ kind, receivers }) => kind === "mailbox" && isParty(party) && receivers.includes(party)
  )
  return own?.subjects[0]?.split(".", 1)[0] ?? "speech"
}

const isParty = (name: string): name is Party => (parties as ReadonlyArray<string>).includes(name)

export const topologyDocument = (topology: Topology): string =>
  [
    "# The bus",
    "",
    "Made from `libs/bus/topology/` by `./starling docs`. Change it there.",
    "",
    `Of every stream, bucket and store ${watchers.join(", ")} sees how much lies there, and of the streams also how far their`,
    "consumers are; what lies there is read by the parties in the tables alone.",
    "",
    ...accountsText,
    "## Streams",
    "",
    "| stream | subjects | kept | at a limit | writes | reads | for |",
    "|---|---|---|---|---|---|---|",
    ...topology.streams.map(streamRow),
    "",
    "## Consumers",
    "",
    "Made with their streams, for readers that make none. All others are made by who takes from them.",
    "",
    "| stream | for | subjects | at once | comes again after |",
    "|---|---|---|---|---|",
    ...readyConsumersOf(topology).map(consumerRow),
    "",
    "## Key-value buckets",
    "",
    "| bucket | values | reads go to | writes | reads | for |",
    "|---|---|---|---|---|---|",
    ...topology.buckets.map(bucketRow),
    "",
    "## Object stores",
    "",
    ...(topology.objectStores.length === 0
      ? ["None yet.", ""]
      : [
          "| store | kept | writes | reads | for |",
          "|---|---|---|---|---|",
          ...topology.objectStores.map(objectStoreRow),
          ""
        ]),
    "## Core subjects",
    "",
    "| subjects | kind | sends | receives | for |",
    "|---|---|---|---|---|",
    ...coreSubjects.map(coreRow),
    ""
  ].join("\n")

const beside = new Intl.ListFormat("en").format(besideStreams)

const accountsText = [
  `In the broker's account FLEET, with the streams, are ${beside}. Every other`,
  "user has an account of its own, which imports its rights one by one from the account that has the subject.",
  "",
  "A server checks the subject of a message and not the reply that it names, and publishes its answer there: a user of FLEET",
  "that may publish at all could have the broker write a record of any stream or bucket, deliver stored messages anywhere, or",
  "remove a stream. Whoever has the password of one of those roles has the bus: keep them away from what strangers reach.",
  "They are there because they make consumers, whose request names any subject to deliver to, or because they are told to",
  "remove things. Across an import the server maps the reply, and the others can do no more than the tables say: a test tries",
  "each of their rights with each answer, reply and header. A stream that takes schedules has them write any of its subjects:",
  "only users of FLEET publish there. Within the tables, sweeper and pipeline-api publish to LOG, which takes a rollup from a",
  "header: they could empty it.",
  ""
]

const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
const code = (texts: ReadonlyArray<string>) => texts.map((text) => `\`${text}\``).join(" ")

const streamRow = (stream: StreamDeclaration) =>
  row([
    stream.name,
    code(stream.subjects),
    [
      stream.storage,
      stream.retention === "workqueue" ? "work queue" : age(stream.ageMsMax),
      ...size(stream.bytesMax)
    ].join(", "),
    stream.discard === "new" ? "refuses" : "evicts the oldest",
    stream.publishers.join(", "),
    stream.readers.join(", "),
    stream.why
  ])

const consumerRow = ({ stream, durable, filterSubjects, unackedMax, ackWaitMs }: ConsumerDeclaration) =>
  row([stream, durable, code(filterSubjects), `at most ${unackedMax}`, `${ackWaitMs / 1_000} s without a sign`])

const bucketRow = (bucket: BucketDeclaration) =>
  row([
    bucket.name,
    `at most ${bytes(bucket.valueBytesMax)}${bucket.keyTtl ? ", a time to live per key" : ""}`,
    bucket.leaderReads ? "the leader" : "any replica",
    bucket.writers.join(", "),
    bucket.readers.join(", "),
    bucket.why
  ])

const objectStoreRow = (store: ObjectStoreDeclaration) =>
  row([store.name, age(store.ttlMs), store.writers.join(", "), store.readers.join(", "), store.why])

const coreRow = (core: CoreDeclaration) =>
  row([code(core.subjects), core.kind, core.senders.join(", "), core.receivers.join(", "), core.why])

const age = (ms: number | null) => (ms === null ? "for ever" : `${ms / 86_400_000} d`)
const size = (limit: number | null) => (limit === null ? [] : [`at most ${bytes(limit)}`])

const bytes = (count: number) => {
  if (count >= 1_024 ** 2) return `${count / 1_024 ** 2} MiB`
  return `${count / 1_024} KiB`
}
