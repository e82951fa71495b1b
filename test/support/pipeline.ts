/** A whole pipeline-api of the test's own, on its own bus, and ways to talk to it as callers and runners do. */
import { randomUUID } from "node:crypto"
import { Effect, Layer, Stream } from "effect"
import { jsonCodec, Publisher, Requests, StreamReader } from "#bus"
import {
  CommandAnswer,
  type CommandEntity,
  CommandRequest,
  PickupAnswer,
  type PickupDispatch,
  PickupQuestion
} from "#pipeline/contract"
import { subjects } from "#base"
import type { WorkItemView } from "#pipeline/api"
import { HttpListener, Tokens } from "#http"
import { Addresses, Drain, Environment, Metrics } from "#runtime"
import { Configuration } from "#configuration"
import { pipelineApiWith } from "../../services/pipeline-api/role.ts"
import { busOn, natsServer } from "../../dev/fixtures/bus.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"

export type Json = Readonly<Record<string, unknown>>

export const secretVariable = "TEST_PIPELINE_SECRET"
export const secretValue = "correct-horse-battery"

const settings: Json = {
  Agents: {
    Default: "smith",
    Kinds: [{ Kind: "smith" }, { Kind: "owl", Class: "birds" }, { Kind: "wren", Class: "birds" }],
    FastFailSeconds: 0
  },
  Redaction: { SecretEnvVars: [secretVariable] }
}

/** One process of the role. `changes`: sections over the usual ones. */
export const pipelineOn = (server: TestNatsServer, changes: Json = {}) => {
  const sections = { ...settings, ...changes }
  const api = { Port: 0, ...(sections["PipelineApi"] as Json | undefined) }
  return pipelineApiWith.pipe(
    Layer.provideMerge(Tokens.layer),
    Layer.provideMerge(Drain.layer),
    Layer.provideMerge(busOn(server)),
    Layer.provideMerge(Addresses.layer),
    Layer.provideMerge(Configuration.layerOf({ Events: { Undeclared: "deliver" }, ...sections, PipelineApi: api })),
    Layer.provideMerge(Layer.succeed(Environment, { [secretVariable]: secretValue })),
    Layer.fresh
  )
}

export interface Asked {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Null for none. */
  readonly token?: string | null
}

