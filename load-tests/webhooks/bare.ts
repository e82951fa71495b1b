/**
 * The base of every ratio: the least a program can do that takes messages from a durable consumer, signs
 * them, POSTs them and acks. No retries, no isolation, no log, no metrics. With a consumer to copy from, it also stores
 * each event as a delivery before it is sent, as a dispatcher must where no endpoint may hold up another.
 */
import { createHmac } from "node:crypto"
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { Pool } from "undici"
import { bareDeliveries } from "./bare-deliveries.ts"

const [natsUrl = "", receiverUrl = "", stream = "", consumer = "", concurrencyText = "128", copiedFrom = ""] =
  process.argv.slice(2)
const concurrency = Number(concurrencyText)

const connection = await connect({ servers: natsUrl })
const client = jetstream(connection)

// Stored as atomic batches, as a fan-out does. The number of events is a multiple of a batch.
const batchLength = 100
// One at a time leaves the broker idle between two.
const batchesAtOnce = 4

const store = async (events: ReadonlyArray<Uint8Array>) => {
  const batch = await client.startBatch(bareDeliveries.subject, events[0])
  for (const event of events.slice(1, -1)) batch.add(bareDeliveries.subject, event)
  await batch.commit(bareDeliveries.subject, events.at(-1))
}

const copy = async () => {
  const consumer = await client.consumers.get("EVENTS", copiedFrom)
  const storing = new Set<Promise<void>>()
  let events: Array<Uint8Array> = []
  for await (const { data } of await consumer.consume({ max_messages: 2 * batchesAtOnce * batchLength })) {
    events.push(data)
    if (events.length < batchLength) continue
    const stored = store(events).then(() => void storing.delete(stored))
    storing.add(stored)
    events = []
    if (storing.size === batchesAtOnce) await Promise.race(storing)
  }
}
if (copiedFrom !== "") void copy()

const messages = await (await client.consumers.get(stream, consumer)).consume({ max_messages: concurrency })
const pool = new Pool(new URL(receiverUrl).origin, { connections: 64, pipelining: 1, allowH2: false })
const path = new URL(receiverUrl).pathname

let inWork = 0
let wake: (() => void) | undefined
for await (const message of messages) {
  if (inWork >= concurrency) await new Promise<void>((resolve) => (wake = resolve))
  inWork += 1
  const body = message.data
  const signature = createHmac("sha256", "secret").update(body).digest("hex")
  void pool
    .request({
      method: "POST",
      path,
      body,
      headers: {
        "content-type": "application/json; charset=utf-8",
        "x-service-delivery": crypto.randomUUID(),
        "x-service-sequence": String(message.seq),
        "x-service-signature": `sha256=${signature}`
      }
    })
    .then(async (response) => {
      await response.body.dump()
      message.ack()
      inWork -= 1
      wake?.()
    })
}
