/** Faults of receivers and of the delivery to them. */
import { metricOf } from "./metrics.ts"
import { type Fault, repeatedly } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"
import { written } from "./planted.ts"
import { until } from "#dev/fixtures/eventually"

/** An endpoint whose receiver answers so, while events come. */
const receiverAnswers = async (
  { manager, outside: { receiver }, publish }: FaultFleet,
  name: string,
  manner: number | "hangs"
) => {
  receiver.answer(manner, `/${name}`)
  const end = repeatedly(1_000, publish)
  return async () => {
    await end()
    receiver.answer("well", `/${name}`)
    await manager.streams.purge("ABANDONED")
  }
}

export const endpointFails: Fault = {
  condition: "WebhookEndpointFailing",
  what: "a receiver answers 500",
  begin: (fleet) => receiverAnswers(fleet, "failing", 500)
}

export const deliveriesAreGivenUp: Fault = {
  condition: "WebhookDeliveriesAbandoned",
  what: "a receiver refused every attempt, and is well again",
  slow: { seenMs: 60_000, why: "until its receiver has been well for half a minute, that is the cause" },
  begin: async (fleet) => {
    const mend = await receiverAnswers(fleet, "given-up", 500)
    const abandoned = async () => (await fleet.manager.streams.info("ABANDONED")).state.messages
    await until(async () => (await abandoned()) > 0, { withinMs: 30_000 })
    fleet.outside.receiver.answer("well", "/given-up")
    return mend
  }
}

const circuit = 'webhook_circuit_state{role="webhook-dispatcher",endpoint="left-alone"}'

export const circuitOpens: Fault = {
  condition: "WebhookCircuitOpen",
  what: "a receiver refuses for half a minute, so that its circuit opens",
  begin: async (fleet) => {
    const mend = await receiverAnswers(fleet, "left-alone", 500)
    // After twenty failures in a row, over half a minute.
    await until(async () => (await metricOf(fleet, circuit)) > 0, { withinMs: 90_000 })
    return async () => {
      await mend()
      await fleet.command("endpoints", "resume", "left-alone")
    }
  }
}

export const endpointIsPaused: Fault = {
  condition: "WebhookEndpointPaused",
  what: "somebody pauses an endpoint",
  begin: async ({ command }) => {
    await command("endpoints", "pause", "moving", "--reason", "its receiver moves")
    return () => command("endpoints", "resume", "moving")
  }
}

export const endpointFallsBehind: Fault = {
  condition: "WebhookParkedLong",
  what: "a receiver hangs, and more waits for it than its BacklogMax",
  begin: (fleet) => receiverAnswers(fleet, "narrow", "hangs")
}

export const urlLeadsInside: Fault = {
  condition: "StarlingEgressRefused",
  what: "an endpoint's URL leads into a private network",
  begin: async ({ command, manager, outside: { receiver }, publish }) => {
    const leadsTo = (url: string) => command("endpoints", "edit", "inside", "--to", url)
    await leadsTo(inside).catch(() => command("endpoints", "add", "inside", inside))
    const end = repeatedly(1_000, publish)
    return async () => {
      await end()
      await leadsTo(`${receiver.url}/inside`)
      await command("endpoints", "resume", "inside")
      await manager.streams.purge("ABANDONED")
    }
  }
}

const inside = "http://10.0.0.1/"

const parked = 'webhook_parked_events{role="webhook-dispatcher",endpoint="away"}'

export const eventsAreMissed: Fault = {
  condition: "WebhookEventsMissed",
  what: "what a paused endpoint waits for is removed from EVENTS",
  begin: async (fleet) => {
    const { command, manager, publish } = fleet
    await command("endpoints", "pause", "away")
    for (let nth = 0; nth < 5; nth++) await publish()
    await until(async () => (await metricOf(fleet, parked)) > 0, { withinMs: 30_000 })
    const { state } = await manager.streams.info("EVENTS")
    await manager.streams.purge("EVENTS", { seq: state.last_seq })
    await command("endpoints", "resume", "away")
    return async () => undefined
  }
}

export const endpointIsUnusable: Fault = {
  condition: "WebhookEndpointUnusable",
  what: "an endpoint's record has a setting that this release refuses",
  begin: async (fleet) => {
    const { command, manager, outside } = fleet
    await command("endpoints", "add", "odd", `${outside.receiver.url}/odd`)
    const found = await manager.streams.getMessage("KV_webhook-endpoints", { last_by_subj: "$KV.webhook-endpoints.>" })
    const record = found?.json<{ readonly settings: object }>()
    const broken = { ...record, settings: { ...record?.settings, Concurrency: 100_000 } }
    await written(fleet, "console", found?.subject ?? "", JSON.stringify(broken))
    return () => command("endpoints", "remove", "odd")
  }
}
