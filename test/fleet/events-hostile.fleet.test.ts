import { connect, headers as natsHeaders, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node"
import { jetstream } from "@nats-io/jetstream"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { envelopeBytesMax } from "#bus"
import { connectionTo } from "../../dev/fixtures/bus-address.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { type Home, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { startReceiver, type TestReceiver } from "../support/receiver.ts"

const publishes = 10_000
// A minute and a half on two cores that have other work.
const withinMs = 300_000
const atOnce = 64

const types = [
  {
    Name: "order.created",
    Owners: ["internal-services"],
    Schema: {
      type: "object",
      required: ["id"],
      properties: {
        id: { type: "string", pattern: "^([A-Z]+)+-[0-9]+$" },
        lines: { items: { $ref: "#" }, uniqueItems: true }
      },
      unevaluatedProperties: false
    }
  },
  { Name: "order.paid", Owners: ["token:shop"] },
  { Name: "order.lost", Owners: ["internal-services"], Retired: true }
]

const scope = Scope.makeUnsafe()
let home: Home
let fleet: RunningFleet
let receiver: TestReceiver
let service: NatsConnection

beforeAll(async () => {
  receiver = await Effect.runPromise(Effect.provideService(startReceiver, Scope.Scope, scope))
  home = newHome()
  const config = join(home.folder, "events.config.json")
  const sections = {
    Fleet: { Roles: ["pipeline-api", "webhook-dispatcher"] },
    PipelineApi: { Port: 0 },
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] },
    Webhooks: [{ Name: "all", Url: receiver.url("/all"), EventFilter: ["*"] }],
    Events: { Types: types }
  }
  writeFileSync(config, JSON.stringify(sections))
  home.environment["STARLING_CONFIG"] = config
  fleet = await startFleet(home)
  service = await connect(connectionTo(fleet.serviceBus))
})
afterAll(async () => {
  await service?.close()
  await fleet?.stop("SIGTERM")
  await Effect.runPromise(Scope.close(scope, Exit.void))
  home?.remove()
})

