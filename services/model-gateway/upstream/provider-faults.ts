/**
 * What keeps a provider from answering: what its newest call to each model failed with, and what a check finds that
 * asks for its list of models. That list costs nothing, and proves less than an answer: some providers give it to
 * everyone, or have none. So it ends a fault that it has shown itself, or that of a provider which was not reached; any
 * other ends with an answer, or when nothing has failed for a while. Pure.
 */

/** Tells what to do: a key, a bill, a permission, a name, a limit, the provider itself, the way to it, the egress. */
export const statusClasses = [
  "2xx",
  "401",
  "402",
  "403",
  "404",
  "429",
  "4xx",
  "5xx",
  "timeout",
  "unreachable",
  "not allowed",
  "garbled",
  "cut off",
  "none"
] as const
export type StatusClass = (typeof statusClasses)[number]

const named = new Map<number, StatusClass>(
  statusClasses.flatMap((one) => (/^\d{3}$/u.test(one) ? [[Number(one), one]] : []))
)

export const statusClassOf = (status: number): StatusClass => {
  if (status < 400) return "2xx"
  return named.get(status) ?? (status < 500 ? "4xx" : "5xx")
}

export interface ProviderFault {
  /** By the provider's name for it; undefined if only the check found the fault. */
  readonly model: string | undefined
  readonly reason: StatusClass
  readonly atMs: number
  /** The check has found the same. */
  readonly isShown: boolean
}

/** One for each model at most. */
export type ProviderFaults = ReadonlyArray<ProviderFault>

// Of the provider, whatever the model.
const ofAll: ReadonlySet<StatusClass> = new Set(["401", "402", "unreachable", "not allowed"])
// An answer of any kind is their end.
const ofReach: ReadonlySet<StatusClass> = new Set(["unreachable", "not allowed"])
// Without a call's failure. A key may be for calls only (403), and a provider may have no such list (404).
const foundAlone: ReadonlySet<StatusClass> = new Set(["401", "5xx", "timeout", "unreachable", "not allowed"])
const foundAgain: ReadonlySet<StatusClass> = new Set([...foundAlone, "402", "403"])
/** Longer than an open circuit waits for its next call. */
export const doubtMs = 90_000

export const afterAnswer = (faults: ProviderFaults, model: string): ProviderFaults =>
  faults.filter((fault) => fault.model !== undefined && fault.model !== model && !ofAll.has(fault.reason))

export const afterFailedCall = (
  faults: ProviderFaults,
  { model, reason, atMs }: { readonly model: string; readonly reason: StatusClass; readonly atMs: number }
): ProviderFaults => {
  const isShown = faults.some((fault) => fault.reason === reason && fault.isShown)
  return [...faults.filter((fault) => fault.model !== model), { model, reason, atMs, isShown }]
}

export const afterCheck = (faults: ProviderFaults, found: StatusClass, nowMs: number): ProviderFaults => {
  const isKnown = faults.some(({ reason }) => reason === found)
  if (isKnown && foundAgain.has(found)) {
    return faults.map((fault) => (fault.reason === found ? { ...fault, isShown: true } : fault))
  }
  if (foundAlone.has(found)) {
    const own = { model: undefined, reason: found, atMs: nowMs, isShown: true }
    return [...faults.filter(({ model }) => model !== undefined), own]
  }
  return faults.filter(({ reason, atMs, isShown }) => !isShown && !ofReach.has(reason) && nowMs - atMs < doubtMs)
}

const shownMax = 5

/** For logs: never what the provider wrote. */
export const faultsText = (faults: ProviderFaults): string | undefined => {
  if (faults.length === 0) return undefined
  const texts = faults.map(({ model, reason }) => (model === undefined ? reason : `${reason} for ${model}`)).toSorted()
  const more = texts.length > shownMax ? ` and ${texts.length - shownMax} more` : ""
  return `${texts.slice(0, shownMax).join(", ")}${more}`
}
