/** A user of the broker that floods a subject with events, as a process of its own: as fast as confirmations come. */
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { eventBody } from "./publisher.ts"

const [url = "", subject = ""] = process.argv.slice(2)
const client = jetstream(await connect({ servers: url }))
const body = JSON.stringify({ ...(JSON.parse(eventBody(0)) as Record<string, unknown>), event: "report.filed" })
// Without waiting for one confirmation before the next event.
const window = 256

const flood = async (count: number) => {
  const started = performance.now()
  let sent = 0
  const work = async () => {
    while (sent < count) {
      sent += 1
      await client.publish(subject, body)
    }
  }
  await Promise.all(Array.from({ length: window }, work))
  return { tookMs: performance.now() - started }
}

process.on("message", (count: string) => void flood(Number(count)).then((flooded) => process.send?.(flooded)))
process.send?.({ isReady: true })
