import { connect, type NatsConnection, headers as natsHeaders } from "@nats-io/transport-node"
import { jetstream } from "@nats-io/jetstream"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { connectionTo } from "../../dev/fixtures/bus-address.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { startReceiver, type TestReceiver } from "../support/receiver.ts"

const orderSchema = { type: "object", required: ["id"], properties: { id: { type: "string" } } }
const types = [
  { Name: "order.created", Owners: ["internal-services", "token:shop"], Schema: orderSchema },
  { Name: "order.paid", Owners: ["token:shop"] }
]

const scope = Scope.makeUnsafe()
let home: Home
let fleet: RunningFleet
let receiver: TestReceiver
let service: NatsConnection
const tokens = new Map<string, string>()

beforeAll(async () => {
  receiver = await Effect.runPromise(Effect.provideService(startReceiver, Scope.Scope, scope))
  home = newHome()
  const config = join(home.folder, "events.config.json")
  const sections = {
    Fleet: { Roles: ["pipeline-api", "webhook-dispatcher", "console"] },
    PipelineApi: { Port: 0 },
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] },
    Webhooks: [{ Name: "all", Url: receiver.url("/all"), EventFilter: ["*"] }],
    Events: { Types: types }
  }
  writeFileSync(config, JSON.stringify(sections))
  home.environment["STARLING_CONFIG"] = config
  fleet = await startFleet(home)
  for (const label of ["shop", "other"]) {
    const made = await starling(
      home,
      "token",
      "make",
      "--label",
      label,
      "--kind",
      "service",
      "--scope",
      "events:publish",
      "--json"
    )
    tokens.set(label, (JSON.parse(made.out) as { token: string }).token)
  }
  service = await connect(connectionTo(fleet.serviceBus))
})
afterAll(async () => {
  await service?.close()
  await fleet?.stop("SIGTERM")
  await Effect.runPromise(Scope.close(scope, Exit.void))
  home?.remove()
})

const envelope = (event: string, details: unknown = { id: "A-1" }) => ({
  event,
  eventSchemaVersion: "1.0.0",
  occurredAt: "2026-05-01T12:00:00Z",
  details
})

interface Body {
  readonly items?: ReadonlyArray<{ readonly sequence: number; readonly duplicate: boolean }>
  readonly error?: { readonly fields: Readonly<Record<string, string>> }
}

interface Answer {
  readonly _tag: string
  readonly sequence?: number
  readonly duplicate?: boolean
  readonly faults?: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

const publish = async (name: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const sent = natsHeaders()
  for (const [key, value] of Object.entries(headers)) sent.set(key, value)
  const data = typeof body === "string" ? body : JSON.stringify(body)
  const reply = await service.request(`publish.${name}`, data, { timeout: 5_000, headers: sent })
  return reply.json<Answer>()
}

const post = async (label: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${fleet.ready.pipeline}/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.get(label) ?? ""}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: (await response.json()) as Body }
}

const received = (sequence: number | undefined) =>
  until(() => receiver.requests.find(({ headers }) => headers["x-service-sequence"] === String(sequence)), {
    is: (found) => found !== undefined
  })

const cloudEvent = { specversion: "1.0", id: "7", source: "/shop", type: "order.created", data: { id: "A-7" } }

