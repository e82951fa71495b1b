/** Faults of receivers and of the delivery to them. */
import { metricOf } from "./metrics.ts"
import { type Fault, repeatedly } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"
import { until } from "#dev/fixtures/eventually"

/** An endpoint whose receiver answers so, while events come. */
const receiverAnswers = async ({ receiver, publish }: FaultFleet, name: string, manner: number | "hangs") => {
  receiver.answer(manner, `/${name}`)
  const end = repeatedly(1_000, publish)
  return async () => {
    await end()
    receiver.answer("well", `/${name}`)
  }
}

export const endpointFails: Fault = {
  condition: "WebhookEndpointFailing",
  what: "a receiver answers 500",
  begin: (fleet) => receiverAnswers(fleet, "failing", 500)
}

export const deliveriesAreGivenUp: Fault = {
  condition: "WebhookDeliveriesAbandoned",
  what: "a receiver refuses every attempt",
  begin: (fleet) => receiverAnswers(fleet, "given-up", 500)
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
  begin: async ({ command, publish }) => {
    await command("endpoints", "add", "inside", "http://10.0.0.1/")
    const end = repeatedly(1_000, publish)
    return async () => {
      await end()
      await command("endpoints", "remove", "inside")
    }
  }
}
