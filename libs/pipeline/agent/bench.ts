/**
 * An agent that was found unfit, by a probe of its credentials, at a pickup, by a login prompt, or by the breaker, is
 * benched until a probe finds it fit or an operator says so. One that is benched is told of again when the reason
 * changes, in another run of the process that probes, and for every item that meets it. What was seen before the agent
 * recovered benches it no more.
 */
import { type AgentBench, type AgentCommandOf, type AgentFact, type AgentState, fastFailsMax } from "#contracts"
import { type Deciders, decided, type Evolvers, nothing } from "./decisions.ts"

const isLate = ({ recoveredAtMs }: AgentState, occurredAtMs: number) =>
  recoveredAtMs !== null && occurredAtMs <= recoveredAtMs

const isKnown = (bench: AgentBench, failure: AgentCommandOf<"FailSmoke">) =>
  failure.occurredAtMs < bench.occurredAtMs ||
  (bench.reason === failure.reason &&
    bench.category === failure.category &&
    (failure.epoch === null || failure.epoch === bench.epoch))

export const benchDeciders = {
  FailSmoke: (agent, command) => {
    const isBenching = !isLate(agent, command.occurredAtMs)
    const isAboutAgentAlone = command.item === null
    if (isAboutAgentAlone && (!isBenching || (agent.bench !== null && isKnown(agent.bench, command)))) return nothing
    return decided({ ...command, _tag: "SmokeFailed", isBenching })
  },
  FailFast: (agent, { failuresMax, windowMs, reason, occurredAtMs, item }) => {
    if (agent.bench !== null || isLate(agent, occurredAtMs)) return nothing
    const inWindow = agent.fastFailsMs.filter((failedAtMs) => Math.abs(occurredAtMs - failedAtMs) < windowMs)
    const failed: AgentFact = { _tag: "FailedFast", occurredAtMs, reason }
    if (inWindow.length + 1 < failuresMax) return decided(failed)
    return decided(failed, {
      _tag: "SmokeFailed",
      cause: "fast-fail",
      reason: reason ?? `${failuresMax} runs ended too fast within ${windowMs} ms`,
      category: "Unknown",
      occurredAtMs,
      item,
      epoch: null,
      isBenching: true
    })
  }
} satisfies Partial<Deciders>

export const benchEvolvers = {
  SmokeFailed: ({ bench }, { _tag, isBenching, item: _item, ...failure }) => ({
    bench: isBenching ? benched(bench, failure) : bench
  }),
  FailedFast: ({ fastFailsMs }, { occurredAtMs }) => ({
    fastFailsMs: [...fastFailsMs, occurredAtMs].slice(-fastFailsMax)
  })
} satisfies Partial<Evolvers>

/** An outage begins with the first failure that is known of it. */
const benched = (bench: AgentBench | null, failure: Omit<AgentBench, "sinceMs">): AgentBench =>
  bench === null
    ? { ...failure, sinceMs: failure.occurredAtMs }
    : {
        ...failure,
        sinceMs: Math.min(bench.sinceMs, failure.occurredAtMs),
        occurredAtMs: Math.max(bench.occurredAtMs, failure.occurredAtMs),
        epoch: failure.epoch ?? bench.epoch
      }
