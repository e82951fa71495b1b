/** Who attacks a running fleet across the border of its account forges nothing, and suppresses nothing either. */
import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { besideStreams, outsiders, parties, userOf } from "#bus"
import { connectionTo } from "../../dev/fixtures/bus-address.ts"
import { type Home, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { sendAnswersElsewhere, sendInstructions, tokenSubject } from "../support/forgery.ts"
import { type ThreeJobs, threeJobs } from "../support/three-jobs.ts"

let home: Home
let fleet: RunningFleet
let work: ThreeJobs
let keeper: NatsConnection
let manager: JetStreamManager

beforeAll(async () => {
  home = newHome()
  fleet = await startFleet(home)
  work = threeJobs(fleet)
  keeper = await connect(connectionTo(fleet.busAs("stream-keeper")))
  manager = await jetstreamManager(keeper, { checkAPI: false })
})
afterAll(async () => {
  await keeper.close()
  await fleet.stop("SIGTERM")
  home.remove()
})

const attacks = [
  ["has every answer sent to every subject", sendAnswersElsewhere],
  ["adds every header of the broker's own", sendInstructions]
] as const

const apart = parties.filter((party) => !besideStreams.includes(party))
const attackers = [...outsiders, ...apart.filter((party) => !outsiders.includes(party))]

describe.each(attackers)("a fleet that %s attacks", (party) => {
  it.each(attacks)("which %s, does all its jobs, keeps no forged token and is ready", async (_, attack) => {
    const connection = await connect(connectionTo(fleet.busAs(userOf(party))))
    await attack(connection, party)
    await connection.close()

    await work.all()
    // The console makes tokens, and may write them.
    if (party !== "console")
      assert.isNull(await manager.streams.getMessage("KV_tokens", { last_by_subj: tokenSubject }))
    await until(async () => (await fetch(`${fleet.ready.metrics}/readyz`)).ok)
  })
})
