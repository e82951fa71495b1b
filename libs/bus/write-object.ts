/**
 * Stores bytes that are in memory as an object, in one round trip: its chunks and its name leave together. The
 * client library asks five times, one after the other, and looks for an older object of the name first. The form is
 * that of the object store's specification (ADR-20). The broker stores in the order of sending, so that a name is
 * there only behind its chunks; whoever is told of success has both. An older object's chunks stay until they
 * are too old: only for stores that forget.
 */
import { createHash, randomBytes } from "node:crypto"
import { DateTime, Effect } from "effect"
import type { BusError } from "./errors.ts"
import { header, toHeaders } from "./message-headers.ts"
import type { Nats } from "./Nats.ts"
import type { StreamWrite } from "./stream-writes.ts"

// As the client library cuts them.
const chunkBytesMax = 128 * 1_024

export interface WholeObject {
  readonly store: string
  readonly name: string
  readonly bytes: Uint8Array
}

export const writeObject = Effect.fnUntraced(function* (
  write: Nats["Service"]["write"],
  { store, name, bytes }: WholeObject
): Effect.fn.Return<string, BusError> {
  const id = randomBytes(16).toString("hex")
  const chunks: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length; at += chunkBytesMax) chunks.push(bytes.subarray(at, at + chunkBytesMax))
  const digest = `SHA-256=${padded(createHash("sha256").update(bytes).digest("base64url"))}`
  const meta = {
    name,
    description: "",
    options: { max_chunk_size: chunkBytesMax },
    bucket: store,
    nuid: id,
    size: bytes.length,
    chunks: chunks.length,
    mtime: DateTime.formatIso(yield* DateTime.now),
    digest,
    deleted: false
  }
  const noHeaders = toHeaders([])
  const messages: ReadonlyArray<StreamWrite> = [
    ...chunks.map((data) => ({ subject: `$O.${store}.C.${id}`, data, headers: noHeaders })),
    {
      subject: `$O.${store}.M.${padded(Buffer.from(name).toString("base64url"))}`,
      data: Buffer.from(JSON.stringify(meta)),
      headers: toHeaders([[header.rollup, "sub"]])
    }
  ]
  yield* Effect.forEach(messages, (message) => write(`put ${store}/${name}`, message), {
    concurrency: "unbounded",
    discard: true
  })
  return digest
})

const padded = (base64url: string) => base64url.padEnd(Math.ceil(base64url.length / 4) * 4, "=")
