/** The providers' faults as they are now, in a gauge. A call that changes nothing costs a look-up. */
import type { Metrics } from "#runtime"
import { providerFailing } from "../metrics.ts"
import type { ModelRoute, Provider } from "../models/ModelRegistry.ts"
import {
  afterAnswer,
  afterCheck,
  afterFailedCall,
  faultsText,
  type ProviderFaults,
  type StatusClass
} from "./provider-faults.ts"

interface State {
  faults: ProviderFaults
  answeredAtMs: number
}

// As long as a check pauses.
const provenForMs = 10_000

export const providerStates = (metrics: Metrics["Service"]) => {
  const failing = metrics.gauge(providerFailing)
  const states = new Map<string, State>()
  const stateOf = ({ name }: Provider): State => {
    const state = states.get(name) ?? { faults: [], answeredAtMs: Number.NEGATIVE_INFINITY }
    states.set(name, state)
    return state
  }
  const set = (provider: Provider, faults: ProviderFaults) => {
    const state = stateOf(provider)
    const before = new Set(state.faults.map(({ reason }) => reason))
    state.faults = faults
    for (const { reason } of faults) {
      if (!before.delete(reason)) failing.set({ provider: provider.name, reason }, 1)
    }
    for (const reason of before) failing.set({ provider: provider.name, reason }, 0)
  }
  return {
    answered: ({ provider, model }: ModelRoute, nowMs: number) => {
      const state = stateOf(provider)
      state.answeredAtMs = nowMs
      if (state.faults.length > 0) set(provider, afterAnswer(state.faults, model))
    },
    failed: ({ provider, model }: ModelRoute, reason: StatusClass, atMs: number) =>
      set(provider, afterFailedCall(stateOf(provider).faults, { model, reason, atMs })),
    /** The models whose faults have ended. */
    checked: (provider: Provider, found: StatusClass, nowMs: number): ReadonlyArray<string> => {
      const { faults: before } = stateOf(provider)
      const after = afterCheck(before, found, nowMs)
      set(provider, after)
      const still = new Set(after.map(({ model }) => model))
      return before.flatMap(({ model }) => (model === undefined || still.has(model) ? [] : [model]))
    },
    isProven: (provider: Provider, nowMs: number) => {
      const { faults, answeredAtMs } = stateOf(provider)
      return faults.length === 0 && nowMs - answeredAtMs < provenForMs
    },
    faultsOf: (provider: Provider) => faultsText(stateOf(provider).faults)
  }
}