interface Hostile {
  readonly name: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

const text = (event: string, details: unknown, changes: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({ event, eventSchemaVersion: "1.0.0", occurredAt: "2026-05-01T12:00:00Z", details, ...changes })

const named = (name: string, details: unknown = { id: "A-1" }): Hostile => ({ name, body: text(name, details) })
const order = (details: unknown, changes: Readonly<Record<string, unknown>> = {}): Hostile => ({
  name: "order.created",
  body: text("order.created", details, changes)
})
/** An event of so many bytes, valid but for its details. */
const sized = (bytes: number): Hostile => {
  const bare = text("order.created", { id: 1, fill: "" })
  return { name: "order.created", body: text("order.created", { id: 1, fill: "x".repeat(bytes - bare.length) }) }
}
const cloudEvent = (changes: Readonly<Record<string, unknown>>): Hostile => ({
  name: "order.created",
  body: JSON.stringify({ specversion: "1.0", id: "1", source: "/s", type: "order.created", data: {}, ...changes }),
  headers: { "content-type": "application/cloudevents+json" }
})
const invalidUtf8 = Uint8Array.from([...new TextEncoder().encode('{"event":"'), 0xc3, 0x28, 0x22, 0x7d])

/** One of each kind; `turn` makes each different. None is a valid event of a declared type by its owner. */
const kinds: ReadonlyArray<(turn: number) => Hostile> = [
  (turn) => named(`order.unknown_${turn}`),
  (turn) => named(`orders.created${turn}`),
  () => named("order.paid"),
  () => named("order.lost"),
  () => named("work_item.merged"),
  (turn) => named(`work_item.merged_${turn}`),
  () => named("queue.paused"),
  () => ({ name: "order.created", body: text("order.paid", null) }),
  (turn) => order({ id: turn }),
  () => order(null),
  () => order([]),
  () => order({ id: `${"A".repeat(5_000)}!` }),
  (turn) => order({ id: "A-1", [`more_${turn}`]: true }),
  () => order({ id: "A-1", lines: Array.from({ length: 2_000 }, () => ({})) }),
  () => order(JSON.parse(`{"__proto__":{"id":"A-1"}}`)),
  () => order({ id: "A-1" }, { eventSchemaVersion: "9.0.0" }),
  () => order({ id: "A-1" }, { occurredAt: "yesterday" }),
  () => order({ id: "A-1" }, { workItem: "none" }),
  () => ({ name: "order.created", body: `{"event":"order.created","event":"order.paid"}` }),
  () => ({ name: "order.created", body: `${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}` }),
  () => ({ name: "order.created", body: `[${"[],".repeat(20_000)}[]]` }),
  () => ({ name: "order.created", body: "" }),
  () => ({ name: "order.created", body: "null" }),
  () => ({ name: "order.created", body: "\u0000".repeat(1_000) }),
  () => ({ name: "order.created", body: invalidUtf8 }),
  () => ({ name: "order.created", body: `\ufeff\ufeff${text("order.created", { id: "A-1" })}` }),
  () => cloudEvent({}),
  () => cloudEvent({ specversion: "2.0" }),
  () => cloudEvent({ data_base64: "AAAA" }),
  () => cloudEvent({ type: "work_item.merged" }),
  (turn) => cloudEvent({ ["x".repeat(turn % 40)]: {} }),
  () => ({
    ...order({ id: 1 }),
    headers: { "ce-specversion": "1.0", "ce-id": "%00", "ce-source": "\u00ff", "ce-type": "order.created" }
  }),
  () => ({
    ...order({ id: 1 }),
    headers: { "Nats-Rollup": "all", "Nats-TTL": "1s", "Nats-Expected-Last-Sequence": "1" }
  }),
  () => ({
    ...order({ id: 1 }),
    headers: { "Nats-Schedule": "@every 1s", "Nats-Schedule-Target": "events.order.created" }
  }),
  (turn) => ({ ...order({ id: 1 }), headers: { "Nats-Msg-Id": `${"i".repeat(500)}${turn}` } })
]

/** Large ones, each of which costs a broker and a process a quarter of a megabyte: a few of them. */
const large: ReadonlyArray<Hostile> = [-1, 0, 1].map((more) => sized(envelopeBytesMax + more))

const hostile = (turn: number): Hostile => {
  if (turn % 500 === 0) return large[(turn / 500) % large.length] ?? sized(envelopeBytesMax)
  return kinds[turn % kinds.length]?.(turn) ?? named("order.unknown")
}

const headersOf = ({ headers = {} }: Hostile): MsgHdrs => {
  const sent = natsHeaders()
  for (const [key, value] of Object.entries(headers)) sent.set(key, value)
  return sent
}

const answers = new Map<string, number>()
const ask = async (turn: number) => {
  const one = hostile(turn)
  const reply = await service.request(`publish.${one.name}`, one.body, { timeout: 20_000, headers: headersOf(one) })
  const { _tag: tag, faults = [] } = reply.json<{ _tag: string; faults?: ReadonlyArray<{ path: string }> }>()
  assert.strictEqual(tag, "Refused", `${turn}: ${one.name} ${String(one.body).slice(0, 200)}`)
  assert.isAbove(faults.length, 0)
  answers.set(tag, (answers.get(tag) ?? 0) + 1)
}

const inParallel = async (count: number, work: (turn: number) => Promise<void>) => {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** Good events, one every 50 ms until `end`, and when each was sent. */
const goodOnes = async (end: Promise<unknown>) => {
  const sent = new Map<number, number>()
  const state = { isOver: false }
  void end.then(() => (state.isOver = true))
  while (!state.isOver) {
    const sentMs = Date.now()
    const good = text("order.created", { id: "GOOD-1" })
    const reply = await service.request("publish.order.created", good, { timeout: 20_000 })
    sent.set(reply.json<{ sequence: number }>().sequence, sentMs)
    await sleep(50)
  }
  return sent
}

const delivered = () =>
  receiver.requests.map(({ headers }) => Number(headers["x-service-sequence"])).filter((sequence) => sequence > 0)

describe("ten thousand hostile publishes", () => {
  it(
    "are all answered with their faults, deliver nothing, and hold up no good event",
    async () => {
      const startedMs = Date.now()
      const flood = inParallel(publishes, ask)
      const good = await goodOnes(flood)
      await flood
      const floodMs = Date.now() - startedMs
      assert.strictEqual(answers.get("Refused"), publishes)
      await until(() => new Set(delivered()).size, { is: (count) => count >= good.size })
      assert.sameMembers([...new Set(delivered())], [...good.keys()], "the good ones, and no other")
      const lateMs = receiver.requests.flatMap(({ headers, atMs }) => {
        const sentMs = good.get(Number(headers["x-service-sequence"]))
        return sentMs === undefined ? [] : [atMs - sentMs]
      })
      // A share of the whole, for the machine is busy with nothing else.
      assert.isBelow(Math.max(...lateMs), floodMs / 20, "the slowest good one")
    },
    withinMs
  )

  it("published straight are told to their publisher, and neither delivered nor able to change what is kept", async () => {
    const told: Array<number> = []
    service.subscribe("rejected.internal-services", {
      callback: (_error, message) => void told.push(message.json<{ sequence: number }>().sequence)
    })
    await service.flush()
    const client = jetstream(service)
    const stored: Array<number> = []
    const refusedByBroker: Array<string> = []
    const before = delivered().length
    for (let turn = 0; turn < kinds.length * 2; turn += 1) {
      const one = hostile(turn)
      // The broker itself lets nobody publish these.
      if (/^(?:work_item|queue)\./u.test(one.name)) continue
      await client.publish(`events.${one.name}`, one.body, { headers: headersOf(one), timeout: 20_000 }).then(
        ({ seq, duplicate }) => (duplicate ? undefined : stored.push(seq)),
        (error: unknown) => refusedByBroker.push(String(error))
      )
    }
    assert.isAbove(stored.length, 40)
    await until(() => told.length, { is: (count) => count >= stored.length })
    assert.sameMembers(told, stored)
    assert.strictEqual(delivered().length, before)
    assert.isTrue(
      refusedByBroker.every((error) => !error.includes("timeout")),
      refusedByBroker.join("\n")
    )
  })
})
