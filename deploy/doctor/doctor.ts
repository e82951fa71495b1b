/**
 * `doctor --kubernetes`: finds what a cluster lacks before an overlay is applied to it. It reads, through kubectl, and
 * changes nothing. Ends with 0 when nothing is missing, with 1 when something is or could not be checked.
 */
import { Clock, Effect } from "effect"
import { checkNames, diagnose } from "./diagnose.ts"
import { isIll, report } from "./finding.ts"
import { readCluster, renderOverlay } from "./kubectl.ts"
import { planOf, sumOf } from "./plan.ts"
import { cpuText, memoryText } from "../generate/quantity.ts"

export { type Finding, isIll, lossTold, report } from "./finding.ts"

export interface Examination {
  readonly overlay: string
  readonly context?: string | undefined
  readonly isJson: boolean
  readonly print: (line: string) => void
  /** The program in kubectl's place, and the wait for its answer. */
  readonly program?: string
  readonly withinMs?: number
}

/** The exit code. */
export const examine = Effect.fnUntraced(function* (examination: Examination) {
  const { overlay, context, isJson, print, program = "kubectl", withinMs } = examination
  const asked = { program, context, ...(withinMs === undefined ? {} : { withinMs }) }
  const plan = planOf(yield* renderOverlay(asked, overlay))
  const { cluster, unread } = yield* readCluster(asked, plan.namespace)
  const findings = diagnose(cluster, plan, { nowMs: yield* Clock.currentTimeMillis, unread })
  const sum = sumOf(plan)
  if (isJson) {
    const asks = { cpu: sum.cpu, memoryBytes: sum.memoryBytes }
    print(JSON.stringify({ ok: !isIll(findings), namespace: plan.namespace, version: cluster.version, asks, findings }))
  } else {
    print(`${overlay} into the namespace ${plan.namespace} of Kubernetes ${cluster.version}`)
    print(`it asks for ${cpuText(sum.cpu)} processors and ${memoryText(sum.memoryBytes)} of memory, brokers included`)
    for (const line of report(["access", ...checkNames], findings)) print(line)
    const missing = findings.filter(({ state }) => state !== "advice").length
    print(missing === 0 ? "nothing is missing" : `${missing} to mend before it is applied`)
  }
  return isIll(findings) ? 1 : 0
})
