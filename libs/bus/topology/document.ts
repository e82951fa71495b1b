/**
 * The topology as a page: one table each for streams, buckets, object stores and core subjects. Pure; docs/topology.md is
 * written from it and a test fails when the page is stale.
 */
import {
  type BucketDeclaration,
  type CoreDeclaration,
  type ObjectStoreDeclaration,
  type StreamDeclaration,
  type Topology,
  watchers
} from "./declarations.ts"
import { coreSubjects } from "./topology.ts"

export const topologyDocument = (topology: Topology): string =>
  [
    "# The bus",
    "",
    "Made from `libs/bus/topology/` by `./starling docs`. Change it there.",
    "",
    `Of every stream, bucket and store ${watchers.join(", ")} sees how much lies there, and of the streams also how far their`,
    "consumers are; what lies there is read by the parties in the tables alone.",
    "",
    "## Streams",
    "",
    "| stream | subjects | kept | at a limit | writes | reads | for |",
    "|---|---|---|---|---|---|---|",
    ...topology.streams.map(streamRow),
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
