import { jetstream } from "@nats-io/jetstream"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { exampleEnvelope, type RoleName } from "#base"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { type Books, openBooks } from "./books.ts"
import { boundedBy, tell, underLoad } from "./chaos.ts"
import {
  cutLeaderOff,
  drain,
  fillQuota,
  killLeader,
  killRole,
  pauseRole,
  restartAll,
  untilAllReady
} from "./chaos-scenarios.ts"
import { healthOf, startAgain } from "./engine.ts"
import { askedForHealth, type Fleet, removeFleet, type RunningRole, startFleet } from "./fleet.ts"
import { newLedger } from "./ledger.ts"
import { payOnce } from "./load-payments.ts"
import { hearOnce } from "./load-speech.ts"
import { sumOf } from "../support/speech.ts"
import { pauseMs } from "./worker.ts"
import { slowEvents } from "./world-places.ts"

let fleet: Fleet
let books: Books

beforeAll(async () => {
  fleet = await startFleet()
  books = await openBooks(fleet)
})
afterAll(async () => {
  await books?.close()
  await removeFleet()
})

// A fleet that one scenario has broken fails the next ones at once, and says so.
beforeEach(() => untilAllReady(fleet))

describe("the three jobs, every role in its container", () => {
  it("an event that an internal service publishes is delivered", async () => {
    const service = await fleet.broker.connectAs("internal-services")
    const envelope = exampleEnvelope("sandbox.leak_detected")
    const { seq } = await jetstream(service).publish("events.sandbox.leak_detected", JSON.stringify(envelope))
    await service.close()
    const arrived = async () => (await fleet.arrivals.all()).filter(({ sequence }) => sequence === seq)
    await until(() => arrived(), { is: (seen) => seen.length > 0 })

    const [{ event, signature } = { event: "", signature: "" }] = await arrived()
    assert.strictEqual(event, "sandbox.leak_detected")
    assert.match(signature, /^sha256=[0-9a-f]{64}$/u)
  })

  it("a paid call is answered, and settled on the chain", async () => {
    const before = await books.now()
    const answer = await payOnce(fleet, "ann", "The apples are ripe")

    assert.include(answer, "The apples are ripe")
    await until(() => books.now(), { is: (seen) => seen.payments === before.payments + 1 })
  })

  it("a text is heard to its end, every word with its mark", async () => {
    assert.deepStrictEqual(await hearOnce(fleet, "The harbour wakes before the town does."), {
      started: true,
      cut: false,
      faults: []
    })
  })

  it("a role's health is what its image says", async () => {
    await until(() => healthOf(fleet.of(askedForHealth).id), { is: "healthy", withinMs: startWithinMs })
  })

  it("all three run at once, and the books balance", async () => {
    const survived = await underLoad(fleet, books, () => Promise.resolve())

    tell("undisturbed", survived)
    assert.strictEqual(survived.twice, 0)
    assert.deepStrictEqual(survived.cut, [])
  })
})

/** A role, and its consumers' ack wait after a death. */
const victims: ReadonlyArray<readonly [RoleName, number]> = [
  ["webhook-dispatcher", 5_000],
  ["pipeline-api", 5_000],
  ["sweeper", 0],
  ["model-gateway", 5_000],
  ["payment-verifier", 5_000],
  ["payment-settler", 5_000],
  ["speech-api", 1_000],
  ["speech-sequencer", 1_000],
  ["speech-synthesizer", 1_000]
]

describe("kill -9 under load", () => {
  it.each(victims)(
    "of %s: nothing is lost, and all work is caught up within its ack wait and 5 s",
    async (role, ackWaitMs) => {
      const survived = await underLoad(fleet, books, () => killRole(fleet.of(role)))

      tell(`kill -9 of ${role}`, survived)
      await boundedBy(fleet, survived, ackWaitMs)
    }
  )

  it("of the broker that leads the deliveries: nothing is lost", async () => {
    const survived = await underLoad(fleet, books, () => killLeader(fleet, "DELIVERIES"))

    // Its peers elect another within nine seconds, and requests of the meantime are repeated.
    tell("kill -9 of the broker that leads DELIVERIES", survived)
  })
})

describe("a network partition", () => {
  it("between the broker that leads the events and the rest loses nothing", async () => {
    const survived = await underLoad(fleet, books, () => cutLeaderOff(fleet, "EVENTS"))

    tell("the broker that leads EVENTS cut off for 5 s", survived)
  })
})

describe("a paused container", () => {
  it("for longer than its ack wait loses its deliveries to another dispatcher, and wakes harmlessly", async () => {
    const other = await fleet.another("webhook-dispatcher")
    const survived = await underLoad(fleet, books, () => pauseRole(fleet, fleet.of("webhook-dispatcher"), 12_000))
    await other.container.stop()

    tell("one of two webhook-dispatchers paused for 12 s", survived)
    await boundedBy(fleet, survived, 5_000)
    // Its work in hand, and the messages just being sent to it.
    assert.isAtMost(survived.twice, 64)
  })
})

describe("a full disk quota", () => {
  it("is reported to every publisher, and nothing that was accepted is lost", async () => {
    let refused = 0
    const survived = await underLoad(fleet, books, async ({ events }) => {
      const before = events.refused()
      await fillQuota(fleet)
      refused = events.refused() - before
    })

    tell("the broker's disk quota full for 6 s", survived)
    assert.isAbove(refused, 0, "nothing was refused")
    assert.deepStrictEqual(survived.cut, [])
  })
})

const activeRequests = async ({ ops }: RunningRole) =>
  sumOf(await (await fetch(`${ops}/metrics`)).text(), "http_requests_active")

describe("SIGTERM", () => {
  it("finishes a slow call, a slow receiver and a long stream before each role exits", async () => {
    const before = await fleet.arrivals.all().then(({ length }) => length)
    const slow = async () =>
      (await fleet.arrivals.all()).slice(before).filter(({ endpoint }) => endpoint === slowEvents)
    const service = await fleet.broker.connectAs("internal-services")
    const disposed = JSON.stringify(exampleEnvelope("sandbox.leak_disposed"))
    await jetstream(service).publish("events.sandbox.leak_disposed", disposed)
    await service.close()
    const paid = newLedger()
    const answering = payOnce(fleet, "ben", "!delay 4s", paid)
    const hearing = hearOnce(fleet, "The harbour wakes before the town does, and nobody minds the gulls. ".repeat(6))
    await until(() => slow(), { is: (seen) => seen.length === 1 })
    // Its quote has been answered by then: what a gateway answers now is the paid call.
    await until(() => paid.ids().length, { is: 1 })
    await until(() => activeRequests(fleet.of("model-gateway")), { is: 1 })
    const busy = ["webhook-dispatcher", "model-gateway", "speech-api"] as const
    await Promise.all(busy.map((role) => drain(fleet.of(role))))

    assert.deepStrictEqual(await hearing, { started: true, cut: false, faults: [] })
    assert.include(await answering, "!delay")
    for (const role of busy) await startAgain(fleet.of(role).id)
    await untilAllReady(fleet)
    // It would be made again after its ack wait.
    await pauseMs(6_000)
    assert.strictEqual((await slow()).length, 1)
  })

  it("of every container in rolling order interrupts no stream and loses nothing", async () => {
    const survived = await underLoad(fleet, books, () => restartAll(fleet))

    tell("everything restarted in rolling order", survived)
    assert.deepStrictEqual(survived.cut, [])
  })
})
