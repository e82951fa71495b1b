/**
 * `save <folder> [stream...]` and `restore <folder> [stream...]`, on the broker of BUS_URL as BUS_USER, by the files of
 * BUS_TLS_*: by default every stream there is, or every one that was saved. Prints a line for each; ends at the first
 * that fails, with 1.
 */
import { mkdirSync, readdirSync } from "node:fs"
import { jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { brokerTls } from "#bus"
import { restoreStream, saveStream } from "./streams.ts"

const [, , what, folder, ...named] = process.argv

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

const saved = (from: string) =>
  readdirSync(from).flatMap((file) => (file.endsWith(".snapshot") ? [file.slice(0, -".snapshot".length)] : []))

const run = async (connection: NatsConnection, action: "save" | "restore", place: string) => {
  if (action === "save") mkdirSync(place, { recursive: true })
  const all = action === "save" ? await present(connection) : saved(place)
  for (const stream of named.length > 0 ? named : all) {
    const { state } = await (action === "save" ? saveStream : restoreStream)(connection, place, stream)
    process.stdout.write(`${action}d ${stream}: ${state.messages} messages, last ${state.last_seq}\n`)
  }
}

const open = () => {
  const { BUS_URL: url = "nats://127.0.0.1:4222", BUS_USER: user, BUS_PASSWORD: pass } = process.env
  const servers = url.split(",")
  const tls = brokerTls(servers, {
    caFile: process.env["BUS_TLS_CA_FILE"],
    certificateFile: process.env["BUS_TLS_CERTIFICATE_FILE"],
    keyFile: process.env["BUS_TLS_KEY_FILE"]
  })
  const who = user === undefined ? {} : { user, pass: pass ?? "" }
  return connect({ servers, ...who, ...(tls === undefined ? {} : { tls }) })
}

if ((what === "save" || what === "restore") && folder !== undefined) {
  const connection = await open()
  await run(connection, what, folder)
    .catch((error: unknown) => {
      process.stderr.write(`backup: ${error instanceof Error ? error.message : String(error)}\n`)
      process.exitCode = 1
    })
    .finally(() => connection.close())
} else {
  process.stderr.write("usage: backup save <folder> [stream...] | restore <folder> [stream...]\n")
  process.exitCode = 2
}
