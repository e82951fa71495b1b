/**
 * A service that publishes an event of its own and reads it back: `node dev/examples/publisher.ts [READY_FILE]`. It is the
 * broker's user `internal-services`, which may publish `sandbox.*` and `agent.smoke_*`, and read every event.
 */
import { readFileSync } from "node:fs"
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { decodeEnvelope, exampleEnvelope } from "#base"

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

// Its account makes no consumers: it reads directly, from any sequence on. A service that follows events keeps the last
// sequence that it read, and reads on whenever something comes on `stored.events.>` or `stored.events-from.>`.
const { direct } = await stream.jetstreamManager(false)
const decoded = decodeEnvelope((await direct.getMessage("EVENTS", { seq }))?.json())
console.log(decoded._tag === "Success" ? `read back ${decoded.success.envelope.event}` : decoded.failure)
await connection.close()
