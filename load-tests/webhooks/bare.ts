/**
 * The base of every ratio: the least a program can do that takes messages from a durable consumer, signs
 * them, POSTs them and acks. No retries, no isolation, no log, no metrics. With a consumer to copy from, it makes the two
 * writes besides without which something would be lost: each event is stored as a delivery before it is sent, and each
 * attempt before its delivery is acked.
 */
import { createHmac } from "node:crypto"
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { Pool } from "undici"
import { bareSubjects } from "./bare-streams.ts"

const [natsUrl = "", receiverUrl = "", stream = "", consumer = "", concurrencyText = "128", copiedFrom = ""] =
  process.argv.slice(2)
const concurrency = Number(concurrencyText)
const keeps = copiedFrom !== ""

const connection = await connect({ servers: natsUrl })
const client = jetstream(connection)

// As a fan-out does: what it copies is divisible by this.
const runLength = 100
const copy = async () => {
  const events = await (await client.consumers.get("EVENTS", copiedFrom)).consume({ max_messages: 4 * runLength })
  let run: Array<Uint8Array> = []
  for await (const { data } of events) {
    run.push(data)
    if (run.length < runLength) continue
    const batch = await client.startBatch(bareSubjects.delivery, run[0])
    for (const each of run.slice(1, -1)) batch.add(bareSubjects.delivery, each)
    await batch.commit(bareSubjects.delivery, run.at(-1))
    run = []
  }
}
if (keeps) void copy()

// As long as a record of the delivery log.
const attempt = JSON.stringify({ delivery: crypto.randomUUID(), outcome: "delivered", answer: "a".repeat(400) })

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
      if (keeps) await client.publish(bareSubjects.attempt, attempt)
      message.ack()
      inWork -= 1
      wake?.()
    })
}
