import { jetstreamManager } from "@nats-io/jetstream"
import type { NatsConnection } from "@nats-io/nats-core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  accountOf,
  besideStreams,
  coreSubjects,
  fleetAccount,
  outsiders,
  parties,
  type Party,
  partyUsers,
  readyConsumersOf,
  topology,
  userOf
} from "#bus"
import { exampleEnvelope, subjects } from "#base"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { stepsOf } from "../../libs/actors/event-relay.ts"
import { keeperUser } from "../../services/fleet/nats-server/configuration.ts"
import { connectAs, startMachineBroker } from "../support/fleet-broker.ts"
import {
  rightsOf,
  sendAnswersElsewhere,
  sendInstructions,
  sendMessagesElsewhere,
  streamNames,
  token,
  tokenSubject,
  withHeaders
} from "../support/forgery.ts"

let server: TestNatsServer
let keeper: NatsConnection
beforeAll(async () => {
  server = await startMachineBroker()
  keeper = await connectAs(server.url, keeperUser)
  await fill()
})
afterAll(async () => {
  await keeper.close()
  await server.stop()
})

const messages = async (name: string) => {
  const manager = await jetstreamManager(keeper)
  const { config, state } = await manager.streams.info(name)
  const found: Array<string> = []
  for (let seq = state.first_seq; seq > 0 && seq <= state.last_seq; seq += 1) {
    const message = await manager.streams.getMessage(name, { seq }).catch(() => null)
    if (message !== null) found.push(`${seq} ${message.subject} ${Buffer.from(message.data).toString("base64")}`)
  }
  const consumers: Array<string> = []
  for await (const consumer of manager.consumers.list(name)) consumers.push(consumer.name)
  return { found, settings: JSON.stringify({ ...config, metadata: null }), consumers }
}

const everything = async () =>
  new Map(await Promise.all(streamNames.map(async (name) => [name, await messages(name)] as const)))

/** Something in each stream that could be lost. */
const fill = async () => {
  const service = await connectAs(server.url, userOf("internal services"))
  const envelope = JSON.stringify(exampleEnvelope("sandbox.leak_detected"))
  for (let count = 0; count < 4; count += 1) await service.request("events.sandbox.leak_detected", envelope)
  // The record of a token, under an event's subject: what a direct read would carry away.
  await service.request("events.my_team.thing", JSON.stringify(token))
  for (let count = 0; count < reportsCount; count += 1) await service.request("reports.forged", JSON.stringify(token))
  await service.close()
  const owner = await connectAs(server.url, userOf("console"))
  await owner.request("$KV.tokens.kept", JSON.stringify(token))
  await owner.request("$KV.endpoints.kept", "{}")
  await owner.close()
}

// Some to take, and enough behind them to ask for.
const reportsCount = 100

/** What a party may write, by its rights: an event of an outsider lies elsewhere than it was published. */
const mayWrite = (party: Party, subject: string) => {
  const isWritten = rightsOf(party).some((pattern) => patternOf(pattern).test(subject))
  if (!outsiders.includes(party)) return isWritten
  return subject.startsWith(subjects.eventFrom(userOf(party), "")) || (isWritten && !subject.startsWith("events."))
}

const patternOf = (pattern: string) =>
  new RegExp(
    `^${pattern.replaceAll(".", "\\.").replaceAll("$", "\\$").replaceAll("*", "[^.]+").replace(">", ".+")}$`,
    "u"
  )

/**
 * Whether one message of a party could remove what a stream has: one of its keepers', one with a header where the fleet
 * itself needs that header, or the ack of one who takes from it.
 */
const mayEmpty = (party: Party, stream: string) => {
  const declared = topology.streams.find(({ name }) => name === stream)
  const isPublisher = declared?.publishers.includes(party) === true
  const takes = declared?.readyConsumers?.some(({ reader }) => reader === party) === true
  return (
    takes ||
    rightsOf(party).includes(`$JS.API.STREAM.PURGE.${stream}`) ||
    (isPublisher && isRolledUp(declared.features))
  )
}
const isRolledUp = (features: ReadonlyArray<string>) => features.includes("rollup") || features.includes("schedules")

