import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { startCollector } from "../support/collector.ts"
import { endpoint, publish, ready, receiverUrl, scene, setUpEachTest } from "../support/dispatcher-role.ts"
import { until } from "../../dev/fixtures/eventually.ts"

const secret = "hunter2-this-must-never-be-seen"

setUpEachTest()

describe("SIGTERM", () => {
  it("finishes a request under way, sends nothing twice, and exits with 0", async () => {
    const held: Array<ServerResponse> = []
    scene.answer = (response) => void held.push(response)
    const role = await ready([endpoint({ Concurrency: 1, TimeoutSeconds: 60 })])
    await publish("work_item.merged", "work_item.done")
    await until(() => held.length, { is: 1 })

    role.signal("SIGTERM")
    await until(() => role.status("/readyz"), { is: 503 })
    assert.strictEqual(await role.status("/livez"), 200)
    held[0]?.writeHead(204).end()

    assert.strictEqual(await role.ended, 0)
    assert.deepInclude(role.log().find(({ message }) => message === "drained") ?? {}, { handedBack: 0 })
    scene.answer = (response) => void response.writeHead(204).end()
    await ready([endpoint({ Concurrency: 1 })])
    await until(() => scene.requests.length, { is: 2 })
    assert.strictEqual(scene.requests.length, 2)
  })

  it("exits within 30 s with 0 even when a receiver never answers; its delivery is handed back", async () => {
    scene.answer = () => undefined
    const role = await ready([endpoint({ TimeoutSeconds: 300 })])
    await publish("work_item.merged")
    await until(() => scene.requests.length, { is: 1 })
    const began = performance.now()
    role.signal("SIGTERM")
    assert.strictEqual(await role.ended, 0)
    assert.isBelow(performance.now() - began, 30_000)
    assert.deepInclude(role.log().find(({ message }) => message === "drained") ?? {}, { finished: 0, handedBack: 1 })
    scene.answer = (response) => void response.writeHead(204).end()
    await ready([endpoint()])
    await until(() => scene.requests.length, { is: 2 })
  })
})

describe("the log and traces of a role", () => {
  it("are JSON, one object a line, each with the role, and contain no secret", async () => {
    scene.answer = (response, path) =>
      void response.writeHead(path === "/a" ? 500 : 204, { "X-Echo": secret }).end(secret)
    const environment = { HOOK_SECRET: secret, OTHER_SECRET: `whsec_${Buffer.from(secret).toString("base64")}` }
    const endpoints = [
      endpoint({ SecretEnvVar: "HOOK_SECRET", EventFilter: ["*", "work_item.not_in_the_catalogue"] }),
      endpoint({ Name: "b", Url: receiverUrl("/b"), StandardWebhooksSecretEnvVar: "OTHER_SECRET" })
    ]
    const sections = { Telemetry: { LogLevel: "Trace" }, Events: { Undeclared: "deliver" } }
    const role = await ready(endpoints, environment, sections)
    await publish("work_item.merged")
    await until(() => role.error().includes("a delivery is abandoned") && scene.requests.includes("/b"))
    const metrics = await role.metrics()
    role.signal("SIGTERM")
    assert.strictEqual(await role.ended, 0)

    assert.isAbove(role.log().length, 3)
    for (const line of role.log()) {
      assert.hasAnyKeys(line, ["message"])
      assert.match(String(line["time"]), /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/u)
      assert.include(["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"], line["level"])
    }
    const ofTheRole = role.log().filter((line) => line["role"] === "webhook-dispatcher")
    for (const said of ["a delivery is abandoned", "filters name events that are not declared"]) {
      assert.isTrue(
        ofTheRole.some(({ message }) => message === said),
        said
      )
    }
    // The process' log, all its roles together.
    const ofTheProcess = role.log().filter((line) => line["role"] === "fleet")
    assert.strictEqual(ofTheProcess.length + ofTheRole.length, role.log().length)
    assert.include(metrics, 'webhook_deliveries_total{role="webhook-dispatcher",endpoint="a",outcome="abandoned"} 1')
    for (const shown of [role.out(), role.error(), metrics]) {
      for (const hidden of [secret, environment.OTHER_SECRET, Buffer.from(secret).toString("base64")]) {
        assert.notInclude(shown, hidden)
      }
    }
  })

  it("reach the configured collector, each delivery's end in a trace of its own", async () => {
    const collector = await startCollector()
    try {
      scene.answer = (response) => void response.writeHead(500).end()
      const telemetry = { TELEMETRY_OTLP_URL: collector.url, TELEMETRY_TRACE_SAMPLE_RATIO: "1" }
      const role = await ready([endpoint({ MaxAttempts: 1 })], telemetry)
      await publish("work_item.merged", "work_item.done")
      const abandonments = () => collector.spans.filter(({ name }) => name === "AbandonedDeliveries.delivery")
      await until(() => abandonments().length, { is: 2 })
      for (const { service, traceId, spanId } of collector.spans) {
        assert.strictEqual(service, "webhook-dispatcher")
        assert.match(traceId, /^[0-9a-f]{32}$/u)
        assert.match(spanId, /^[0-9a-f]{16}$/u)
      }
      assert.match(await role.metrics(), /^tracing_spans_total\{role="webhook-dispatcher",outcome="sent"\} [1-9]/mu)
      const [first, second] = abandonments()
      assert.notStrictEqual(first?.traceId, second?.traceId)
    } finally {
      await collector.close()
    }
  })
})
