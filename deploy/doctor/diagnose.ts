/** Every check of the doctor, by the name that the report gives it. Pure. */
import { soldBelowCost } from "#gateway/contract"
import type { Cluster } from "./cluster.ts"
import { brokersCheck } from "./checks/brokers.ts"
import { capacityCheck, storageCheck } from "./checks/capacity.ts"
import { certificatesCheck } from "./checks/certificates.ts"
import {
  controllersCheck,
  metricsServerCheck,
  namespaceCheck,
  prometheusCheck,
  versionCheck
} from "./checks/platform.ts"
import { callersCheck, egressCheck, imagesCheck, originCheck } from "./checks/reach.ts"
import { keystoresCheck, passwordsCheck, variablesCheck } from "./checks/secrets.ts"
import { lossTold, type Finding, type Told } from "./finding.ts"
import type { Plan } from "./plan.ts"

type Check = (cluster: Cluster, plan: Plan, nowMs: number) => ReadonlyArray<Told>

const checks: Readonly<Record<string, Check>> = {
  version: versionCheck,
  namespace: namespaceCheck,
  controllers: controllersCheck,
  "metrics-server": metricsServerCheck,
  Prometheus: prometheusCheck,
  passwords: passwordsCheck,
  "other secrets": variablesCheck,
  keystores: keystoresCheck,
  certificates: certificatesCheck,
  brokers: brokersCheck,
  "storage class": storageCheck,
  capacity: capacityCheck,
  images: imagesCheck,
  configuration: (_, { faults }) =>
    faults.map(({ path, message }) => ({
      what: `starling.config.json: ${path === "" ? "" : `${path}: `}${message}`,
      why: "no role starts with it",
      mend: "put it right in the file that your overlay names; docs/settings.md has every key"
    })),
  prices: (_, { configuration }) => (configuration === undefined ? [] : soldBelowCost(configuration).map(lossTold)),
  "ways out": egressCheck,
  callers: callersCheck,
  "gateway's origin": originCheck
}

export const checkNames: ReadonlyArray<string> = Object.keys(checks)

/** An unanswered question, whose checks stay open. */
export interface Unread {
  readonly question: string
  readonly reason: string
}

export const diagnose = (
  cluster: Cluster,
  plan: Plan,
  { nowMs, unread }: { readonly nowMs: number; readonly unread: ReadonlyArray<Unread> }
): ReadonlyArray<Finding> => [
  ...unread.map(({ question, reason }) => ({
    check: "access",
    state: "unread" as const,
    what: `could not look at ${question}: ${reason}`,
    why: "what depends on it was not checked",
    mend: "kubectl auth can-i --list; ask with an account that may read it"
  })),
  ...Object.entries(checks).flatMap(([check, ask]) =>
    ask(cluster, plan, nowMs).map((told) => ({ state: "missing" as const, ...told, check }))
  )
]
