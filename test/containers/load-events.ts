/** An internal service that publishes events at a rate, and an operator who makes work items and cancels them. */
import { randomUUID } from "node:crypto"
import { jetstream } from "@nats-io/jetstream"
import { exampleEnvelope } from "#base"
import { pipelineApi } from "../support/pipeline-api.ts"
import type { LoadedFleet } from "./fleet.ts"
import { type Ledger, newLedger } from "./ledger.ts"
import { everyEvent } from "./world-places.ts"
import { insist, stopAll, work } from "./worker.ts"

export interface EventLoad {
  /** From the broker's confirmation to the receiver; by the sandbox's name. */
  readonly published: Ledger
  /** From the first try of its creation to the event of its end; by the item's title. */
  readonly cancelled: Ledger
  /** How often the broker did not accept an event, or could not be reached. */
  readonly refused: () => number
  readonly stop: () => Promise<void>
}

const eventsPerSecond = 20
const itemsEveryMs = 400
const perRound = 4
// A delivery may be here before the publisher knows that its event was taken.
const overlap = 500

/** A missing confirmation is requested again, under the same message id. */
const publisher = async (fleet: LoadedFleet, published: Ledger, onRefused: () => undefined) => {
  const service = await fleet.broker.connectAs("internal-services")
  const client = jetstream(service)
  const publish = async (id: string) => {
    const envelope = exampleEnvelope("sandbox.leak_detected")
    const details = { ...(envelope?.["details"] as object), sandboxId: id }
    await insist(`publish ${id}`, () =>
      client
        .publish("events.sandbox.leak_detected", JSON.stringify({ ...envelope, details }), {
          msgID: id,
          timeout: 2_000
        })
        .catch(onRefused)
    )
    published.begin(id)
  }
  const series = randomUUID()
  const waiting = new Set<Promise<void>>()
  const worker = work((perRound * 1_000) / eventsPerSecond, async (nth) => {
    for (let index = 0; index < perRound; index += 1) {
      const publishing = publish(`${series} ${nth} ${index}`).finally(() => waiting.delete(publishing))
      publishing.catch(() => undefined)
      waiting.add(publishing)
    }
  })
  return {
    stop: async () => {
      await worker.stop()
      await Promise.all(waiting)
      await service.close()
    }
  }
}

const operator = async (fleet: LoadedFleet, cancelled: Ledger) => {
  const api = pipelineApi(fleet.of("pipeline-api").url, fleet.token)
  await api.call("PUT", "/projects/orchard", { displayName: "Orchard", repositoryUrl: "https://git.example/o.git" })
  return work(itemsEveryMs, async (nth) => {
    const body = { title: `Item ${nth}`, projectId: "orchard", agent: "nobody" }
    const id = await insist(`create item ${nth}`, async () => {
      const answered = await api.ask("POST", "/workitems", body)
      return answered.status < 300 ? String(answered.body["id"]) : undefined
    })
    await insist(`cancel item ${nth}`, async () => {
      cancelled.begin(id)
      const { status } = await api.ask("DELETE", `/workitems/${id}`, { reason: "no need" })
      // Refused with 409: the attempt with the lost answer cancelled it.
      return status < 300 || status === 409 ? status : undefined
    })
  })
}

export const startEventLoad = async (fleet: LoadedFleet): Promise<EventLoad> => {
  const [published, cancelled] = [newLedger(), newLedger()]
  let refused = 0
  const onRefused = () => void (refused += 1)
  const workers = [await publisher(fleet, published, onRefused), await operator(fleet, cancelled)]
  let seen = 0
  const watcher = work(100, async () => {
    const arrivals = await fleet.arrivals.all()
    for (const { about, endpoint, event, atMs } of arrivals.slice(Math.max(0, seen - overlap))) {
      if (endpoint !== everyEvent) continue
      if (event === "work_item.cancelled") cancelled.end(about, atMs)
      else published.end(about, atMs)
    }
    seen = arrivals.length
  })
  return {
    published,
    cancelled,
    refused: () => refused,
    stop: async () => {
      await stopAll(workers)
      await insist("what was published is delivered", async () =>
        published.open().length + cancelled.open().length === 0 ? true : undefined
      )
      await watcher.stop()
    }
  }
}
