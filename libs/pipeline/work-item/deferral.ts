/**
 * Work that is put off: by a project's budget, for want of disk, or by the provider of sandboxes. The item stays
 * ready, or becomes so again when its launch was refused, and is not to be taken before the time that was suggested.
 */
import { isoTime, type WorkItemDeferral } from "#contracts"
import { type EventsByFact, type CommandDeciders, decided, type Evolvers, nothing, refused } from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { phaseOf, readyState, standing } from "./phases.ts"

export const deferralDeciders = {
  Defer: (item, { dispatchId, deferral }) => {
    if (dispatchId !== null && dispatchId !== item.dispatch?.dispatchId) return nothing
    if (dispatchId === null && item.dispatch !== null) return refused(item, "a runner has it")
    if (item.notBeforeMs !== null && item.notBeforeMs >= deferral.suggestedRetryAtMs) return nothing
    const resumeState = item.dispatch === null ? item.state : readyState[item.dispatch.phase]
    return decided({ _tag: "Deferred", deferral, resumeState })
  }
} satisfies Partial<CommandDeciders>

export const deferralEvolvers = {
  Deferred: (item, { deferral, resumeState }) => ({
    ...standing(resumeState),
    phase: phaseOf(item),
    notBeforeMs: deferral.suggestedRetryAtMs
  })
} satisfies Partial<Evolvers>

const eventOf = { budget: "budget.deferred", disk: "disk.deferred", sandbox: "sandbox.provisioning_deferred" } as const

const detailsOf = ({ kind: _kind, suggestedRetryAtMs, ...details }: WorkItemDeferral) => ({
  ...details,
  suggestedRetryAt: isoTime(suggestedRetryAtMs)
})

export const deferralEvents = {
  Deferred: (item, { deferral, resumeState }, context) => [
    itemEvent(item, context, eventOf[deferral.kind], {
      ...detailsOf(deferral),
      ...(deferral.kind === "sandbox" ? { resumeState } : {})
    })
  ]
} satisfies Partial<EventsByFact>
