/**
 * Streams of a running broker into files and back: what they hold, how they are configured, and how far their durable
 * consumers are. A file is the broker's own snapshot; beside it stands what the broker needs to take it back. Each
 * stream is one moment; two streams are two moments. The files hold what the broker held: only their owner may read them.
 */
import { once } from "node:events"
import { createReadStream, createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { jetstreamManager } from "@nats-io/jetstream"
import { connect, createInbox, credsAuthenticator, type Msg, type NatsConnection } from "@nats-io/transport-node"
import { brokerTls, type BrokerTls } from "#bus"

/** The broker, and its user who may copy streams. */
export interface KeptBroker {
  /** One URL or several, with commas. */
  readonly url: string
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** The content of a `.creds` file. */
  readonly credentials?: string | undefined
  readonly tls: BrokerTls
}

export interface Copy {
  readonly action: "save" | "restore"
  readonly folder: string
  /** Empty: every stream there is, or every one that was saved. */
  readonly streams: ReadonlyArray<string>
  readonly onCopied: (stream: string, saved: Saved) => void
}

/** Copies one stream after the other; ends at the first that fails. */
export const copyStreams = async (broker: KeptBroker, { action, folder, streams, onCopied }: Copy): Promise<void> => {
  const connection = await open(broker)
  try {
    if (action === "save") mkdirSync(folder, { recursive: true, mode: 0o700 })
    const all = action === "save" ? await present(connection) : savedIn(folder)
    for (const stream of streams.length > 0 ? streams : all) {
      onCopied(stream, await (action === "save" ? saveStream : restoreStream)(connection, folder, stream))
    }
  } finally {
    await connection.close()
  }
}

const open = ({ url, user, password, credentials, tls: files }: KeptBroker) => {
  const servers = url.split(",")
  const tls = brokerTls(servers, files)
  return connect({
    servers,
    ...(user === undefined ? {} : { user, pass: password ?? "" }),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
    ...(tls === undefined ? {} : { tls })
  })
}

// What is made from a stream comes before it: its cursor is then older, and work is done again. The other way round it
// would be ahead of the stream, and what comes next would be passed over.
const sourcesLast = ["EVENTS", "LOG"]

const present = async (connection: NatsConnection) => {
  const names: Array<string> = []
  for await (const { config } of (await jetstreamManager(connection)).streams.list()) {
    // Speech is over within the minute, and lies in memory.
    if (config.storage === "file") names.push(config.name)
  }
  return names.toSorted((left, right) => sourcesLast.indexOf(left) - sourcesLast.indexOf(right))
}

const savedIn = (folder: string) => {
  const names = readdirSync(folder).flatMap((file) =>
    file.endsWith(".snapshot") ? [file.slice(0, -".snapshot".length)] : []
  )
  if (names.length === 0) throw new Error(`${folder} holds no saved stream`)
  return names
}

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
const saveStream = async (connection: NatsConnection, folder: string, stream: string): Promise<Saved> => {
  const { facts, content } = paths(folder, stream)
  const inbox = createInbox()
  const pieces = connection.subscribe(inbox, { timeout: patienceMs })
  const { config, state } = await ask<Saved>(connection, `$JS.API.STREAM.SNAPSHOT.${stream}`, {
    deliver_subject: inbox,
    chunk_size: pieceBytes,
    no_consumers: false,
    jsck: true
  })
  const file = createWriteStream(content, { mode: 0o600 })
  await writePieces(pieces, file)
  writeFileSync(facts, `${JSON.stringify({ config, state })}\n`, { mode: 0o600 })
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
const restoreStream = async (connection: NatsConnection, folder: string, stream: string): Promise<Saved> => {
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