export interface Heard {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

/** A caller with all scopes, unless others are named. */
export const tokenFor = (...scopes: ReadonlyArray<string>) =>
  Effect.flatMap(Tokens, (tokens) =>
    Effect.map(
      tokens.make({
        workspace: "default",
        kind: "service",
        role: "member",
        scopes: scopes.length === 0 ? ["*"] : scopes
      }),
      ({ token }) => token
    )
  )

export const caller = Effect.gen(function* () {
  const { url } = yield* HttpListener
  const own = yield* tokenFor()
  return Effect.fnUntraced(function* (verb: string, { body, headers = {}, token = own }: Asked = {}) {
    const [method = "GET", path = "/"] = verb.split(" ")
    const response = yield* Effect.promise(() =>
      fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    )
    const text = yield* Effect.promise(() => response.text())
    const heard: Heard = {
      status: response.status,
      headers: response.headers,
      body: text === "" ? {} : (JSON.parse(text) as Json)
    }
    return heard
  })
})
export type Call = Effect.Success<typeof caller>

export const projectId = "gates"

/** Makes a project, and items in it. */
export const setUpProject = (call: Call, changes: Json = {}, id = projectId) =>
  call(`PUT /projects/${id}`, {
    body: { displayName: "Gates", repositoryUrl: "https://git.example/gates", ...changes }
  })

export const createItem = (call: Call, changes: Json = {}) =>
  Effect.map(
    call("POST /workitems", { body: { title: "Oil the gate", projectId, ...changes } }),
    ({ body }) => body as unknown as WorkItemView
  )

export const itemNow = (call: Call, id: string) =>
  Effect.map(call(`GET /workitems/${id}`), ({ body }) => body as unknown as WorkItemView)

/** A command over the bus. */
export const commandOver = (entity: CommandEntity, id: string, command: Json, commandId: string = randomUUID()) =>
  Effect.flatMap(Requests, (requests) =>
    requests.ask(
      {
        subject: subjects.commands(entity),
        question: jsonCodec(CommandRequest),
        answer: jsonCodec(CommandAnswer),
        timeoutMs: 5_000
      },
      { commandId, id, command }
    )
  )

const allPhases = ["work", "rework", "audit", "merge", "upstream", "conflict-rework", "delegation"] as const

export const pickUp = (changes: Partial<PickupQuestion> = {}) => {
  const question: PickupQuestion = {
    pickupId: randomUUID(),
    runner: "runner-1",
    agent: "smith",
    agentInstanceId: null,
    model: null,
    phases: allPhases,
    sandboxProvider: null,
    sandboxId: null,
    disks: [],
    waitMs: 3_000,
    ...changes
  }
  return Effect.flatMap(Requests, (requests) =>
    requests.ask(
      {
        subject: subjects.pickupNext(question.agent),
        question: jsonCodec(PickupQuestion),
        answer: jsonCodec(PickupAnswer),
        timeoutMs: 10_000
      },
      question
    )
  )
}

// Each of them waits for some seconds: a busy machine may need more until a report is visible.
const asksMax = 5

/** Is given a phase, or dies. Asks again while there is nothing yet, as a runner does. */
export const dispatched = (changes: Partial<PickupQuestion> = {}) =>
  Effect.suspend(() => pickUp(changes)).pipe(
    Effect.repeat({
      while: (given) => given._tag === "Nothing" && (given.why === "empty" || given.why === "busy"),
      times: asksMax - 1
    }),
    Effect.flatMap((given) =>
      given._tag === "Dispatch"
        ? Effect.succeed(given)
        : Effect.die(new Error(`nothing was given: ${given.why} ${given.reason ?? ""}`))
    )
  )

const utf8 = new TextEncoder()

/** Publishes a report as it is; with a new id unless it has one. */
export const publishReport = (report: Json) => {
  const whole = { reportId: randomUUID(), atMs: 1, ...report }
  return Effect.flatMap(Publisher, (publisher) =>
    publisher.publishRaw(subjects.report(String(report["kind"])), utf8.encode(JSON.stringify(whole)))
  )
}

/** Every published event so far, oldest first. */
export const eventsTold = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds("EVENTS")
  if (lastSequence === 0) return []
  const messages = yield* Stream.runCollect(reader.range("EVENTS", { fromSequence: 1, toSequence: lastSequence }))
  return messages
    .filter(({ subject }) => subject.startsWith("events."))
    .map(({ data }) => JSON.parse(new TextDecoder().decode(data)) as Json & { readonly event: string })
})

export const eventNames = Effect.map(eventsTold, (events) => events.map(({ event }) => event))

export const untilState = (call: Call, id: string, state: string) =>
  eventually(itemNow(call, id), { is: (item) => item.state === state })

export const metricsText = Effect.flatMap(Metrics, ({ text }) => text)

/** Runs a test against one process of the role on its own bus, with an existing project. */
export const withPipeline = <A, E, R>(test: (call: Call) => Effect.Effect<A, E, R>, changes: Json = {}) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* Effect.gen(function* () {
      const call = yield* caller
      yield* setUpProject(call)
      return yield* test(call)
    }).pipe(Effect.provide(pipelineOn(server, changes)))
  })

/** Reports the end of a phase that was given out, as a runner does when all goes well. */
export const reportSuccess = (given: PickupDispatch) => {
  const of = { workItemId: given.workItem.id, dispatchId: given.dispatchId }
  switch (given.phase) {
    case "audit":
      return publishReport({ kind: "audit-ended", ...of, findings: [], durationMs: 3 })
    case "merge":
      return publishReport({ kind: "merge-ended", ...of, outcome: "merged", mergeSha: "feed123", reason: null })
    case "upstream":
      return publishReport({ kind: "push-ended", ...of, outcome: "pushed", reason: null })
    case "conflict-rework":
      return publishReport({ kind: "conflict-rework-ended", ...of, outcome: "resolved", reason: null })
    default:
      return publishReport({
        kind: "iteration-ended",
        ...of,
        outcome: "committed",
        commitSha: "abc1234",
        durationMs: 5,
        usage: { tokensInput: 10, tokensOutput: 2, tokensCached: 0, costMicroUsd: 1_500, elapsedMs: 5 }
      })
  }
}