describe("an event of a deployment's own service", () => {
  it("is published by request, and answered with its place", async () => {
    const stored = await publish("order.created", envelope("order.created"))
    assert.deepInclude(stored, { _tag: "Stored", duplicate: false })
    assert.strictEqual((await received(stored.sequence))?.headers["x-service-event"], "order.created")
  })

  it("with an id of its own is stored once", async () => {
    const id = { "Nats-Msg-Id": crypto.randomUUID() }
    const first = await publish("order.created", envelope("order.created"), id)
    const second = await publish("order.created", envelope("order.created"), id)
    assert.deepStrictEqual([second.sequence, second.duplicate], [first.sequence, true])
  })

  const refused: ReadonlyArray<readonly [string, string, unknown, string]> = [
    ["whose details break the schema", "order.created", envelope("order.created", { id: 1 }), "/details/id"],
    ["that nobody declared", "order.lost", envelope("order.lost"), "/event"],
    ["of another owner", "order.paid", envelope("order.paid"), "/event"],
    ["under another's name", "order.created", envelope("order.paid"), "/event"],
    ["of the fleet's own", "work_item.merged", envelope("work_item.merged"), "/event"],
    ["that is no JSON", "order.created", "{", ""]
  ]
  it.each(refused)("%s is answered with the path of the fault by publish.<name>", async (_name, name, body, path) => {
    const answer = await publish(name, body)
    assert.strictEqual(answer._tag, "Refused")
    assert.include(
      (answer.faults ?? []).map((fault) => fault.path),
      path
    )
  })

  it("published straight and refused is told on rejected.<user>", async () => {
    const told = service.subscribe("rejected.internal-services", { max: 1 })
    await service.flush()
    const { seq } = await jetstream(service).publish(
      "events.order.created",
      JSON.stringify(envelope("order.created", {}))
    )
    for await (const message of told) {
      const { subject, sequence, faults } = message.json<{
        subject: string
        sequence: number
        faults: Answer["faults"]
      }>()
      assert.deepStrictEqual(
        [subject, sequence, faults?.map(({ path }) => path)],
        ["events.order.created", seq, ["/details"]]
      )
    }
  })

  it("comes by HTTP, one or a list, of types that its token owns", async () => {
    const one = await post("shop", envelope("order.paid"))
    assert.strictEqual(one.status, 201, JSON.stringify(one.body))
    const list = await post("shop", [envelope("order.created"), envelope("order.paid")])
    assert.strictEqual(list.status, 201)
    const [first, second] = (list.body.items ?? []).map(({ sequence }) => sequence)
    assert.isAbove(second ?? 0, first ?? 0)
    assert.strictEqual((await received(second))?.headers["x-service-event"], "order.paid")
  })

  it("of a list is stored with all others or not at all, and every fault has its index", async () => {
    const { status, body } = await post("shop", [
      envelope("order.created"),
      envelope("order.created", {}),
      envelope("order.x")
    ])
    const fields = body.error?.fields ?? {}
    assert.deepStrictEqual([status, Object.keys(fields)], [400, ["/1/details", "/2/event"]])
  })

  it("by HTTP with an Idempotency-Key is stored once, and with another body refused", async () => {
    const key = { "idempotency-key": crypto.randomUUID() }
    const first = await post("shop", envelope("order.paid"), key)
    const second = await post("shop", envelope("order.paid"), key)
    assert.deepStrictEqual(second, first)
    assert.strictEqual((await post("shop", envelope("order.paid", { id: "B" }), key)).status, 409)
    assert.strictEqual((await post("shop", [envelope("order.paid")], key)).status, 409, "a list is another body")
    assert.strictEqual((await post("other", envelope("order.paid"), key)).status, 400, "it owns neither type nor key")
  })

  it("by a token that does not own its type, or has no scope for it, is refused", async () => {
    const other = await post("other", envelope("order.paid"))
    assert.strictEqual(other.status, 400)
    assert.match(JSON.stringify(other.body), /token:other is no owner of order\.paid/u)
    const made = await starling(home, "token", "make", "--kind", "service", "--scope", "pipeline:read", "--json")
    tokens.set("reader", (JSON.parse(made.out) as { token: string }).token)
    assert.strictEqual((await post("reader", envelope("order.paid"))).status, 403)
  })

  it("may be a CloudEvent, by either way, and is the same event", async () => {
    const byNats = await publish("order.created", cloudEvent, { "content-type": "application/cloudevents+json" })
    assert.strictEqual(byNats._tag, "Stored", JSON.stringify(byNats))
    const { status, body } = await post(
      "shop",
      { ...cloudEvent, id: "8" },
      { "content-type": "application/cloudevents+json" }
    )
    assert.strictEqual(status, 201, JSON.stringify(body))
    const again = await post("shop", { ...cloudEvent, id: "8" }, { "content-type": "application/cloudevents+json" })
    assert.deepStrictEqual(again.body.items?.[0]?.duplicate, true)
    const binary = { "ce-specversion": "1.0", "ce-id": "9", "ce-source": "/shop", "ce-type": "order.created" }
    assert.strictEqual((await post("shop", { id: "A-9" }, binary)).status, 201)
    const batch = await post(
      "shop",
      [
        { ...cloudEvent, id: "10" },
        { ...cloudEvent, id: "11", data: {} }
      ],
      { "content-type": "application/cloudevents-batch+json" }
    )
    assert.match(JSON.stringify(batch.body), /"\/1\/details"/u)
    const arrived = await received(byNats.sequence)
    const delivered = JSON.parse(arrived?.body.toString() ?? "{}") as Record<string, unknown>
    assert.deepInclude(delivered, { event: "order.created", details: { id: "A-7" } })
  })
})
