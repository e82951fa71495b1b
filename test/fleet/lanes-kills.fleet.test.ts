import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { pause } from "../../load-tests/loops.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { requestsTo, sequencesTo } from "../support/webhooks.ts"
import { everyEvent } from "../support/pipeline-fleet.ts"
import { assertAllTold, readItemLogs } from "../support/pipeline-records.ts"
import { type PipelineRoles, startPipelineRoles } from "../support/pipeline-roles.ts"

const names = Array.from({ length: 8 }, (_, index) => `lane-${index}`)
const path = (name: string) => `/${name}`
const lanesOf = (Lanes: number) => ({ WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], Lanes } })

let fleet: PipelineRoles
beforeAll(async () => {
  fleet = await startPipelineRoles((url) => ({
    // One at a time: then the broker's order is the receiver's, whichever process sends.
    Webhooks: names.map((Name) => ({ ...everyEvent(url(path(Name))), Name, Concurrency: 1 })),
    ...lanesOf(2)
  }))
})
afterAll(() => fleet.stop())

/** Creates items one after another and cancels each, whoever is killed meanwhile. Answers with what was acknowledged. */
const orders = (projectId: string) => {
  const cancelled: Array<string> = []
  const state = { isOver: false }
  // Until it is answered: of one that was carried out unheard there is an item more.
  const heard = async (method: string, route: string, body?: Readonly<Record<string, unknown>>) => {
    while (true) {
      const answer = await fleet.api.ask(method, route, body).catch(() => undefined)
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer
      await pause(50)
    }
  }
  const one = async () => {
    const { body } = await heard("POST", "/workitems", { title: "An item", projectId })
    const { status } = await heard("DELETE", `/workitems/${String(body["id"])}`)
    // An answer that was lost makes the second request one too many.
    assert.include([200, 202, 204, 409], status)
    cancelled.push(String(body["id"]))
  }
  const going = (async () => {
    while (!state.isOver) await Promise.all([one(), one(), one(), pause(100)])
  })()
  return {
    count: () => cancelled.length,
    stop: async () => {
      state.isOver = true
      await going
      return cancelled
    }
  }
}

/** The number of lanes, once no endpoint moves any more. */
const isSettledAt = async (lanes: number) => {
  // A broker that was killed is not there for a while.
  const record = await fleet.bus.last("DELIVERIES", "deliveries.cursor").catch(() => undefined)
  const cursor = record?.["cursor"] as { readonly lanes?: number; readonly lanesBefore?: number } | undefined
  return cursor?.lanes === lanes && cursor.lanesBefore === undefined
}

describe("a change from two lanes to four while items come and go", () => {
  it("loses nothing, repeats no delivery but in a kill, and keeps order when each process is killed", async () => {
    const { api, bus, receiver, repository, nats } = fleet
    const projectId = "lanes"
    await api.call("PUT", `/projects/${projectId}`, { displayName: projectId, repositoryUrl: repository.url })
    const ordering = orders(projectId)
    const more = (count: number) => {
      const wanted = ordering.count() + count
      return until(() => ordering.count(), { is: (seen) => seen >= wanted })
    }
    await more(10)
    await until(() => isSettledAt(2))
    await fleet.killAndRestart("pipeline-api")
    await more(10)
    await fleet.killAndRestart("sweeper")
    // The change begins when the killed one is counted out.
    await fleet.killAndRestart("webhook-dispatcher", lanesOf(4))
    await fleet.killAndRestart("pipeline-api")
    await more(5)
    await fleet.killAndRestart("webhook-dispatcher")
    await nats.kill9()
    await nats.start()
    await more(5)
    await until(() => isSettledAt(4))
    await fleet.killAndRestart("webhook-dispatcher")
    await fleet.killAndRestart("pipeline-api")
    await more(10)
    const cancelled = await ordering.stop()

    await assertAllTold(bus)
    const logs = await readItemLogs(bus)
    const stateOf = new Map(logs.map(({ id, state }) => [id, state.state]))
    for (const id of cancelled) assert.strictEqual(stateOf.get(id), "Cancelled", id)
    const events = (await bus.read("EVENTS", "events.>")).map(({ sequence }) => sequence)
    const dispatchersKilled = 3
    for (const name of names) {
      const got = () => new Set(sequencesTo(receiver, path(name)))
      await until(() => got().size, { is: (size) => size >= events.length })
      const sequences = sequencesTo(receiver, path(name))
      assert.deepStrictEqual([...new Set(sequences)], events, name)
      const ids = requestsTo(receiver, path(name)).map(({ headers }) => headers["x-service-delivery"])
      assert.strictEqual(new Set(ids).size, events.length, `${name}: one delivery of each event`)
      assert.isAtMost(ids.length - events.length, dispatchersKilled + 1, `${name}: what was unacked in a kill`)
    }
  })
})