const onlyOwnWritten = (
  party: Party,
  before: Awaited<ReturnType<typeof everything>>,
  after: Awaited<ReturnType<typeof everything>>
) => {
  for (const [name, was] of before) {
    const now = after.get(name)
    assert.isDefined(now, `${name} is gone`)
    assert.strictEqual(now.settings, was.settings, name)
    assert.deepStrictEqual(now.consumers, was.consumers, name)
    const foreign = ({ found }: typeof was) => found.filter((line) => !mayWrite(party, line.split(" ")[1] ?? ""))
    if (mayEmpty(party, name)) assert.includeMembers(foreign(was), foreign(now), name)
    else assert.deepStrictEqual(foreign(now), foreign(was), name)
  }
}

/** All that was sent has been answered, and what follows from it is stored. */
const settled = async (connection: NatsConnection) => {
  await connection.flush()
  await (await jetstreamManager(keeper)).streams.info("EVENTS")
  await keeper.flush()
}

const apart = parties.filter((party) => !besideStreams.includes(party))

describe("those who are apart from the streams", () => {
  it("are the parties from outside the fleet, and the roles that answer calls from the internet", () =>
    assert.includeMembers(apart, [
      "internal services",
      "runners",
      "pipeline-api",
      "model-gateway",
      "speech-api",
      "payment-verifier",
      "console"
    ]))

  it("have an account each, and none has the streams", () => {
    const accounts = apart.map((party) => accountOf(userOf(party)))
    assert.lengthOf(new Set(accounts), apart.length)
    assert.notInclude(accounts, fleetAccount)
  })
})

describe.each(apart)("%s, in an account of its own,", (party) => {
  const as = () => connectAs(server.url, userOf(party))

  it("has nothing written by the broker: whichever answer it asks for, and wherever it has the answer sent", async () => {
    const before = await everything()
    const connection = await as()
    await sendAnswersElsewhere(connection, party)
    await settled(connection)
    await connection.close()

    onlyOwnWritten(party, before, await everything())
  })

  it("removes and schedules nothing by a header", async () => {
    const before = await everything()
    const connection = await as()
    await sendInstructions(connection, party)
    await settled(connection)
    // A schedule of the past would fire at the broker's next tick.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await connection.close()

    onlyOwnWritten(party, before, await everything())
  })

  it("reaches no part of the broker's interface but its own", async () => {
    const before = await everything()
    const connection = await as()
    const bodies: Readonly<Record<string, unknown>> = {
      "$JS.API.CONSUMER.CREATE.EVENTS.spy": {
        stream_name: "EVENTS",
        config: { name: "spy", deliver_subject: tokenSubject, ack_policy: "none" }
      },
      "$JS.API.STREAM.CREATE.SPY": { name: "SPY", subjects: ["spy.>"], mirror: { name: "KV_tokens" } },
      "$JS.API.STREAM.UPDATE.EVENTS": { name: "EVENTS", subjects: ["nothing"] },
      "$JS.API.STREAM.DELETE.LOG": {},
      "$JS.API.STREAM.PURGE.EVENTS": {},
      "$JS.API.STREAM.MSG.DELETE.EVENTS": { seq: 1 },
      "$JS.API.STREAM.SNAPSHOT.KV_tokens": { deliver_subject: `_INBOX_${userOf(party)}.x` },
      "$JS.API.STREAM.MSG.GET.KV_tokens": { seq: 1 },
      "$JS.API.DIRECT.GET.KV_endpoints": { seq: 1 }
    }
    const foreign = Object.entries(bodies).filter(([subject]) => !mayWrite(party, subject))
    assert.isAbove(foreign.length, 6)
    for (const [subject, body] of foreign) {
      const answer = await connection.request(subject, JSON.stringify(body), { timeout: 300 }).then(
        (message) => message.string(),
        (error: unknown) => String(error)
      )
      assert.match(answer, /no responders|TimeoutError|Permissions Violation/u, subject)
    }
    await connection.close()

    onlyOwnWritten(party, before, await everything())
  })
})

