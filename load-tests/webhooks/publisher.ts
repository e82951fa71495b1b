/**
 * Publishes events of about 1.5 kB: as fast as confirmations come, or open loop at a rate, in which a slow
 * broker makes events late but never fewer. Notes when each was confirmed.
 */
import { readFileSync } from "node:fs"
import type { JetStreamClient } from "@nats-io/jetstream"
import { now } from "../loops.ts"

const example = JSON.parse(readFileSync("dev/examples/merged.json", "utf8")) as { workItem: Record<string, unknown> }
const padding = "A title that makes an event as long as real ones are. ".repeat(17)

/** The body of event `id`; every tenth shares its work item with its neighbours, so that order can be seen. */
export const eventBody = (id: number) => {
  const item = `6f1c2f0e-5d0a-4c1b-9a55-${Math.floor(id / 10)
    .toString(16)
    .padStart(12, "0")}`
  return JSON.stringify({
    ...example,
    workItem: { ...example.workItem, externalId: `e${id}`, id: item, title: padding }
  })
}

export interface Published {
  /** Event id to the time of its confirmation, epoch ms with fraction. */
  readonly confirmedAtMs: ReadonlyMap<string, number>
  readonly tookMs: number
  readonly failed: number
}

export const publishMany = async (
  client: JetStreamClient,
  count: number,
  from = 0,
  window = 512
): Promise<Published> => {
  const confirmedAtMs = new Map<string, number>()
  const started = performance.now()
  let next = from
  const work = async () => {
    while (next < from + count) {
      const id = next++
      await client.publish("events.work_item.merged", eventBody(id))
      confirmedAtMs.set(`e${id}`, now())
    }
  }
  await Promise.all(Array.from({ length: window }, work))
  return { confirmedAtMs, tookMs: performance.now() - started, failed: 0 }
}

/** Open loop: event n is sent at n / rate, whatever became of those before it. A failed one is sent again. */
export const publishAtRate = async (
  client: JetStreamClient,
  rate: number,
  seconds: number,
  from = 0
): Promise<Published> => {
  const confirmedAtMs = new Map<string, number>()
  const started = performance.now()
  const total = rate * seconds
  const pending: Array<Promise<void>> = []
  let failed = 0
  const send = async (id: number): Promise<void> => {
    const body = eventBody(id)
    for (let attempt = 0; attempt < 100; attempt++) {
      try {
        await client.publish("events.work_item.merged", body, { msgID: `load-${id}`, timeout: 2_000 })
        confirmedAtMs.set(`e${id}`, now())
        return
      } catch {
        failed += 1
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - started) / 1_000) * rate) + 1)
    while (sent < due) pending.push(send(from + sent++))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(pending)
  return { confirmedAtMs, tookMs: performance.now() - started, failed }
}
