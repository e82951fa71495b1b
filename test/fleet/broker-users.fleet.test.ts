import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parties, streamConfig, topology, userOf } from "#bus"
import { exampleEnvelope } from "#base"
import { exampleReport } from "#pipeline/contract"
import { refusals } from "../support/fleet-broker.ts"
import { type BusAddress, connectionTo } from "../../dev/fixtures/bus-address.ts"
import { startNatsServer } from "../../dev/fixtures/nats-server.ts"
import { openPipelineBus } from "../support/pipeline-bus.ts"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let [home, older]: Array<Home> = []
let [fleet, olderFleet]: Array<RunningFleet> = []
const only = <A>(found: A | undefined): A => found ?? assert.fail("it did not start")

beforeAll(async () => {
  home = newHome()
  fleet = await startFleet(home)
})
afterAll(async () => {
  for (const running of [fleet, olderFleet]) await running?.stop("SIGTERM")
  for (const made of [home, older]) made?.remove()
})

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const filesWithPasswords = (folder: string) => [
  join(folder, "ready.json"),
  join(folder, "nats/server.conf"),
  ...readdirSync(join(folder, "nats/users")).map((name) => join(folder, "nats/users", name))
]
const refusalOf = (bus: BusAddress) =>
  connect({ ...connectionTo(bus), reconnect: false }).then(
    async (connection) => {
      await connection.close()
      return "let in"
    },
    (error: unknown) => String(error)
  )

describe("the broker of one machine", () => {
  it("rejects a client without a user, without a password, or with a wrong one", async () => {
    const { nats: url } = only(fleet).ready
    for (const who of [{}, { user: "operator" }, { user: "operator", password: "" }, { user: "", password: "" }]) {
      assert.include(await refusalOf({ url, ...who }), "Authorization Violation", JSON.stringify(who))
    }
    const { password = "" } = only(fleet).serviceBus
    assert.include(await refusalOf({ url, user: "pipeline-api", password }), "Authorization Violation")
    assert.strictEqual(await refusalOf(only(fleet).serviceBus), "let in")
  })

  it("takes internal events and reports from an internal service, and lets it read all events", async () => {
    const connection = await connect(connectionTo(only(fleet).serviceBus))
    const client = jetstream(connection)
    const event = exampleEnvelope("sandbox.leak_detected")

    const { stream, seq } = await client.publish("events.sandbox.leak_detected", JSON.stringify(event))
    const reported = await client.publish("reports.iteration-ended", JSON.stringify(exampleReport("iteration-ended")))
    const { direct } = await client.jetstreamManager(false)
    const seen = await direct.getMessage("EVENTS", { seq })
    await connection.close()

    assert.deepStrictEqual([stream, reported.stream], ["EVENTS", "REPORTS"])
    assert.strictEqual(seen?.seq, seq)
    assert.deepStrictEqual(seen?.json(), event)
  })

  it("takes nothing else from it: no actor's event, decision, token, delivery, or stream deletion", async () => {
    const connection = await connect(connectionTo(only(fleet).serviceBus))
    const published = [
      "events.work_item.merged",
      "events.queue.paused",
      "events-cursor",
      "log.work-item.x",
      "$KV.tokens.x",
      "$KV.authorizations.x",
      "$KV.endpoints.x",
      "deliveries.due.0.x",
      "settlements.x",
      "payments.verify",
      "$JS.API.STREAM.DELETE.EVENTS",
      "$JS.API.STREAM.UPDATE.EVENTS",
      "$JS.API.STREAM.PURGE.EVENTS",
      "$JS.API.STREAM.MSG.GET.LOG",
      "$JS.API.STREAM.MSG.GET.KV_tokens",
      "$JS.API.DIRECT.GET.KV_views.x",
      "$JS.API.CONSUMER.CREATE.LOG.spy"
    ]
    const heard = [">", "log.>", "$KV.>", "deliveries.>", "commands.*", "_INBOX.>", "_INBOX_operator.>"]

    const refused = await refusals(connection, () => {
      for (const subject of published) connection.publish(subject, "{}")
      for (const subject of heard) connection.subscribe(subject, { callback: () => {} })
    })
    await connection.close()

    const expected = [
      ...published.map((subject) => `publish ${subject}`),
      ...heard.map((subject) => `subscription ${subject}`)
    ]
    assert.deepStrictEqual([...new Set(refused)].toSorted(), expected.toSorted())
  })

  it("keeps a password for each of its users, 256 random bits that no other user of the machine can read", () => {
    const folder = only(home).folder
    const names = readdirSync(join(folder, "nats/users"))
    const passwords = names.map((name) => readFileSync(join(folder, "nats/users", name), "utf8").trim())

    assert.deepStrictEqual(names.toSorted(), [...parties.map(userOf), "stream-keeper"].toSorted())
    assert.strictEqual(new Set(passwords).size, names.length)
    for (const password of passwords) assert.match(password, /^[0-9a-f]{64}$/u)
    for (const path of filesWithPasswords(folder)) assert.strictEqual(modeOf(path), "600", path)
    assert.strictEqual(modeOf(join(folder, "nats/users")), "700")
    for (const password of passwords) assert.notInclude(only(fleet).log(), password)
  })

  it("knows the operator in another terminal without a typed password, even with an explicit address", async () => {
    const { folder, environment } = only(home)
    const { nats } = only(fleet).ready
    const published = await starling(only(home), "publish", "work_item.merged", "--example")
    assert.strictEqual(published.code, 0, published.error)
    await until(() => only(fleet).log().includes("received work_item.merged"))
    for (const parameters of [["token", "make"], ["token", "list"], ["tail", "--last", "1"], ["consents"]]) {
      const ran = await starling(only(home), ...parameters, "--nats", nats)
      assert.strictEqual(ran.code, 0, `${parameters.join(" ")}: ${ran.error}`)
    }
    const elsewhere = { ...only(home), environment: { ...environment, STARLING_HOME: join(folder, "another") } }
    const refused = await starling(elsewhere, "token", "list", "--nats", nats)
    assert.strictEqual(refused.code, 1)
    assert.include(refused.error, "BUS_USER")

    const { user, password } = only(fleet).busAs("operator")
    const named = { ...elsewhere.environment, BUS_URL: nats, BUS_USER: user, BUS_PASSWORD: password }
    const listed = await starling({ ...elsewhere, environment: named }, "token", "list")
    assert.strictEqual(listed.code, 0, listed.error)
    assert.notMatch(only(fleet).log(), /Permissions Violation|forbids/u)
  })
})

