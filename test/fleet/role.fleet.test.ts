import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#contracts"
import { busOn } from "../support/bus.ts"
import { startCollector } from "../support/collector.ts"
import { startNatsServer, type TestNatsServer } from "../support/nats-server.ts"
import { endRoles, type RoleOptions, startRole } from "../support/role.ts"
import { until } from "../support/starling.ts"

const secret = "hunter2-this-must-never-be-seen"

type Answer = (response: ServerResponse, path: string) => void

let nats: TestNatsServer
let answer: Answer
let requests: Array<string>
let heard: Array<{ readonly event: string; readonly deliveryId: string }>
const receiver = createServer((request, response) => {
  request.resume()
  request.on("end", () => {
    requests.push(request.url ?? "")
    const { "x-service-event": event, "x-service-delivery": deliveryId } = request.headers
    heard.push({ event: String(event), deliveryId: String(deliveryId) })
    answer(response, request.url ?? "")
  })
})
const receiverUrl = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`

beforeEach(async () => {
  nats = await startNatsServer()
  requests = []
  heard = []
  answer = (response) => void response.writeHead(204).end()
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
})
afterEach(async () => {
  await endRoles()
  await nats.stop()
  await new Promise<void>((resolve) => {
    receiver.close(() => resolve())
    receiver.closeAllConnections()
  })
})

const endpoint = (changes: Readonly<Record<string, unknown>> = {}) => ({
  Name: "a",
  Url: receiverUrl("/a"),
  InitialBackoffSeconds: 0.1,
  MaxAttempts: 2,
  ...changes
})

const dispatcher = (
  endpoints: ReadonlyArray<unknown>,
  environment: RoleOptions["environment"] = {},
  sections: Readonly<Record<string, unknown>> = {}
) => {
  const configuration = {
    Webhooks: endpoints,
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] },
    Bus: { Url: nats.url },
    ...sections
  }
  return startRole("webhook-dispatcher", { configuration, environment })
}

const ready = async (...parameters: Parameters<typeof dispatcher>) => {
  const role = await dispatcher(...parameters)
  await until(async () => (await role.status("/readyz")) === 200)
  return role
}

const publish = (...events: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const publisher = yield* Publisher
    for (const event of events) {
      const body = new TextEncoder().encode(JSON.stringify(exampleEnvelope(event)))
      yield* publisher.publishRaw(subjects.event(event), body)
    }
  }).pipe(Effect.provide(busOn(nats)), Effect.scoped, Effect.runPromise)

describe("SIGTERM", () => {
  it("lets a request that is under way end, sends nothing twice, and the process exits with 0", async () => {
    const held: Array<ServerResponse> = []
    answer = (response) => void held.push(response)
    const role = await ready([endpoint({ Concurrency: 1, TimeoutSeconds: 60 })])
    await publish("work_item.merged", "work_item.done")
    await until(() => held.length === 1)

    role.signal("SIGTERM")
    await until(async () => (await role.status("/readyz")) === 503)
    assert.strictEqual(await role.status("/livez"), 200)
    held[0]?.writeHead(204).end()

    assert.strictEqual(await role.ended, 0)
    assert.deepInclude(role.log().find(({ message }) => message === "drained") ?? {}, { handedBack: 0 })
    answer = (response) => void response.writeHead(204).end()
    await ready([endpoint({ Concurrency: 1 })])
    await until(() => requests.length === 2)
    assert.strictEqual(requests.length, 2)
  })

  it("ends the process within 30 s with 0 also when a receiver never answers; its delivery is handed back", async () => {
    answer = () => undefined
    const role = await ready([endpoint({ TimeoutSeconds: 300 })])
    await publish("work_item.merged")
    await until(() => requests.length === 1)
    const began = performance.now()
    role.signal("SIGTERM")
    assert.strictEqual(await role.ended, 0)
    assert.isBelow(performance.now() - began, 30_000)
    assert.deepInclude(role.log().find(({ message }) => message === "drained") ?? {}, { finished: 0, handedBack: 1 })
    answer = (response) => void response.writeHead(204).end()
    await ready([endpoint()])
    await until(() => requests.length === 2)
  })
})

describe("what a role shows of itself", () => {
  it("is JSON, one object a line, each with the role; and a secret is in none of it", async () => {
    answer = (response, path) => void response.writeHead(path === "/a" ? 500 : 204, { "X-Echo": secret }).end(secret)
    const environment = { HOOK_SECRET: secret, OTHER_SECRET: `whsec_${Buffer.from(secret).toString("base64")}` }
    const endpoints = [
      endpoint({ SecretEnvVar: "HOOK_SECRET", EventFilter: ["*", "work_item.not_in_the_catalogue"] }),
      endpoint({ Name: "b", Url: receiverUrl("/b"), StandardWebhooksSecretEnvVar: "OTHER_SECRET" })
    ]
    const role = await ready(endpoints, environment, { Telemetry: { LogLevel: "Trace" } })
    await publish("work_item.merged")
    await until(() => role.error().includes("a delivery is abandoned") && requests.includes("/b"))
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
    for (const said of ["a delivery is abandoned", "an EventFilter names events that are not in the catalogue"]) {
      assert.isTrue(
        ofTheRole.some(({ message }) => message === said),
        said
      )
    }
    // What the process says of itself, all its roles together.
    const ofTheProcess = role.log().filter((line) => line["role"] === "fleet")
    assert.strictEqual(ofTheProcess.length + ofTheRole.length, role.log().length)
    assert.include(metrics, 'webhook_deliveries_total{role="webhook-dispatcher",endpoint="a",outcome="abandoned"} 1')
    for (const shown of [role.out(), role.error(), metrics]) {
      for (const hidden of [secret, environment.OTHER_SECRET, Buffer.from(secret).toString("base64")]) {
        assert.notInclude(shown, hidden)
      }
    }
  })

  it("is traced to the collector that is configured, each delivery's end in a trace of its own", async () => {
    const collector = await startCollector()
    try {
      answer = (response) => void response.writeHead(500).end()
      const telemetry = { TELEMETRY_OTLP_URL: collector.url, TELEMETRY_TRACE_SAMPLE_RATIO: "1" }
      const role = await ready([endpoint({ MaxAttempts: 1 })], telemetry)
      await publish("work_item.merged", "work_item.done")
      const abandonments = () => collector.spans.filter(({ name }) => name === "Archive.delivery")
      await until(() => abandonments().length === 2)
      for (const { service, traceId, spanId } of collector.spans) {
        assert.strictEqual(service, "webhook-dispatcher")
        assert.match(traceId, /^[0-9a-f]{32}$/u)
        assert.match(spanId, /^[0-9a-f]{16}$/u)
      }
      assert.include(await role.metrics(), 'tracing_spans_total{role="webhook-dispatcher",outcome="sent"}')
      const [first, second] = abandonments()
      assert.notStrictEqual(first?.traceId, second?.traceId)
    } finally {
      await collector.close()
    }
  })
})

describe("a role with a wrong configuration", () => {
  const refused = async (...parameters: Parameters<typeof dispatcher>) => {
    const role = await dispatcher(...parameters)
    const code = await role.ended
    assert.notStrictEqual(code, 0)
    assert.isNumber(code, `it ended by ${code}`)
    return role.error()
  }
  const name = (names: string) => endpoint({ Name: names })

  it.each([
    [
      "an unset secret variable",
      () => [endpoint({ SecretEnvVar: "NOT_SET" })],
      ["Webhooks[0].SecretEnvVar", "NOT_SET"]
    ],
    ["an empty secret variable", () => [endpoint({ SecretEnvVar: "EMPTY" })], ["Webhooks[0].SecretEnvVar", "EMPTY"]],
    ["a Name used twice", () => [name("x"), name("y"), name("x")], ["Webhooks", "the Name", "is used twice"]],
    ["a Url that cannot be called", () => [endpoint({ Url: "ftp://files.example/" })], ["Webhooks[0].Url", "https"]],
    ["an unknown key", () => [endpoint(), endpoint({ Name: "b", Retries: 3 })], ["Webhooks[1].Retries"]]
  ] as const)("does not start: %s is named", async (_what, endpoints, named) => {
    const said = await refused(endpoints(), { EMPTY: "" })
    for (const part of named) assert.include(said, part)
    assert.deepStrictEqual(requests, [])
  })

  it("names every fault at once", async () => {
    const endpoints = [
      endpoint({ SecretEnvVar: "NOT_SET" }),
      endpoint({ Name: "b", StandardWebhooksSecretEnvVar: "EMPTY" })
    ]
    const secrets = await refused(endpoints, { EMPTY: "  " })
    for (const part of ["Webhooks[0].SecretEnvVar", "Webhooks[1].StandardWebhooksSecretEnvVar"]) {
      assert.include(secrets, part)
    }
    const shapes = await refused([endpoint({ Url: "nowhere" }), endpoint({ Name: "b", Retries: 3 })], {}, { Buss: {} })
    for (const part of ["Webhooks[0].Url", "Webhooks[1].Retries", "Buss"]) assert.include(shapes, part)
  })
})

describe("a role whose broker is away", () => {
  it("that is told to stop before it stands ends at once with 0", async () => {
    await nats.kill9()
    const role = await dispatcher([endpoint()])
    await until(async () => (await role.status("/livez")) === 200)
    const askedAtMs = performance.now()
    role.signal("SIGTERM")
    assert.strictEqual(await role.ended, 0)
    assert.isBelow(performance.now() - askedAtMs, 15_000)
    assert.include(role.error(), "told to stop while starting")
  })

  it("is alive and not ready from the start, and ready once the broker is there", async () => {
    await nats.kill9()
    const role = await dispatcher([endpoint()])
    await until(async () => (await role.status("/livez")) === 200)
    assert.strictEqual(await role.status("/readyz"), 503)
    await nats.start()
    await until(async () => (await role.status("/readyz")) === 200)
    await publish("work_item.merged")
    await until(() => requests.length === 1)
  })

  it("stays alive and is not ready meanwhile, and goes on when the broker is back", async () => {
    const role = await ready([endpoint()])
    await publish("work_item.merged")
    await until(() => requests.length === 1)
    await nats.kill9()
    await until(async () => (await role.status("/readyz")) === 503)
    // What minutes of it do to the loops is seen with a faster clock, in the tests of the dispatcher.
    for (const began = performance.now(); performance.now() - began < 5_000;) {
      assert.strictEqual(await role.status("/livez"), 200)
      assert.strictEqual(await role.status("/readyz"), 503)
    }
    await nats.start()
    await until(async () => (await role.status("/readyz")) === 200)
    await publish("work_item.done")
    const heardOf = (event: string) => heard.filter((request) => request.event === event)
    await until(() => heardOf("work_item.done").length > 0)
    // The broker died so soon after the first delivery that its acknowledgement may be lost: it then comes again.
    assert.lengthOf(new Set(heardOf("work_item.merged").map(({ deliveryId }) => deliveryId)), 1)
    assert.lengthOf(new Set(heard.map(({ deliveryId }) => deliveryId)), 2)
    assert.strictEqual(await role.status("/livez"), 200)
  })
})
