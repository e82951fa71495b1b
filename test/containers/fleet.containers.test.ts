import { jetstream } from "@nats-io/jetstream"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { exampleEnvelope } from "#contracts"
import { until } from "../support/starling.ts"
import { type Fleet, removeFleet, startFleet } from "./fleet.ts"

let fleet: Fleet

beforeAll(async () => void (fleet = await startFleet()))
afterAll(removeFleet)

describe("the three jobs, every role in its container", () => {
  it("an event that an internal service publishes is delivered", async () => {
    const service = await fleet.broker.connectAs("internal-services")
    const envelope = exampleEnvelope("sandbox.leak_detected")
    const { seq } = await jetstream(service).publish("events.sandbox.leak_detected", JSON.stringify(envelope))
    await service.close()
    const arrived = async () => (await fleet.arrivals.all()).filter(({ sequence }) => sequence === seq)
    await until(async () => (await arrived()).length > 0)

    const [{ event, signature } = { event: "", signature: "" }] = await arrived()
    assert.strictEqual(event, "sandbox.leak_detected")
    assert.match(signature, /^sha256=[0-9a-f]{64}$/u)
  })
})