describe("a home of an older release, with an open broker,", () => {
  it("keeps its stored data, and has users of its own from then on", async () => {
    older = newHome()
    const nats = join(older.folder, "nats")
    mkdirSync(join(nats, "data"), { recursive: true })
    writeFileSync(join(nats, "server.conf"), "# open to all\n", { mode: 0o644 })
    writeFileSync(join(older.folder, "ready.json"), `{"nats":"nats://127.0.0.1:9"}\n`, { mode: 0o644 })
    const open = await startNatsServer({ store: join(nats, "data") })
    const connection = await connect({ servers: open.url })
    const events = topology.streams.find(({ name }) => name === "EVENTS") ?? assert.fail()
    await (await jetstreamManager(connection)).streams.add({ ...streamConfig(events, 1), name: "EVENTS" })
    const event = exampleEnvelope("work_item.done")
    await jetstream(connection).publish("events.work_item.done", JSON.stringify(event))
    await connection.close()
    await open.stop()

    olderFleet = await startFleet(older)

    const bus = await openPipelineBus(olderFleet.serviceBus, olderFleet.busAs("operator"))
    const found = await bus.read("EVENTS", "events.work_item.done")
    await bus.close()
    assert.deepStrictEqual(
      found.map(({ value }) => value),
      [event]
    )
    assert.include(await refusalOf({ url: olderFleet.ready.nats }), "Authorization Violation")
    for (const path of filesWithPasswords(older.folder)) assert.strictEqual(modeOf(path), "600", path)
    const passwordOf = (of: RunningFleet, user: string) => of.busAs(user).password
    for (const user of [...parties.map(userOf), "stream-keeper"]) {
      assert.notStrictEqual(passwordOf(olderFleet, user), passwordOf(only(fleet), user), user)
    }
  })
})
