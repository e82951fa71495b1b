/** The pipeline as in its deployment: each role a process of its own, so that one of them can be killed. */
import { Effect, Exit, Scope } from "effect"
import type { RoleName } from "#base"
import { type Json, type PipelineApi, pipelineApi } from "./pipeline-api.ts"
import { openPipelineBus, type PipelineBus } from "./pipeline-bus.ts"
import { type Deliveries, deliverySecret, watchDeliveries } from "./pipeline-deliveries.ts"
import { everyEvent, quickSections, secretVariable } from "./pipeline-fleet.ts"
import { makeRepositories, type TestRepository } from "./pipeline-repository.ts"
import { startRunner } from "./pipeline-runner.ts"
import { startNatsServer, type TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { startReceiver, type TestReceiver } from "./receiver.ts"
import { endRoles, type RunningRole, startRole } from "./role.ts"
import { newHome, starling } from "../../dev/fixtures/starling.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"

export interface PipelineRoles {
  readonly api: PipelineApi
  readonly bus: PipelineBus
  readonly deliveries: Deliveries
  readonly receiver: TestReceiver
  readonly nats: TestNatsServer
  readonly repository: TestRepository
  readonly runner: (agents: ReadonlyArray<string>, atOnce: number) => Promise<void>
  /** SIGKILL, and a new process of that role, with other sections from then on; returns when that is ready. */
  readonly killAndRestart: (role: RoleName, changes?: Json) => Promise<void>
  readonly stop: () => Promise<void>
}

const roles: ReadonlyArray<RoleName> = ["pipeline-api", "sweeper", "webhook-dispatcher"]

/** `sectionsOf`: over the usual ones, made of the receiver's addresses. */
export const startPipelineRoles = async (
  sectionsOf: (url: (path: string) => string) => Json = () => ({})
): Promise<PipelineRoles> => {
  const scope = Scope.makeUnsafe()
  const receiver = await Effect.runPromise(Scope.provide(startReceiver, scope))
  const nats = await startNatsServer()
  const port = await freePort()
  let configuration: Json = {
    ...quickSections,
    PipelineApi: { ...quickSections.PipelineApi, Port: port },
    Bus: { Url: nats.url },
    Webhooks: [everyEvent(receiver.url("/every"))],
    ...sectionsOf(receiver.url)
  }
  const running = new Map<RoleName, RunningRole>()
  const start = async (name: RoleName) => {
    const role = await startRole(name, { configuration, environment: { [secretVariable]: deliverySecret } })
    running.set(name, role)
    await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
  }
  await start("pipeline-api")
  await Promise.all(roles.slice(1).map(start))
  const home = newHome()
  const token = await starling(home, "token", "make", "--role", "owner", "--nats", nats.url)
  home.remove()
  const bus = await openPipelineBus({ url: nats.url })
  const repositories = makeRepositories()
  const runners: Array<Awaited<ReturnType<typeof startRunner>>> = []
  return {
    api: pipelineApi(`http://127.0.0.1:${port}`, token.out.trim()),
    bus,
    deliveries: watchDeliveries(receiver, "/every"),
    receiver,
    nats,
    repository: repositories.make("upstream"),
    runner: async (agents, atOnce) => void runners.push(await startRunner({ nats: nats.url, agents, atOnce })),
    killAndRestart: async (name, changes = {}) => {
      configuration = { ...configuration, ...changes }
      const role = running.get(name)
      role?.signal("SIGKILL")
      await role?.ended
      await start(name)
    },
    stop: async () => {
      await Promise.all(runners.map(({ stop }) => stop()))
      await bus.close()
      await endRoles()
      await nats.stop()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      repositories.remove()
    }
  }
}