describe.each(readyConsumersOf(topology))("$durable, with messages of $stream at hand,", ({ stream, durable }) => {
  it("has neither them nor the next ones delivered elsewhere, by no ack and no pull", async () => {
    const party = apart.find((each) => userOf(each) === durable)
    assert.isDefined(party)
    const before = await everything()
    const connection = await connectAs(server.url, durable)
    const [first = ""] = await sendMessagesElsewhere(connection, stream, durable)
    assert.match(first, /^\$JS\.ACK\./u)
    await settled(connection)
    await connection.close()

    onlyOwnWritten(party, before, await everything())
  })
})

describe("internal services, across their account's border,", () => {
  it("publish with an answer, and the event lies in EVENTS under their name", async () => {
    const service = await connectAs(server.url, userOf("internal services"))
    const { stream, seq } = (await service.request("events.sandbox.leak_detected", "{}")).json<{
      readonly stream: string
      readonly seq: number
    }>()
    const stored = await (await jetstreamManager(service, { checkAPI: false })).streams.getMessage("EVENTS", { seq })
    await service.close()

    assert.strictEqual(stream, "EVENTS")
    assert.strictEqual(stored?.subject, "events-from.internal-services.sandbox.leak_detected")
  })

  it("hear what is stored, and read what they missed from any sequence on", async () => {
    const service = await connectAs(server.url, userOf("internal services"))
    const heard = service.subscribe("stored.events.>", { max: 1 })
    await service.flush()
    const role = await connectAs(server.url, userOf("pipeline-api"))
    await role.request("events.work_item.merged", "merged")
    await role.close()
    const announced = []
    for await (const message of heard) announced.push(message)
    const seq = Number(announced[0]?.headers?.get("Nats-Sequence"))
    const manager = await jetstreamManager(service, { checkAPI: false })
    const read = []
    for await (const message of await manager.direct.getBatch("EVENTS", { seq, batch: 10 })) read.push(message.string())
    await service.close()

    assert.deepStrictEqual(
      announced.map(({ subject }) => subject),
      ["stored.events.work_item.merged"]
    )
    assert.deepStrictEqual(read, ["merged"])
  })

  it("cannot drop the fleet's own events by an id that they use first", async () => {
    const service = await connectAs(server.url, userOf("internal services"))
    for (let record = 1; record < 50; record += 1)
      await service.request("events.sandbox.leak_detected", "{}", {
        headers: withHeaders({ "Nats-Msg-Id": `log.${record}.0` }),
        timeout: 2_000
      })
    await service.close()
    // What the relay publishes is in its own tests; here: none of these ids is one that it uses.
    const ids = stepsOf(
      [{ sequence: 1, head: { events: [{ event: "work_item.merged" }] }, traceparent: undefined } as never],
      { position: 0 },
      1
    ).flatMap(({ messages: made }) => made.flatMap(({ headers: pairs }) => pairs.map(([, value]) => value)))

    assert.lengthOf(ids, 1)
    assert.match(ids[0] ?? "", /^log\.1\.0\.[0-9a-f-]{36}$/u)
  })
})

describe("runners", () => {
  it("ask for work and report, and may neither publish events nor read them", () => {
    const user = partyUsers(topology).find((each) => each.user === userOf("runners"))

    assert.deepStrictEqual(
      user?.permissions.publish.allow.toSorted(),
      [
        "$JS.API.INFO",
        "$JS.API.STREAM.INFO.REPORTS",
        ...coreSubjects.find(({ name }) => name === "pickup")!.subjects.toSorted(),
        "reports.*"
      ].toSorted()
    )
  })
})
