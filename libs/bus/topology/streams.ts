/** Every stream of the fleet, as data: its purpose, its limits, its publishers and its readers. */
import { reportsInWorkMax } from "#base"
import type { StreamDeclaration } from "./declarations.ts"

const dayMs = 86_400_000
const kib = 1_024
const mib = 1_024 * kib

/** The days that EVENTS keeps; a parked endpoint can resume anywhere within them. */
export const eventsKeptDays = 35

/** The largest envelope accepted from the bus: the longest question and about a hundred findings fit. */
export const envelopeBytesMax = 256 * kib

/** A decision with all its events and the state after it. */
export const recordBytesMax = 1_000 * kib

/** An envelope derived from a report carries the report's texts and the work item. */
export const reportBytesMax = envelopeBytesMax - 32 * kib

export const streams: ReadonlyArray<StreamDeclaration> = [
  {
    name: "LOG",
    why: "One record per decision of an actor: who asked, what follows, and the state after it. The only truth about work items, releases, projects, agents and the queue; private.",
    subjects: ["log.*.*"],
    retention: "limits",
    storage: "file",
    discard: "new",
    ageMsMax: null,
    bytesMax: null,
    messageBytesMax: recordBytesMax,
    features: ["atomic batches", "rollup", "direct reads", "message ages", "announced"],
    publishers: ["pipeline-api", "sweeper"],
    readers: ["pipeline-api", "sweeper", "operator"],
    keepers: ["pipeline-api", "sweeper"]
  },
  {
    name: "EVENTS",
    why: "One public envelope per event. Webhooks are made from it; internal services subscribe and publish here too.",
    // `events-cursor` is where earlier releases kept the relay's cursor; it has no publisher any more.
    subjects: ["events.>", "events-from.*.>", "events-cursor"],
    retention: "limits",
    storage: "file",
    discard: "new",
    ageMsMax: eventsKeptDays * dayMs,
    bytesMax: null,
    messageBytesMax: envelopeBytesMax,
    // No feature that lets a publisher's header remove stored messages: services outside the fleet publish here.
    features: ["direct reads", "announced"],
    publishers: ["pipeline-api", "console", "internal services"],
    publishesOnly: {
      "pipeline-api": ["events.>", "events-from.*.>"],
      console: ["events.>"],
      "internal services": ["events.>"]
    },
    readers: ["pipeline-api", "sweeper", "webhook-dispatcher", "console", "internal services", "operator"]
  },
  {
    name: "REPORTS",
    why: "What internal services and runners report, until it is decided on: an iteration ended, a quota was hit, a sandbox leaked.",
    subjects: ["reports.*"],
    retention: "workqueue",
    storage: "file",
    // The reporter resends a report that was not stored; a stored one is never dropped.
    discard: "new",
    ageMsMax: null,
    bytesMax: 1_024 * mib,
    messageBytesMax: reportBytesMax,
    features: [],
    publishers: ["internal services", "runners", "operator"],
    readers: ["pipeline-api"],
    readyConsumers: [
      {
        reader: "pipeline-api",
        filterSubjects: ["reports.*"],
        // One process at a time takes reports, and requests no more at once than its setting allows: never the limit.
        unackedMax: reportsInWorkMax,
        // A report takes milliseconds; heartbeats keep one alive that waits for its turn or for the broker. One that a
        // dead process had, or had requested, goes to the next after this.
        ackWaitMs: 5_000
      }
    ]
  },
  {
    name: "DELIVERIES",
    why: "One message per event and endpoint until it is delivered or given up; retries wait here as schedules. No limit may evict one.",
    subjects: [
      "deliveries.due.*.*",
      "deliveries.wait.*.*",
      "deliveries.cursor",
      "deliveries.roster",
      "deliveries.roster.*"
    ],
    retention: "workqueue",
    storage: "file",
    discard: "old",
    ageMsMax: null,
    bytesMax: null,
    // Deliveries are as large as envelopes; the roster of 10,000 endpoints is what needs the room.
    messageBytesMax: 1_000 * kib,
    features: ["atomic batches", "schedules", "rollup", "direct reads"],
    // No party exposed to the internet: a schedule's target is any subject of its stream.
    publishers: ["webhook-dispatcher", "operator"],
    readers: ["webhook-dispatcher", "console", "operator"],
    consumers: ["webhook-dispatcher"],
    keepers: ["webhook-dispatcher", "operator"]
  },
  {
    name: "ATTEMPTS",
    why: "The delivery log: what was sent when, and what the receiver answered.",
    // Before outcomes existed, attempts were on `attempts.<endpoint>`; the last of those expire seven days after an
    // upgrade.
    subjects: ["attempts.>"],
    retention: "limits",
    storage: "file",
    discard: "old",
    ageMsMax: 7 * dayMs,
    bytesMax: 2_048 * mib,
    messageBytesMax: 512 * kib,
    features: ["direct reads", "announced"],
    publishers: ["webhook-dispatcher"],
    readers: ["console", "operator"]
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
    readers: ["webhook-dispatcher", "console", "operator"],
    keepers: ["webhook-dispatcher", "console", "operator"]
  },
  {
    name: "SETTLEMENTS",
    why: "Payments to be settled exactly once, by network. A full stream refuses, it never forgets.",
    subjects: ["settlements.*"],
    retention: "workqueue",
    storage: "file",
    discard: "new",
    ageMsMax: null,
    // About 200,000 unsettled payments; beyond that the gateway stops selling.
    bytesMax: 512 * mib,
    messageBytesMax: 32 * kib,
    features: [],
    publishers: ["model-gateway", "payment-verifier", "payment-settler"],
    readers: ["payment-settler"],
    consumers: ["payment-settler"]
  },
  {
    name: "RECEIPTS",
    why: "The end of every payment, for audit: what was collected by which transaction, and what never was.",
    subjects: ["receipts.*.*"],
    retention: "limits",
    storage: "file",
    discard: "new",
    ageMsMax: 400 * dayMs,
    bytesMax: 8_192 * mib,
    messageBytesMax: 8 * kib,
    features: ["direct reads"],
    publishers: ["payment-settler"],
    readers: ["payment-settler", "console", "operator"]
  },
  {
    name: "SPEECH",
    why: "Chunks of text on their way to a synthesizer; one that dies hands its chunks to another.",
    subjects: ["speech.chunks.*"],
    retention: "workqueue",
    storage: "memory",
    discard: "new",
    // No listener still waits for a chunk older than this.
    ageMsMax: 60_000,
    bytesMax: 64 * mib,
    messageBytesMax: 64 * kib,
    features: [],
    publishers: ["speech-sequencer"],
    readers: ["speech-synthesizer"],
    consumers: ["speech-synthesizer"]
  },
  {
    name: "SPEECH_JOBS",
    why: "Books to be spoken in the background; one whose process dies goes to another.",
    subjects: ["speech-jobs"],
    retention: "workqueue",
    storage: "file",
    // A caller whose job is not stored is told so.
    discard: "new",
    // As long as the job's record.
    ageMsMax: 7 * dayMs,
    bytesMax: 16 * mib,
    messageBytesMax: 4 * kib,
    features: [],
    publishers: ["speech-api"],
    readers: ["speech-api"],
    readyConsumers: [
      {
        reader: "speech-api",
        filterSubjects: ["speech-jobs"],
        // Far more processes than any fleet has; each takes as many as its setting allows.
        unackedMax: 1_000,
        // Heartbeats keep a job for hours; one that a dead process had goes to the next after this.
        ackWaitMs: 5_000
      }
    ]
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
    publishers: [
      "pipeline-api",
      "sweeper",
      "webhook-dispatcher",
      "model-gateway",
      "payment-verifier",
      "payment-settler",
      "speech-api",
      "speech-sequencer",
      "speech-synthesizer"
    ],
    readers: ["console", "operator"],
    keepers: ["console"]
  },
  {
    name: "AUDIT",
    why: "What operators did, through the console or to tokens on the broker itself: who, what, to what, and why. Written before the act.",
    subjects: ["audit.*"],
    retention: "limits",
    storage: "file",
    // An act that cannot be recorded is not done; the oldest records are dropped before that.
    discard: "old",
    ageMsMax: 400 * dayMs,
    bytesMax: 256 * mib,
    messageBytesMax: 16 * kib,
    features: ["direct reads"],
    publishers: ["console", "operator"],
    // The command line on the broker itself creates and revokes tokens; everything else goes through the console.
    publishesOnly: { operator: ["audit.token-make", "audit.token-revoke"] },
    readers: ["console", "operator"]
  }
]
