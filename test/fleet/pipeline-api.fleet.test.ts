import { createHmac, randomUUID } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule, Stream } from "effect"
import { busServices, Nats, StreamReader } from "#bus"
import { Health, Metrics, Role } from "#runtime"
import type { BusAddress } from "../../dev/fixtures/bus-address.ts"
import { busOn, natsServer } from "../../dev/fixtures/bus.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { commandOver, dispatched, type Json, publishReport, reportSuccess } from "../support/pipeline.ts"
import { startReceiver } from "../support/receiver.ts"
import { endRoles, startRole } from "../support/role.ts"
import { newHome, startFleet } from "../../dev/fixtures/starling.ts"
import { creation } from "../../dev/fixtures/work-item-creation.ts"

const secret = "a-secret-of-the-receivers"

/** As an internal service has it. */
const busAt = ({ url, user, password }: BusAddress) =>
  busServices.pipe(
    Layer.provideMerge(
      Nats.layerWith({ servers: [url], name: "driver", user, password: Redacted.make(password ?? "") })
    ),
    Layer.provideMerge(Metrics.layerTest),
    Layer.provideMerge(Health.layer),
    Layer.provide(Layer.succeed(Role, "internal services"))
  )

const fleet = (configuration: Json) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const home = newHome({ RECEIVER_SECRET: secret })
      const path = join(home.folder, "config.json")
      writeFileSync(path, JSON.stringify(configuration))
      const running = await startFleet({ ...home, environment: { ...home.environment, STARLING_CONFIG: path } })
      return { home, running }
    }),
    ({ home, running }) =>
      Effect.promise(async () => {
        await running.stop("SIGTERM")
        home.remove()
      })
  )

/** Of the whole way: a first audit that blocks, a rework, and then all goes well. */
const wanted = [
  "work_item.working",
  "iteration.started",
  "iteration.completed",
  "work_item.work_complete",
  "work_item.auditing",
  "audit.started",
  "audit.findings.emitted",
  "work_item.audit_iteration",
  "audit.completed",
  "work_item.reworking",
  "iteration.started",
  "iteration.completed",
  "work_item.work_complete",
  "work_item.auditing",
  "audit.started",
  "audit.findings.emitted",
  "work_item.audit_iteration",
  "audit.completed",
  "work_item.audit_passed",
  "work_item.merging",
  "merge.started",
  "merge.completed",
  "work_item.merged",
  "work_item.upstream_pushing",
  "work_item.done"
]

describe("the pipeline in the fleet", () => {
  it.live("takes an item all the way, and its receiver gets every event, signed and in order", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver
      const { running } = yield* fleet({
        Fleet: { Roles: ["pipeline-api", "webhook-dispatcher"] },
        Webhooks: [
          {
            Name: "all",
            Url: receiver.url("/all"),
            SecretEnvVar: "RECEIVER_SECRET",
            EventFilter: ["*"],
            Concurrency: 1
          }
        ]
      })
      const { pipeline, token } = running.ready
      const call = (method: string, path: string, body: Json) =>
        Effect.promise(async () => {
          const response = await fetch(`${pipeline}${path}`, {
            method,
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: JSON.stringify(body)
          })
          assert.isBelow(response.status, 300)
          return (await response.json()) as Json
        })
      yield* call("PUT", "/projects/gates", { displayName: "Gates", repositoryUrl: "https://git.example/gates" })
      const item = yield* call("POST", "/workitems", { title: "Oil the gate", projectId: "gates", agent: "smith" })
      yield* Effect.gen(function* () {
        yield* reportSuccess(yield* dispatched())
        const audit = yield* dispatched()
        const finding = {
          auditor: "tests",
          severity: "Error",
          title: "Rust",
          location: null,
          description: "It creaks."
        }
        yield* publishReport({
          kind: "audit-ended",
          workItemId: audit.workItem.id,
          dispatchId: audit.dispatchId,
          findings: [finding],
          durationMs: 1
        })
        for (let phase = 0; phase < 4; phase++) yield* reportSuccess(yield* dispatched())
      }).pipe(Effect.provide(busAt(running.serviceBus)))
      yield* eventually(() => receiver.requests.length, { is: (length) => length >= wanted.length })
      const heard = receiver.requests.map(({ body, headers }) => {
        const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
        assert.strictEqual(headers["x-service-signature"], signature)
        const envelope = JSON.parse(body) as { readonly event: string; readonly workItem: Json }
        assert.strictEqual(envelope.workItem["id"], item["id"])
        return envelope.event
      })
      assert.deepStrictEqual(heard, wanted)
    })
  )
})

describe("a killed pipeline", () => {
  afterEach(() => endRoles())

  it.live("loses no event of its decisions, and sends none twice", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const configuration = { Bus: { Url: server.url }, PipelineApi: { Port: 0 } }
        const start = Effect.promise(() => startRole("pipeline-api", { configuration }))
        const ready = (role: Effect.Success<typeof start>) =>
          eventually(
            Effect.promise(() => role.status("/readyz")),
            { is: (status) => status === 200 }
          )
        const first = yield* start
        yield* ready(first)
        const cancelled = (id: string) =>
          Effect.andThen(
            again(commandOver("workitem", id, create, "create")),
            again(commandOver("workitem", id, { _tag: "Cancel", reason: null, resolutionSha: null }, "cancel"))
          )
        const ids = Array.from({ length: 400 }, () => randomUUID())
        const working = yield* Effect.forkScoped(Effect.forEach(ids, cancelled, { concurrency: 32 }))
        const reader = yield* StreamReader
        yield* eventually(reader.bounds("LOG"), { is: ({ messages }) => messages > 200 })
        first.signal("SIGKILL")
        yield* Effect.promise(() => first.ended)
        const second = yield* start
        yield* ready(second)
        yield* eventually(() => working.pollUnsafe(), { is: (seen) => seen !== undefined })
        const told = Effect.gen(function* () {
          const { lastSequence: toSequence } = yield* reader.bounds("EVENTS")
          const range = { fromSequence: 1, toSequence, subject: "events.work_item.cancelled" }
          const events = toSequence === 0 ? [] : yield* Stream.runCollect(reader.range("EVENTS", range))
          return events.map(
            ({ data }) => (JSON.parse(new TextDecoder().decode(data)) as { workItem: { id: string } }).workItem.id
          )
        })
        yield* eventually(told, { is: (items) => items.length >= ids.length })
        assert.sameMembers([...(yield* told)], ids)
      }).pipe(Effect.provide(busOn(server)))
    })
  )
})

/** Until an answer comes: the role may be down. */
const again = <A, E, R>(asked: Effect.Effect<A, E, R>) =>
  Effect.retry(asked, { times: 200, schedule: Schedule.spaced("50 millis") })

const create = creation()
