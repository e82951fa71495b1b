/** Faults of what the broker keeps: streams without room, leases that nobody gives back, tokens that end. */
import { all, type Fault, repeatedly } from "./fault.ts"
import { leaseTaken, limited, planted } from "./planted.ts"
import type { FaultFleet } from "./fleet.ts"

const commanded = ({ running }: FaultFleet, count: number) =>
  fetch(`${running.ready.pipeline}/projects/faults-${count}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${running.ready.token}`, "content-type": "application/json" },
    body: JSON.stringify({ displayName: "faults", repositoryUrl: "file:///nowhere.git" })
  })

let count = 0

export const attemptsAreTooLarge: Fault = {
  condition: "StarlingPublishFailing",
  effects: ["WebhookAttemptLogLossy"],
  what: "the broker takes no record of an attempt, for its stream has a smaller limit",
  begin: async (fleet) => {
    const mend = await limited(fleet, "ATTEMPTS", () => ({ max_msg_size: 64 }))
    const end = repeatedly(1_000, fleet.publish)
    return async () => {
      await end()
      await mend()
    }
  }
}

export const logFills: Fault = {
  condition: "StarlingStreamFilling",
  what: "nine tenths of a stream's room are used",
  begin: async (fleet) => {
    await commanded(fleet, (count += 1))
    return limited(fleet, "LOG", ({ bytes }) => ({ max_bytes: Math.ceil(bytes / 0.9) }))
  }
}

export const logIsFull: Fault = {
  condition: "StarlingPublishFailing",
  effects: ["PipelineCommandsFailing"],
  what: "the log takes no record, for its limit is smaller",
  begin: async (fleet) => {
    const mend = await limited(fleet, "LOG", () => ({ max_msg_size: 16 }))
    const end = repeatedly(1_000, () => commanded(fleet, (count += 1)))
    return async () => {
      await end()
      await mend()
    }
  }
}

export const deliveriesAreTooLarge: Fault = {
  condition: "StarlingRelayStuck",
  effects: ["StarlingRelayBehind", "StarlingLoopStopping"],
  what: "the broker takes no delivery, for its stream has a smaller limit",
  begin: async (fleet) => {
    const mend = await limited(fleet, "DELIVERIES", () => ({ max_msg_size: 64 }))
    const end = repeatedly(1_000, fleet.publish)
    return async () => {
      await end()
      await mend()
      await fleet.manager.streams.purge("REJECTED")
    }
  },
  slow: { seenMs: 75_000, why: "a relay is stuck when it has been at the same message for half a minute" }
}

export const sweepIsUnheld: Fault = {
  condition: "PipelineSweepUnheld",
  what: "a dead process keeps a sweep's lease",
  begin: (fleet) => leaseTaken(fleet, "sweeper", "sweep-advice")
}

export const sweepFails: Fault = {
  condition: "PipelineSweepFailing",
  what: "a sweep's checkpoint is broken",
  begin: (fleet) => planted(fleet, "sweeper", "sweeps", "reconciliation", { _tag: "Nothing" })
}

/** The broker's own process gets a third of a processor, in turns of seconds. */
export const brokerIsSlow: Fault = {
  condition: "PipelineCommandsSlow",
  also: ["WebhookDispatchSlow"],
  what: "the broker stands still for seconds, again and again",
  wavers: "between two standstills the calls that waited make other conditions true",
  begin: async (fleet) => {
    const pid = fleet.pidOf("nats-server -c")
    const stop = repeatedly(4_000, () => {
      process.kill(pid, "SIGSTOP")
      setTimeout(() => process.kill(pid, "SIGCONT"), 2_600)
    })
    const end = all(
      repeatedly(500, () => commanded(fleet, (count += 1))),
      repeatedly(500, fleet.publish)
    )
    return async () => {
      await stop()
      process.kill(pid, "SIGCONT")
      await end()
    }
  }
}

export const streamIsLost: Fault = {
  condition: "StarlingStreamLost",
  what: "a stream is gone, and made again without its messages",
  begin: async ({ command, manager }) => {
    await manager.streams.delete("REPORTS")
    return () => command("broker", "streams", "--accept-losses")
  }
}

export const callsAreNotCounted: Fault = {
  condition: "StarlingRateLimitsBlind",
  effects: ["StarlingServerErrors"],
  what: "the bucket of rate limits takes no record, for its limit is smaller",
  begin: async (fleet) => {
    const mend = await limited(fleet, "KV_rate-windows", () => ({ max_msg_size: 8 }))
    return all(
      repeatedly(500, () => fetch(`${fleet.running.ready.gateway}/v1/models`)),
      mend
    )
  }
}

export const tokensEnd: Fault = {
  condition: "StarlingTokensEnding",
  what: "a token of a service ends in five days",
  begin: async (fleet) => {
    const id = (await fleet.command("token", "make", "--expires", "30d", "--label", "ending", "--json")).trim()
    const { id: made } = JSON.parse(id) as { readonly id: string }
    const found = await recordOf(fleet, made)
    const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
    const key = found.subject.replace("$KV.tokens.", "")
    await planted(fleet, "operator", "tokens", key, { ...found.record, createdAt: days(-25), expiresAt: days(5) })
    return () => fleet.command("token", "revoke", made)
  }
}

const recordOf = async ({ manager }: FaultFleet, id: string) => {
  const { state } = await manager.streams.info("KV_tokens", { subjects_filter: "$KV.tokens.>" })
  for (const subject of Object.keys(state.subjects ?? {})) {
    const message = await manager.streams.getMessage("KV_tokens", { last_by_subj: subject })
    if (message !== null && message.data.length > 0) {
      const record = message.json<{ readonly id: string }>()
      if (record.id === id) return { subject, record }
    }
  }
  throw new Error(`no token ${id}`)
}
