/**
 * Commands over the bus, by one process of the role with all its loops running: on distinct items, and all on one
 * entity; beside the bare read and append that a decision cannot do without, made by this process in the same run. The
 * broker has the users and accounts that `up` gives it; the bare client is beside the streams.
 */
import { randomBytes, randomUUID } from "node:crypto"
import { headers, type NatsConnection } from "@nats-io/nats-core"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { Effect, Layer, Redacted } from "effect"
import { applyTopology, brokerAccounts, brokerUser, Nats, partyUsers, serverSyntax, topology } from "#bus"
import { startNatsServer } from "#dev/fixtures/nats-server"
import { Metrics } from "#runtime"
import { startRoles } from "../children.ts"
import { atLeast, figuresOf, type Findings, percentile } from "../figures.ts"
import { timedLoop } from "../loops.ts"
import { useOf } from "../process-use.ts"
import { creation } from "#dev/fixtures/work-item-creation"

const counts = { warmUp: 2_000, distinct: 20_000, one: 4_000 }
const inFlight = { distinct: 128, one: 32 }
const timeoutMs = 30_000

const create = creation()

const commander = (connection: NatsConnection) => async (entity: string, id: string, command: object) => {
  const request = JSON.stringify({ commandId: randomUUID(), id, command })
  const answer = (await connection.request(`commands.${entity}`, request, { timeout: timeoutMs })).json<{
    _tag: string
  }>()
  if (answer._tag !== "Accepted") throw new Error(`not accepted: ${JSON.stringify(answer)}`)
}

/** The least that a decision takes: the last record from the leader, and a record on the condition that it is that. */
const bare = async (connection: NatsConnection, count: number, width: number, subjectOf: (index: number) => string) => {
  const manager = await jetstreamManager(connection, { checkAPI: false })
  const js = jetstream(connection)
  const record = JSON.stringify({ commandId: randomUUID(), atMs: 1, events: [], facts: [create], state: create })
  return timedLoop(count, width, async (index) => {
    const subject = subjectOf(index)
    const last = await manager.streams.getMessage("LOG", { last_by_subj: subject }).catch(() => null)
    const expected = headers()
    expected.set("Nats-Expected-Last-Subject-Sequence", String(last?.seq ?? 0))
    await js.publish(subject, record, { headers: expected })
  })
}

const figure = figuresOf("pipeline commands")

const bareUser = "bare"

/** A broker with the users and accounts of a fleet, and a user beside its streams who may do anything there. */
const startBroker = async () => {
  const bareRights = { publish: [">"], publishNever: [], subscribe: [">"], answers: false }
  const users = [...partyUsers(topology), brokerUser(bareUser, bareRights)].map((user) => ({
    ...user,
    password: `p${randomBytes(16).toString("hex")}`
  }))
  const passwordOf = (name: string) => users.find(({ user }) => user === name)?.password ?? ""
  const nats = await startNatsServer({ configuration: `accounts: ${serverSyntax(brokerAccounts(users))}` })
  const maker = Nats.layerWith({
    servers: [nats.url],
    name: "load",
    user: bareUser,
    password: Redacted.make(passwordOf(bareUser))
  }).pipe(Layer.provide(Metrics.layerTest))
  await Effect.runPromise(Effect.provide(applyTopology(topology, { mode: "create", replicas: 1 }), maker))
  return { nats, passwordOf }
}

export const commands = async (): Promise<Findings> => {
  const { nats, passwordOf } = await startBroker()
  const user = "pipeline-api"
  const Bus = { Url: nats.url, User: user, Topology: "verify", Replicas: 1 }
  const configuration = { Bus, PipelineApi: { Port: 0 } }
  const environment = { BUS_PASSWORD: passwordOf(user) }
  const role = await startRoles(["pipeline-api"], configuration, environment).catch(async (error: unknown) => {
    await nats.stop()
    throw error
  })
  const connection = await connect({ servers: nats.url, user: bareUser, pass: passwordOf(bareUser) })
  try {
    const ask = commander(connection)
    const ids = Array.from({ length: counts.distinct }, () => randomUUID())
    await timedLoop(counts.warmUp, inFlight.distinct, () => ask("workitem", randomUUID(), create))
    // Before the rest: views and events of twenty thousand items are made for a while after.
    const pause = (index: number) =>
      ask("agent", "smith", { _tag: "Pause", reason: `r${index}`, pausedBy: "load", expiresAtMs: null })
    await timedLoop(200, inFlight.one, pause)
    const one = await timedLoop(counts.one, inFlight.one, (index) => pause(index + counts.warmUp))
    const before = [useOf(role.pid).cpuSeconds, useOf(nats.pid()).cpuSeconds] as const
    const distinct = await timedLoop(counts.distinct, inFlight.distinct, (index) =>
      ask("workitem", ids[index] ?? "", create)
    )
    const eachMs = (pid: number, since: number) => ((useOf(pid).cpuSeconds - since) * 1_000) / counts.distinct
    const [roleEachMs, brokerEachMs] = [eachMs(role.pid, before[0]), eachMs(nats.pid(), before[1])]
    const cancel = { _tag: "Cancel", reason: null, resolutionSha: null }
    const told = await timedLoop(counts.distinct, inFlight.distinct, (index) =>
      ask("workitem", ids[index] ?? "", cancel)
    )
    await role.end()
    // Of an entity that no role has, so that nothing is made of them.
    const bareDistinct = await bare(connection, counts.distinct, inFlight.distinct, (index) => `log.bare.${index}`)
    const bareOne = await bare(connection, counts.one, 1, () => "log.bare.one")
    return {
      figures: [
        figure("distinct items, created", distinct.perSecond, "/s", atLeast(4_000, distinct.perSecond, "/s")),
        figure("distinct items, cancelled, each with its event", told.perSecond, "/s"),
        figure("distinct items, p50", percentile(distinct.ms, 0.5), "ms"),
        figure("distinct items, p99", percentile(distinct.ms, 0.99), "ms"),
        figure("CPU of the role for each, all loops included", roleEachMs, "ms"),
        figure("CPU of the broker for each", brokerEachMs, "ms"),
        figure("bare read and append, distinct", bareDistinct.perSecond, "/s"),
        figure("one entity", one.perSecond, "/s", atLeast(800, one.perSecond, "/s")),
        figure("one entity, p99", percentile(one.ms, 0.99), "ms"),
        figure("bare read and append, one", bareOne.perSecond, "/s")
      ],
      series: []
    }
  } finally {
    await connection.close()
    await role.end()
    await nats.stop()
  }
}
