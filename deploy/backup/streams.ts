/**
 * Streams of a running broker into files and back: what they hold, how they are configured, and how far their durable
 * consumers are. A file is the broker's own snapshot; beside it stands what the broker needs to take it back. Each
 * stream is one moment; two streams are two moments.
 */
import { once } from "node:events"
import { createReadStream, createWriteStream, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInbox, type Msg, type NatsConnection } from "@nats-io/transport-node"

export interface Saved {
  readonly config: { readonly name: string }
  readonly state: { readonly messages: number; readonly bytes: number; readonly last_seq: number }
}

interface Refusal {
  readonly error?: { readonly description: string }
}

// A piece goes when the one before it is confirmed, so that nobody's memory is filled.
const pieceBytes = 128 * 1_024
// A stream of many gigabytes is checked whole before its first piece.
const patienceMs = 120_000

const ask = async <A>(connection: NatsConnection, subject: string, question: unknown): Promise<A> => {
  const answer = await connection.request(subject, JSON.stringify(question), { timeout: patienceMs })
  const read = answer.json<A & Refusal>()
  if (read.error !== undefined) throw new Error(`${subject}: ${read.error.description}`)
  return read
}

const paths = (folder: string, stream: string) => ({
  facts: join(folder, `${stream}.json`),
  content: join(folder, `${stream}.snapshot`)
})

/** Writes `<stream>.snapshot` and `<stream>.json`. The broker checks the stream first and fails if it is damaged. */
export const saveStream = async (connection: NatsConnection, folder: string, stream: string): Promise<Saved> => {
  const { facts, content } = paths(folder, stream)
  const inbox = createInbox()
  const pieces = connection.subscribe(inbox, { timeout: patienceMs })
  const { config, state } = await ask<Saved>(connection, `$JS.API.STREAM.SNAPSHOT.${stream}`, {
    deliver_subject: inbox,
    chunk_size: pieceBytes,
    no_consumers: false,
    jsck: true
  })
  const file = createWriteStream(content)
  await writePieces(pieces, file)
  writeFileSync(facts, `${JSON.stringify({ config, state })}\n`)
  return { config, state }
}

const writePieces = async (pieces: AsyncIterable<Msg>, file: ReturnType<typeof createWriteStream>) => {
  for await (const piece of pieces) {
    // The end is a message without content, that says with its status whether all is well.
    if (piece.data.length === 0) {
      const status = piece.headers?.code ?? 0
      if (status !== 0 && status !== 204) throw new Error(`the snapshot broke off: ${piece.headers?.description}`)
      break
    }
    if (!file.write(piece.data)) await once(file, "drain")
    piece.respond()
  }
  file.end()
  await once(file, "close")
}

/** Makes the stream again from its files. It must not be there. */
export const restoreStream = async (connection: NatsConnection, folder: string, stream: string): Promise<Saved> => {
  const { facts, content } = paths(folder, stream)
  const saved: Saved = JSON.parse(readFileSync(facts, "utf8"))
  const { deliver_subject: target } = await ask<{ readonly deliver_subject: string }>(
    connection,
    `$JS.API.STREAM.RESTORE.${stream}`,
    saved
  )
  for await (const piece of createReadStream(content, { highWaterMark: pieceBytes })) {
    const answer = await connection.request(target, piece as Uint8Array, { timeout: patienceMs })
    const refusal = answer.data.length === 0 ? undefined : answer.json<Refusal>().error
    if (refusal !== undefined) throw new Error(`${stream}: ${refusal.description}`)
  }
  const end = (await connection.request(target, new Uint8Array(0), { timeout: patienceMs })).json<Saved & Refusal>()
  if (end.error !== undefined) throw new Error(`${stream}: ${end.error.description}`)
  return end
}
