/** `./starling up` with the roles of the pipeline, a receiver of every event, repositories, a forge, and runners. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { startForge } from "../../dev/runner/forge/Forge.ts"
import { type Json, type PipelineApi, pipelineApi } from "./pipeline-api.ts"
import { openPipelineBus, type PipelineBus } from "./pipeline-bus.ts"
import { type Deliveries, deliverySecret, watchDeliveries } from "./pipeline-deliveries.ts"
import { makeRepositories, type TestRepository } from "./pipeline-repository.ts"
import { startRunner, type TestRunner, type TestRunnerOptions } from "./pipeline-runner.ts"
import { startReceiver, type TestReceiver } from "./receiver.ts"
import { newHome, startFleet } from "../../dev/fixtures/starling.ts"

export interface PipelineFleet {
  readonly api: PipelineApi
  readonly bus: PipelineBus
  readonly deliveries: Deliveries
  readonly receiver: TestReceiver
  readonly repository: TestRepository
  readonly forge: string
  readonly log: () => string
  readonly runner: (options: Omit<TestRunnerOptions, "nats" | "home">) => Promise<TestRunner>
  /** Creates a project on the repository; answers with its id. */
  readonly project: (settings?: Json) => Promise<string>
  readonly stop: () => Promise<void>
}

export const secretVariable = "PIPELINE_TEST_SECRET"

/** All waits are as short as possible, except those that distinguish the living from the dead. */
export const quickSections = {
  Agents: {
    Kinds: [
      ...["coder", "guest", "hasty", "sleeper", "mortal", "publisher", "nobody"].map((Kind) => ({ Kind })),
      { Kind: "left", Class: "pair" },
      { Kind: "right", Class: "pair" }
    ],
    Default: "coder",
    // Runs that fail on purpose bench no agent.
    FastFailSeconds: 0
  },
  Pipeline: {
    Auditors: ["tests"],
    ProgressSeconds: 1,
    // Progress that is heard of is written down every ten seconds.
    ProgressTimeoutSeconds: 13,
    StuckMinutes: 0.1,
    AuditorMinutes: 0.06,
    MaxAuditIterations: 3
  },
  PipelineApi: { Port: 0, PickupRetryMilliseconds: 200 },
  AutoRetryOnTransientFailure: { InitialBackoffSeconds: 0.2, Jitter: 0 },
  QuotaRetry: { MarginSeconds: 0 },
  Budget: { RetryAfterSeconds: 1 },
  DiskGuard: { MinFreeBytes: 1_000_000 },
  Sweeper: {
    WatchdogSeconds: 0.5,
    RetrySeconds: 0.3,
    AgentSeconds: 0.3,
    RestoreSeconds: 0.5,
    BudgetSeconds: 0.5,
    ReleaseSeconds: 1
  },
  WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] }
}

export const everyEvent = (url: string) => ({
  Name: "every event",
  Url: url,
  SecretEnvVar: secretVariable,
  EventFilter: ["*"],
  InitialBackoffSeconds: 0.2
})

/** `changesOf`: sections over the usual ones, made of the receiver's addresses. */
export const startPipelineFleet = async (
  changesOf: (url: (path: string) => string) => Json = () => ({})
): Promise<PipelineFleet> => {
  const scope = Scope.makeUnsafe()
  const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
    Effect.runPromise(Effect.provideService(effect, Scope.Scope, scope))
  const receiver = await inScope(startReceiver)
  const repositories = makeRepositories()
  const { url: forge } = await inScope(startForge({ folder: repositories.folder }))
  const home = newHome({ [secretVariable]: deliverySecret })
  const config = join(home.folder, "pipeline.config.json")
  const roles = { Fleet: { Roles: ["pipeline-api", "sweeper", "webhook-dispatcher"] } }
  const webhooks = { Webhooks: [everyEvent(receiver.url("/every"))] }
  writeFileSync(config, JSON.stringify({ ...quickSections, ...roles, ...webhooks, ...changesOf(receiver.url) }))
  home.environment["STARLING_CONFIG"] = config
  const fleet = await startFleet(home)
  const { nats, token, pipeline } = fleet.ready
  const bus = await openPipelineBus(fleet.serviceBus, fleet.busAs("operator"))
  const api = pipelineApi(pipeline, token)
  const repository = repositories.make("upstream")
  const runners: Array<TestRunner> = []
  return {
    api,
    bus,
    deliveries: watchDeliveries(receiver, "/every"),
    receiver,
    repository,
    forge,
    log: fleet.log,
    runner: async (options) => {
      const runner = await startRunner({ nats, home: home.folder, ...options })
      runners.push(runner)
      return runner
    },
    project: async (settings = {}) => {
      const id = `project-${crypto.randomUUID().slice(0, 8)}`
      await api.call("PUT", `/projects/${id}`, { displayName: id, repositoryUrl: repository.url, ...settings })
      return id
    },
    stop: async () => {
      await Promise.all(runners.map(({ stop }) => stop()))
      await bus.close()
      await fleet.stop("SIGTERM")
      await Effect.runPromise(Scope.close(scope, Exit.void))
      repositories.remove()
      home.remove()
    }
  }
}
