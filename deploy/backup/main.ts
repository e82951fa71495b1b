/**
 * `save <folder> [stream...]` and `restore <folder> [stream...]`, on the broker of BUS_URL as BUS_USER, by the files of
 * BUS_TLS_*: by default every stream there is, or every one that was saved. Prints a line for each; ends at the first
 * that fails, with 1.
 */
import { copyStreams, type KeptBroker } from "./streams.ts"

const [, , what, folder, ...streams] = process.argv

const broker = (): KeptBroker => ({
  url: process.env["BUS_URL"] ?? "nats://127.0.0.1:4222",
  user: process.env["BUS_USER"],
  password: process.env["BUS_PASSWORD"],
  tls: {
    caFile: process.env["BUS_TLS_CA_FILE"],
    certificateFile: process.env["BUS_TLS_CERTIFICATE_FILE"],
    keyFile: process.env["BUS_TLS_KEY_FILE"]
  }
})

if ((what === "save" || what === "restore") && folder !== undefined) {
  await copyStreams(broker(), {
    action: what,
    folder,
    streams,
    onCopied: (stream, { state }) =>
      void process.stdout.write(`${what}d ${stream}: ${state.messages} messages, last ${state.last_seq}\n`)
  }).catch((error: unknown) => {
    process.stderr.write(`backup: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
} else {
  process.stderr.write("usage: backup save <folder> [stream...] | restore <folder> [stream...]\n")
  process.exitCode = 2
}
