import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { roleNames } from "#base"
import { askLocal } from "../../dev/chain/evm/local-rpc.ts"
import { localEvmAsset } from "../../dev/chain/evm/LocalEvmChain.ts"
import { solanaBalance } from "../support/paid-fleet.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { type ComposedFleet, composeFleet } from "./compose.ts"
import { payOnce } from "./load-payments.ts"
import { hearOnce } from "./load-speech.ts"
import { payee, payOnSolana } from "./pay-on-solana.ts"
import { pauseMs } from "./worker.ts"
import { everyEvent, payTo, slowEvents } from "./world-places.ts"

const { status } = spawnSync("dev/docker-compose.sh", { cwd: join(import.meta.dirname, "../..") })
const isHere = status === 0

let fleet: ComposedFleet
beforeAll(async () => {
  if (isHere) fleet = await composeFleet()
})
afterAll(() => fleet?.remove())

/** The event's sequence. */
const publish = async (name: string) => {
  const said = await fleet.operator("publish", name, "--example")
  const [, sequence] = /stored as (\d+) in EVENTS/u.exec(said) ?? assert.fail(said)
  return Number(sequence)
}

const arrivedAt = async (endpoint: string, sequence: number) =>
  (await fleet.arrivals.all()).filter((arrival) => arrival.endpoint === endpoint && arrival.sequence === sequence)

/** The payee's balance on the chain. */
const taken = async () => {
  const data = `0x70a08231${payTo.slice(2).toLowerCase().padStart(64, "0")}`
  return BigInt(
    String(await Effect.runPromise(askLocal(fleet.rpc, "eth_call", [{ to: localEvmAsset, data }, "latest"])))
  )
}

interface Ended {
  readonly Service: string
  readonly State: string
  readonly ExitCode: number
}

const services = async () =>
  (await fleet.compose("ps", "--all", "--format", "json"))
    .split("\n")
    .map((line) => JSON.parse(line) as Ended)
    .filter(({ Service }) => (roleNames as ReadonlyArray<string>).includes(Service))

describe.skipIf(!isHere)("the fleet that compose.yaml has", () => {
  it("delivers an event that an operator publishes, signed", async () => {
    const sequence = await publish("sandbox.leak_detected")
    await until(() => arrivedAt(everyEvent, sequence), { is: ({ length }) => length > 0 })

    const [{ signature } = { signature: "" }] = await arrivedAt(everyEvent, sequence)
    assert.match(signature, /^sha256=[0-9a-f]{64}$/u)
  })

  it("sells an answer, and takes the money on the chain", async () => {
    const before = await taken()
    const answer = await payOnce(fleet, "ann", "The apples are ripe")

    assert.include(answer, "The apples are ripe")
    assert.isTrue((await taken()) > before)
  })

  it("sells an answer to a payer on Solana, and takes the money there", async () => {
    const before = await solanaBalance(fleet.solanaRpc, payee)

    assert.include(await payOnSolana(fleet, fleet.solanaRpc, "The pears are ripe"), "The pears are ripe")
    await until(() => solanaBalance(fleet.solanaRpc, payee), { is: (seen) => seen > before })
  })

  it("speaks a whole text, every word with its mark", async () => {
    assert.deepStrictEqual(await hearOnce(fleet, "The harbour wakes before the town does."), {
      started: true,
      cut: false,
      faults: []
    })
  })

  it("finishes a delivery when it is stopped, ends by itself, and has its stored data at the next start", async () => {
    const sequence = await publish("sandbox.leak_disposed")
    await until(() => arrivedAt(slowEvents, sequence), { is: ({ length }) => length === 1 })
    await fleet.compose("stop", "webhook-dispatcher")
    await fleet.compose("up", "--detach", "--no-build", "--wait", "webhook-dispatcher")
    // It would be made again after its ack wait.
    await pauseMs(6_000)
    assert.strictEqual((await arrivedAt(slowEvents, sequence)).length, 1)

    await fleet.compose("stop")
    const stopped = await services()
    assert.deepStrictEqual(stopped.map(({ Service }) => Service).toSorted(), [...roleNames].toSorted())
    for (const { Service, State, ExitCode } of stopped)
      assert.deepStrictEqual([Service, State, ExitCode], [Service, "exited", 0])

    await fleet.compose("up", "--detach", "--no-build", "--wait", "--wait-timeout", "120")
    assert.isAbove(await publish("sandbox.leak_detected"), sequence)
  })
})
