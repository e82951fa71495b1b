/** Publishes an event, the same again, and a wrong one; then reads on from the place of the first. */
import { jetstream } from "@nats-io/jetstream"
import { connect, headers } from "@nats-io/transport-node"

const {
  NATS_URL = "nats://127.0.0.1:4222",
  NATS_USER: user = "internal-services",
  NATS_PASSWORD: pass = ""
} = process.env
// Answers come to an inbox of the user's own; no other is allowed.
const connection = await connect({ servers: NATS_URL, user, pass, inboxPrefix: `_INBOX_${user}` })

type Answer =
  | { readonly _tag: "Stored"; readonly sequence: number; readonly duplicate: boolean }
  | { readonly _tag: "Refused"; readonly faults: ReadonlyArray<{ readonly path: string; readonly message: string }> }
  | { readonly _tag: "Unavailable"; readonly detail: string; readonly retryAfterMs: number }

/** Within two minutes an event with the same id is stored once: after a timeout or `Unavailable`, send the same again. */
const publish = async (id: string, details: object): Promise<Answer> => {
  const event = { event: "order.created", eventSchemaVersion: "1.0.0", occurredAt: new Date().toISOString(), details }
  const own = headers()
  own.set("Nats-Msg-Id", id)
  const reply = await connection.request("publish.order.created", JSON.stringify(event), {
    headers: own,
    timeout: 5_000
  })
  const answer = reply.json<Answer>()
  if (answer._tag === "Stored") console.log(`stored as ${answer.sequence}${answer.duplicate ? ", a duplicate" : ""}`)
  if (answer._tag === "Refused")
    for (const { path, message } of answer.faults) console.log(`refused: ${path} ${message}`)
  if (answer._tag === "Unavailable") console.log(`unavailable: ${answer.detail}`)
  return answer
}

const id = crypto.randomUUID()
const first = await publish(id, { id: "A-1" })
await publish(id, { id: "A-1" })
await publish(crypto.randomUUID(), { id: 1 })

if (first._tag === "Stored") {
  const { direct } = await jetstream(connection).jetstreamManager(false)
  const from = { seq: first.sequence, next_by_subj: "events-from.*.order.created", batch: 256 }
  for await (const { seq, subject } of await direct.getBatch("EVENTS", from)) console.log(`read ${seq} ${subject}`)
}
await connection.close()
