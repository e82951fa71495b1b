/**
 * A service that publishes an event of its own and reads it back: `node dev/examples/publisher.ts [READY_FILE]`. It is the
 * broker's user `internal-services`, which may publish `sandbox.*` and `agent.smoke_*`, and read every event.
 */
import { readFileSync } from "node:fs"
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { decodeEnvelope, exampleEnvelope } from "#contracts"

const [readyFile = ".starling/ready.json"] = process.argv.slice(2)
const { nats, natsCredentials } = JSON.parse(readFileSync(readyFile, "utf8")) as {
  readonly nats: string
  readonly natsCredentials: { readonly user: string; readonly pass: string }
}
// Replies come to an inbox of the user's own; no other is answered to it.
const connection = await connect({ servers: nats, ...natsCredentials, inboxPrefix: `_INBOX_${natsCredentials.user}` })
const stream = jetstream(connection)

const envelope = { ...exampleEnvelope("sandbox.leak_detected"), occurredAt: new Date().toISOString() }
// Within two minutes an event with the same id is stored once, however often it is sent.
const { seq } = await stream.publish("events.sandbox.leak_detected", JSON.stringify(envelope), {
  msgID: crypto.randomUUID()
})
console.log(`stored as event ${seq}`)

const events = await stream.consumers.get("EVENTS", { opt_start_seq: seq, filter_subjects: ["events.sandbox.>"] })
const stored = await events.next({ expires: 5_000 })
const decoded = decodeEnvelope(stored?.json())
console.log(decoded._tag === "Success" ? `read back ${decoded.success.envelope.event}` : decoded.failure)
await connection.close()
