/**
 * Every stream and bucket of the fleet, as data: what it is for, what it keeps, who writes and who reads.
 * The one place to change the bus; docs/topology.md, the broker's permissions and the Kubernetes resources
 * are all made from it.
 */
import type { BucketDeclaration, StreamDeclaration, Topology } from "./declarations.ts"

const dayMs = 86_400_000
const kib = 1_024
const mib = 1_024 * kib

/** Days that EVENTS keeps what happened; a parked endpoint can resume from anywhere within. */
export const eventsKeptDays = 35

/** Largest envelope taken from the bus: the longest question and some hundred findings fit. */
export const envelopeBytesMax = 256 * kib

const streams: ReadonlyArray<StreamDeclaration> = [
  {
    name: "EVENTS",
    why: "One public envelope per event. Webhooks are made from it; internal services subscribe and publish here too.",
    subjects: ["events.>"],
    retention: "limits",
    storage: "file",
    discard: "new",
    ageMsMax: eventsKeptDays * dayMs,
    bytesMax: null,
    messageBytesMax: envelopeBytesMax,
    features: ["direct reads"],
    publishers: ["pipeline-api", "internal services"],
    readers: ["webhook-dispatcher", "internal services", "operator"]
  },
  {
    name: "DELIVERIES",
    why: "One message per event and endpoint until it is delivered or given up; retries wait here as schedules. No limit may evict one.",
    subjects: ["deliveries.due.*.*", "deliveries.wait.*.*", "deliveries.cursor", "deliveries.roster"],
    retention: "workqueue",
    storage: "file",
    discard: "old",
    ageMsMax: null,
    bytesMax: null,
    // Deliveries are as large as envelopes; the roster of 10,000 endpoints is what needs the room.
    messageBytesMax: 1_000 * kib,
    features: ["atomic batches", "schedules", "rollup", "direct reads"],
    publishers: ["webhook-dispatcher", "operator"],
    readers: ["webhook-dispatcher", "operator"]
  },
  {
    name: "ATTEMPTS",
    why: "The delivery log: what was sent when, and what the receiver answered.",
    subjects: ["attempts.*"],
    retention: "limits",
    storage: "file",
    discard: "old",
    ageMsMax: 7 * dayMs,
    bytesMax: 2_048 * mib,
    messageBytesMax: 512 * kib,
    features: ["direct reads"],
    publishers: ["webhook-dispatcher"],
    readers: ["operator"]
  },
  {
    name: "ABANDONED",
    why: "Deliveries given up after their last attempt, with the reason; a redrive sends them again.",
    subjects: ["abandoned.*"],
    retention: "limits",
    storage: "file",
    discard: "old",
    ageMsMax: 30 * dayMs,
    bytesMax: null,
    messageBytesMax: envelopeBytesMax + 8 * kib,
    features: ["direct reads"],
    publishers: ["webhook-dispatcher"],
    readers: ["webhook-dispatcher", "operator"]
  },
  {
    name: "SPEECH",
    why: "Chunks of text on their way to a synthesizer; one that dies hands its chunks to another.",
    subjects: ["speech.chunks.*"],
    retention: "workqueue",
    storage: "memory",
    discard: "new",
    // A chunk older than this has nobody waiting for it any more.
    ageMsMax: 60_000,
    bytesMax: 64 * mib,
    messageBytesMax: 64 * kib,
    features: [],
    publishers: ["speech-sequencer"],
    readers: ["speech-synthesizer"]
  },
  {
    name: "REJECTED",
    why: "Every message that failed its schema, with the paths of its faults: nothing is dropped in silence.",
    subjects: ["rejected.*"],
    retention: "limits",
    storage: "file",
    discard: "old",
    ageMsMax: 7 * dayMs,
    bytesMax: 512 * mib,
    messageBytesMax: 128 * kib,
    features: ["direct reads"],
    publishers: ["webhook-dispatcher", "speech-api", "speech-sequencer", "speech-synthesizer"],
    readers: ["operator"]
  }
]

const buckets: ReadonlyArray<BucketDeclaration> = [
  {
    name: "tokens",
    why: "Bearer tokens of our own APIs, by their hash: workspace, role, scopes, revoked when.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: 4 * kib,
    leaderReads: true,
    writers: ["operator"],
    readers: ["pipeline-api", "model-gateway", "speech-api", "operator"]
  },
  {
    name: "endpoints",
    why: "What is true of a webhook endpoint beyond the configuration: paused by whom and why, breaker, absent since when.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: 8 * kib,
    leaderReads: true,
    writers: ["webhook-dispatcher", "operator"],
    readers: ["webhook-dispatcher", "operator"]
  },
  {
    name: "leases",
    why: "Who does what only one may do; a holder that stops renewing loses its lease by the broker's clock.",
    ttlMs: null,
    keyTtl: true,
    valueBytesMax: kib,
    leaderReads: true,
    writers: ["webhook-dispatcher"],
    readers: ["webhook-dispatcher", "operator"]
  }
]

export const topology: Topology = { streams, buckets, objectStores: [] }
