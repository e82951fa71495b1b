/** A small topology for tests of the bus: a work queue, a stream that is soon full, a bucket and an object store. */
import { Schema } from "effect"
import { type ConsumerDeclaration, jsonCodec, topology, type Topology } from "#bus"

export const Note = Schema.Struct({ text: Schema.String })
export const note = jsonCodec(Note)
const dayMs = 86_400_000

export const trial: Topology = {
  streams: [
    {
      name: "WORK",
      why: "A work queue for these tests.",
      subjects: ["work.>"],
      retention: "workqueue",
      storage: "file",
      discard: "old",
      ageMsMax: null,
      bytesMax: null,
      messageBytesMax: null,
      features: ["atomic batches", "schedules", "rollup", "direct reads"],
      publishers: [],
      readers: []
    },
    {
      name: "SMALL",
      why: "A stream that refuses when it is full.",
      subjects: ["small.>"],
      retention: "limits",
      storage: "file",
      discard: "new",
      ageMsMax: dayMs,
      bytesMax: 1_024,
      messageBytesMax: null,
      features: ["direct reads"],
      publishers: [],
      readers: []
    },
    ...topology.streams.filter((stream) => stream.name === "REJECTED")
  ],
  buckets: [
    {
      name: "notes",
      why: "",
      ttlMs: null,
      keyTtl: false,
      valueBytesMax: 1_024,
      leaderReads: true,
      writers: [],
      readers: []
    },
    ...topology.buckets.filter((bucket) => bucket.name === "leases")
  ],
  objectStores: [{ name: "blobs", why: "", ttlMs: null, bytesMax: null, writers: [], readers: [] }]
}

export const consumer: ConsumerDeclaration = {
  stream: "WORK",
  durable: "worker",
  filterSubjects: ["work.>"],
  unackedMax: 8,
  ackWaitMs: 1_500
}
