import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { eventCatalogue } from "#base"
import { readEnvelope } from "../support/pipeline-deliveries.ts"
import { everyEvent, type PipelineFleet, startPipelineFleet } from "../support/pipeline-fleet.ts"
import { createItem } from "../support/pipeline-item-scenarios.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let fleet: PipelineFleet

const quick = { InitialBackoffSeconds: 0.2 }
const refusals = 2

beforeAll(async () => {
  fleet = await startPipelineFleet((url) => ({
    Webhooks: [
      everyEvent(url("/every")),
      { Name: "without a filter or a secret", Url: url("/plain"), ...quick },
      { Name: "some", Url: url("/some"), EventFilter: ["work_item.done", "iteration.*"], ...quick },
      { Name: "refusing", Url: url("/refusing"), EventFilter: ["*"], MaxAttempts: refusals, ...quick }
    ],
    StalePullRequestSweep: { RouteToConflictRework: true }
  }))
  fleet.receiver.answer("/refusing", () => 500)
  await fleet.runner({ agents: ["coder"] })
  await fleet.runner({ agents: ["publisher"], more: ["--forge", fleet.forge, "--watch-forge", "300"] })
})
afterAll(() => fleet.stop())

const requestsOf = (path: string, id: string) =>
  fleet.receiver.requests.filter((request) => request.path === path && readEnvelope(request).workItem?.id === id)
const namesAt = (path: string, id: string) => requestsOf(path, id).map((request) => readEnvelope(request).event)
const namesOf = (id: string) => fleet.deliveries.of(id).map(({ event }) => event)
const heard = (event: string, id: string, details: Readonly<Record<string, unknown>> = {}) =>
  fleet.deliveries.heard(
    event,
    (one) => one.workItem?.id === id && Object.entries(details).every(([key, value]) => one.details?.[key] === value)
  )
const progress = new Set(eventCatalogue.filter(({ isProgress }) => isProgress).map(({ name }) => name))

describe("an item with a receiver that refuses every event", () => {
  it("still finishes, and the other receivers get the events that they asked for", async () => {
    const id = await createItem(fleet, await fleet.project(), "!block\n!suggest 2")
    await heard("work_item.done", id)
    const all = namesOf(id)
    const item = await fleet.api.call("GET", `/workitems/${id}`)
    assert.strictEqual(item["state"], "Done")
    // No forge has its branch: no pull request was opened.
    assert.notInclude(all, "work_item.pull_request_opened")

    await until(() => namesAt("/refusing", id).length, { is: (length) => length >= all.length * refusals })
    const attempts = Object.entries(
      Object.groupBy(requestsOf("/refusing", id), ({ headers }) => String(headers["x-service-delivery"]))
    )
    assert.lengthOf(attempts, all.length)
    for (const [delivery, requests = []] of attempts) assert.lengthOf(requests, refusals, delivery)

    const plain = all.filter((event) => !progress.has(event))
    const some = all.filter((event) => event === "work_item.done" || event.startsWith("iteration."))
    await until(() => namesAt("/plain", id).length >= plain.length && namesAt("/some", id).length >= some.length)
    assert.sameMembers(namesAt("/plain", id), plain)
    assert.sameMembers(namesAt("/some", id), some)
    assert.lengthOf(some, 5)
    for (const { headers } of requestsOf("/plain", id)) assert.notProperty(headers, "x-service-signature")
    assert.strictEqual((await fleet.api.call("GET", `/workitems/${id}`))["updatedAt"], item["updatedAt"])
  })
})

describe("a failing phase", () => {
  it("leaves its start event without an end, and the failure event follows", async () => {
    const projectId = await fleet.project()
    for (const [orders, started, completed, failure] of [
      ["!fail", "iteration.started", "iteration.completed", "work_item.failed"],
      ["!conflict\n!markers", "merge.started", "merge.completed", "work_item.merge_conflict_resolution_failed"]
    ] as const) {
      const id = await createItem(fleet, projectId, orders)
      await heard(failure, id)
      const names = namesOf(id)
      assert.include(names, started)
      assert.notInclude(names, completed)
      assert.strictEqual(names.at(-1), failure)
    }
  })
})

describe("a pull request that fell behind its base", () => {
  it("is reworked and pushed again when that is enabled", async () => {
    const id = await createItem(fleet, await fleet.project(), null, { agent: "publisher" })
    const { details } = await heard("work_item.pull_request_opened", id)
    await heard("work_item.done", id)
    const before = namesOf(id).length
    const { workBranch } = await fleet.api.call("GET", `/workitems/${id}`)
    const ours = fleet.repository.file(String(workBranch), `items/${id}.md`) ?? ""
    fleet.repository.commit("main", `items/${id}.md`, "somebody was quicker\n")
    await until(() => namesOf(id).filter((event) => event === "work_item.done").length, { is: 2 })

    const [stale, ...after] = fleet.deliveries.of(id).slice(before)
    assert.strictEqual(stale?.event, "upstream.pr_stale_base")
    assert.strictEqual(stale?.details?.["pullRequestNumber"], details?.["pullRequestNumber"])
    assert.deepStrictEqual(
      after.map(({ event }) => event),
      ["work_item.upstream_pushing", "work_item.done"]
    )
    const item = await fleet.api.call("GET", `/workitems/${id}`)
    assert.deepInclude(item, { conflictReworks: 1, upstreamPushAttempts: 2 })
    const both = fleet.repository.file(String(workBranch), `items/${id}.md`) ?? ""
    for (const part of [ours.trim(), "somebody was quicker"]) assert.include(both, part)
  })
})

describe("a rework whose host shuts down", () => {
  it("begins at iteration 1 again, and so does its audit", async () => {
    const runner = await fleet.runner({ agents: ["mortal"] })
    const id = await createItem(fleet, await fleet.project(), "!block\n!slow rework 4", { agent: "mortal" })
    await heard("iteration.started", id, { iteration: 2, phase: "rework" })
    assert.strictEqual(await runner.stop(), 0)
    await until(async () => (await fleet.api.call("GET", `/workitems/${id}`))["state"] === "Queued", {
      withinMs: 10_000
    })
    const before = namesOf(id).length
    await fleet.runner({ agents: ["mortal"] })
    await until(() => namesOf(id).slice(before).includes("audit.started"))
    const numbered = fleet.deliveries
      .of(id)
      .slice(before)
      .map(({ event, details }) => `${event} ${String(details?.["iteration"] ?? "")}`.trim())
    assert.deepStrictEqual(numbered.slice(0, 6), [
      "work_item.reworking",
      "iteration.started 1",
      "iteration.completed 1",
      "work_item.work_complete",
      "work_item.auditing",
      "audit.started 1"
    ])
  })
})

describe("every sent event", () => {
  it("conforms to the contract", async () => {
    assert.deepStrictEqual(await fleet.deliveries.faults(), [])
  })
})
