/** Disturbances of a fleet in containers, each until the earlier state is restored. */
import { assert } from "@effect/vitest"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { bringBack, cutOff, ended, kill, pause, startAgain, unpause } from "./engine.ts"
import type { Fleet, RunningRole } from "./fleet.ts"
import type { Server } from "./broker.ts"
import { pauseMs } from "./worker.ts"

const answers = async (url: string) =>
  (await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined))?.status === 200

export const untilReady = (role: RunningRole) => until(() => answers(`${role.ops}/readyz`), { withinMs: startWithinMs })

/** A server has caught up with the messages it missed. */
const untilHealthy = ({ monitor }: Server) => until(() => answers(`${monitor}/healthz`), { withinMs: startWithinMs })

export const untilAllReady = async ({ broker, roles }: Fleet) =>
  void (await Promise.all([...broker.servers.map(untilHealthy), ...roles.map(untilReady)]))

export const killRole = async (role: RunningRole) => {
  await kill(role.id)
  await startAgain(role.id)
  await untilReady(role)
}

// Long enough for the others to elect a leader, and for it to lead.
const awayMs = 5_000

export const killLeader = async (fleet: Fleet, stream: string) => {
  const leader = await fleet.broker.leaderOf(stream)
  await kill(leader.id)
  await pauseMs(awayMs)
  await startAgain(leader.id)
  await untilAllReady(fleet)
}

export const cutLeaderOff = async (fleet: Fleet, stream: string) => {
  const leader = await fleet.broker.leaderOf(stream)
  await cutOff(leader.id, fleet.network.getId())
  await pauseMs(awayMs)
  await bringBack(leader.id, fleet.network.getId(), leader.name)
  await untilAllReady(fleet)
}

/** Longer than its ack wait: another gets its work, and it does not know when it wakes. */
export const pauseRole = async (fleet: Fleet, role: RunningRole, forMs: number) => {
  await pause(role.id)
  await pauseMs(forMs)
  await unpause(role.id)
  await untilAllReady(fleet)
}

const fullMs = 6_000
// The work under way just fits, and nothing after it.
const leftBytes = 200_000

/** Until the broker has refused for a while; then there is room again. */
export const fillQuota = async (fleet: Fleet) => {
  await fleet.broker.limitTo((await fleet.broker.stored()) + leftBytes)
  await pauseMs(fullMs)
  await fleet.broker.limitTo(null)
  await untilAllReady(fleet)
}

const drainMsMax = 30_000

/** Ends a role as a deployment does. Milliseconds until it was gone. */
export const drain = async ({ id, role }: RunningRole) => {
  const startedMs = performance.now()
  const ending = ended(id)
  await kill(id, "SIGTERM")
  assert.strictEqual(await ending, 0, `${role} ended badly`)
  const tookMs = performance.now() - startedMs
  assert.isAtMost(tookMs, drainMsMax, `${role} was told to end`)
  return tookMs
}

/** Brokers first, then every role: one at a time, each waited for. */
export const restartAll = async (fleet: Fleet) => {
  for (const server of fleet.broker.servers) {
    const ending = ended(server.id)
    await kill(server.id, "SIGTERM")
    await ending
    await startAgain(server.id)
    await untilAllReady(fleet)
  }
  for (const role of fleet.roles) {
    await drain(role)
    await startAgain(role.id)
    await untilReady(role)
  }
}
