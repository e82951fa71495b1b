/** What a broker forgets or loses under a running fleet is made again, and all three jobs go on without a restart of it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { bucketConfig, objectStoreConfig, streamConfig, topology } from "#bus"
import { connectionTo } from "../../dev/fixtures/bus-address.ts"
import { type Home, newHome, type RunningFleet, startFleet, starling } from "../../dev/fixtures/starling.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { soonMs, type ThreeJobs, threeJobs } from "../support/three-jobs.ts"

let home: Home
let fleet: RunningFleet
let work: ThreeJobs
let keeper: NatsConnection
let manager: JetStreamManager

beforeAll(async () => {
  home = newHome({ SPEECH_API_FIRST_SOUND_SECONDS_MAX: "30" })
  fleet = await startFleet(home)
  work = threeJobs(fleet)
  // It outlives more restarts of the broker than a client waits for by itself.
  keeper = await connect({ ...connectionTo(fleet.busAs("stream-keeper")), maxReconnectAttempts: -1 })
  manager = await jetstreamManager(keeper, { checkAPI: false, timeout: soonMs })
})
afterAll(async () => {
  await keeper.close()
  await fleet.stop("SIGTERM")
  home.remove()
})

/** After the mend of a fault nothing of it is shown any more. */
const wellWithinMs = 30_000

const killBroker = async () => {
  const path = join(home.folder, "nats/server.pid")
  const before = readFileSync(path, "utf8")
  process.kill(Number(before), "SIGKILL")
  await until(() => readFileSync(path, "utf8"), { is: (seen) => seen !== before })
}

// A loop is shown for some seconds after its fourth stop: see supervise.test.ts.
const shownForAWhile = "stops again and again"

const troubles = async (besides = "ok") => {
  const { checks } = (await (await fetch(`${fleet.ready.metrics}/readyz`)).json()) as {
    readonly checks: Readonly<Record<string, string>>
  }
  return Object.entries(checks).filter(([, state]) => state !== "ok" && state !== besides)
}

describe("a fleet whose broker is killed", () => {
  it("does all its jobs before", () => work.all())

  it.each([
    ["nothing is done", async () => {}],
    ["commands are decided", () => work.command()],
    ["calls are paid", () => work.call()],
    ["texts are spoken", () => work.speak()]
  ])("while %s, does all its jobs soon after", async (_, use) => {
    const busy = Promise.all([use(), use(), use()])
    await killBroker()
    await Promise.all([busy, work.all()])
    await until(() => troubles(shownForAWhile), { is: [] })
  })
})

const streams = topology.streams.map((stream) => streamConfig(stream, 1))
const buckets = [
  ...topology.buckets.map((bucket) => bucketConfig(bucket, 1)),
  ...topology.objectStores.map((store) => objectStoreConfig(store, 1))
]

/** Buckets are lost four at a time, of which none stands beside another: those of one job do, and refer to each other. */
const groupsCount = Math.ceil(buckets.length / 4)
const groups = Array.from({ length: groupsCount }, (_, group) =>
  buckets.filter((_, index) => index % groupsCount === group)
)

const losses = [...streams.map((stream) => [stream]), ...groups].map(
  (lost) => [lost.map(({ name }) => name).join(", "), lost] as const
)

const consumersOf = async (stream: string) => {
  const names: Array<string> = []
  for await (const { name, config } of manager.consumers.list(stream)) if (config.durable_name) names.push(name)
  return names.toSorted()
}

/** Waits until it is there again; whether it then has all its consumers. */
const lose = async ({ name, storage }: (typeof streams)[number]) => {
  const before = await manager.streams.info(name)
  const consumers = await consumersOf(name)
  await manager.streams.delete(name)
  const isBack = async () =>
    manager.streams.info(name).then(
      ({ created }) => created !== before.created,
      () => false
    )
  await until(isBack, { withinMs: soonMs })
  const after = await manager.streams.info(name)
  if (storage === "file") {
    // Who follows it by a sequence finds what comes next.
    assert.isAbove(after.state.first_seq, before.state.last_seq)
    assert.isDefined(after.config.metadata?.["starling.lost-at"])
    await until(() => new RegExp(`ERROR.*a stream was lost.*"${name}"`, "u").test(fleet.log()))
  }
  return async () => consumers.join() === (await consumersOf(name)).join()
}

describe("a fleet whose broker loses", () => {
  // This test's own connection comes back too.
  beforeAll(
    () =>
      until(
        () =>
          manager.getAccountInfo().then(
            () => true,
            () => false
          ),
        { withinMs: startWithinMs }
      ),
    startWithinMs
  )

  it.each(losses)("%s, has it again, and does all its jobs", async (_, lost) => {
    const areFollowed = await Promise.all(lost.map(lose))
    // Without its tokens nobody is let in; the operator makes others.
    if (lost.some(({ name }) => name === "KV_tokens")) {
      work.use((await starling(home, "token", "make", "--role", "owner")).out.trim())
    }
    await work.all()
    await Promise.all(areFollowed.map((isFollowed) => until(isFollowed, { withinMs: soonMs })))
    await until(() => troubles(shownForAWhile), { is: [] })
  })

  it("what lay on a disk, says so in the doctor until the loss is accepted", async () => {
    const doctor = () =>
      starling({ ...home, environment: { ...home.environment, STARLING_TOKEN: work.token() } }, "doctor")
    await until(async () => (await doctor()).out, {
      is: (out) => /✗ StarlingStreamLost: RECEIPTS was lost /u.test(out),
      withinMs: soonMs
    })
    const accepted = await starling(home, "broker", "streams", "--accept-losses")
    assert.include(accepted.out, "the loss of RECEIPTS is accepted", accepted.error)
    await until(async () => (await doctor()).out, {
      is: (out) => !out.includes("StarlingStreamLost"),
      withinMs: soonMs
    })
  })

  it("any of its consumers, has them again, and does all its jobs", async () => {
    for (const { name } of topology.streams) {
      const consumers = await consumersOf(name)
      for (const consumer of consumers) await manager.consumers.delete(name, consumer)
      await until(async () => consumers.join() === (await consumersOf(name)).join(), { withinMs: soonMs })
    }
    await work.all()
  })

  it("shows nothing of all that soon after", () => until(() => troubles(), { is: [], withinMs: wellWithinMs }))
})
