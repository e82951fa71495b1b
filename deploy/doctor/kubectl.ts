/** The cluster through kubectl: the only part of the doctor that makes calls. KUBECONFIG is left to kubectl. */
import { execFile } from "node:child_process"
import { Effect, Result, Schema } from "effect"
import { parseAllDocuments } from "yaml"
import { answers, type Cluster, type PodRequest } from "./cluster.ts"
import type { Unread } from "./diagnose.ts"
import type { Rendered } from "./plan.ts"
import { amountOf, plus } from "../generate/quantity.ts"

/** The doctor cannot begin: there is no kubectl, no cluster, or no overlay. */
export class NoCluster extends Schema.TaggedError<NoCluster>()("NoCluster", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  isProgramMissing: Schema.Boolean,
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

// A cluster across the world answers in seconds; one that is away must not block a terminal for minutes.
const answerWithinMs = 20_000
// Enough for the pods of a cluster of thousands, with four numbers printed for each.
const answerBytesMax = 64 * 1_024 * 1_024
// Enough to be quick, few enough not to be throttled by the API server.
const questionsAtOnce = 4

export interface Asked {
  /** The program, and the wait for its answer; tests set both. */
  readonly program: string
  readonly context?: string | undefined
  readonly withinMs?: number
}

const ask = ({ program, context, withinMs = answerWithinMs }: Asked, ...parameters: ReadonlyArray<string>) =>
  Effect.callback<string, NoAnswer>((resume) => {
    const given = [...(context === undefined ? [] : ["--context", context]), ...parameters]
    const limits = { timeout: withinMs, maxBuffer: answerBytesMax, killSignal: "SIGKILL" } as const
    const child = execFile(program, given, limits, (fault, out, error) => {
      if (fault === null) return resume(Effect.succeed(out))
      const isProgramMissing = fault.code === "ENOENT"
      const isLate = fault.killed === true
      const reason = isLate ? `no answer within ${withinMs / 1_000} s` : lastLine(error, fault.message)
      return resume(Effect.fail(new NoAnswer({ isProgramMissing, reason })))
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

const lastLine = (error: string, otherwise: string) => error.trim().split("\n").at(-1)?.trim() || otherwise

/** The objects that kubectl renders from an overlay; needs no cluster. */
export const renderOverlay = Effect.fnUntraced(function* (asked: Asked, folder: string) {
  const text = yield* ask(asked, "kustomize", folder).pipe(
    Effect.mapError(({ isProgramMissing, reason }) =>
      isProgramMissing
        ? noProgram(asked)
        : new NoCluster({ reason: `the overlay ${folder} cannot be rendered: ${reason}` })
    )
  )
  return parseAllDocuments(text).map((document) => document.toJS() as Rendered)
})

const noProgram = ({ program }: Asked) =>
  new NoCluster({
    reason: `there is no ${program} on this machine; the doctor asks the cluster through it: https://kubernetes.io/docs/tasks/tools`
  })

/**
 * Fails only when the cluster cannot be reached at all. A part without read permission is reported, and the rest is
 * checked.
 */
export const readCluster = Effect.fnUntraced(function* (asked: Asked, namespace: string) {
  const version = yield* ask(asked, "version", "--output=json").pipe(
    Effect.flatMap((text) => decoded("version", text)),
    Effect.mapError(({ isProgramMissing, reason }) =>
      isProgramMissing ? noProgram(asked) : new NoCluster({ reason: `the cluster cannot be reached: ${reason}` })
    )
  )
  const unread: Array<Unread> = []
  const noted = <A>(question: string, answer: Effect.Effect<A, NoAnswer>) =>
    Effect.catch(answer, ({ reason }) => {
      unread.push({ question, reason })
      return Effect.succeed(undefined)
    })
  const list = <Name extends ListName>(name: Name, question: string, ...parameters: ReadonlyArray<string>) =>
    noted(
      question,
      Effect.flatMap(ask(asked, "get", ...parameters, "--output=json"), (text) => decoded(name, text))
    )
  const resources = yield* noted("the kinds that the cluster knows", ask(asked, "api-resources", "--output=name"))
  const names = resources?.split("\n").map((line) => line.trim())
  const here = ["--namespace", namespace]
  const found = yield* Effect.all(
    {
      namespaces: list("namespaces", "namespaces", "namespaces"),
      workloads: list("workloads", "Deployments and StatefulSets", "deployments,statefulsets", "--all-namespaces"),
      secrets: list("secrets", `secrets of ${namespace}`, "secrets", ...here),
      configMaps: list("configMaps", `ConfigMaps of ${namespace}`, "configmaps", ...here),
      policies: list("policies", `network policies of ${namespace}`, "networkpolicies", ...here),
      storageClasses: list("storageClasses", "storage classes", "storageclasses"),
      nodes: list("nodes", "nodes", "nodes"),
      services: list("services", "services of monitoring", "services", "--namespace", "monitoring"),
      prometheuses: names?.includes("prometheuses.monitoring.coreos.com")
        ? list("prometheuses", "Prometheuses", "prometheuses.monitoring.coreos.com", "--all-namespaces")
        : Effect.succeed(undefined),
      requested: noted("what pods ask for", podRequests(asked))
    },
    { concurrency: questionsAtOnce }
  )
  const cluster: Cluster = {
    version: version.serverVersion.gitVersion,
    resources: names,
    namespaces: found.namespaces?.items,
    workloads: found.workloads?.items,
    secrets: found.secrets?.items,
    configMaps: found.configMaps?.items,
    policies: found.policies?.items,
    storageClasses: found.storageClasses?.items,
    nodes: found.nodes?.items,
    services: found.services?.items,
    prometheuses: found.prometheuses?.items,
    requested: found.requested
  }
  return { cluster, unread }
})

type AnswerName = keyof typeof answers
type ListName = Exclude<AnswerName, "version">
type Answer<Name extends AnswerName> = (typeof answers)[Name]["Type"]

const decoded = <Name extends AnswerName>(name: Name, text: string): Effect.Effect<Answer<Name>, NoAnswer> => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(answers[name] as Schema.Codec<Answer<Name>>), {
    errors: "all"
  })
  const result = decode(text)
  if (Result.isSuccess(result)) return Effect.succeed(result.success)
  const reason = `an answer of another shape: ${String(result.failure).replaceAll(/\s+/gu, " ").slice(0, 500)}`
  return Effect.fail(new NoAnswer({ isProgramMissing: false, reason }))
}

const template =
  '{range .items[*]}{.metadata.namespace}{"\\t"}{.spec.nodeName}{"\\t"}{range .spec.containers[*]}{.resources.requests.cpu}{","}{.resources.requests.memory}{";"}{end}{"\\n"}{end}'

const podRequests = (asked: Asked) =>
  Effect.map(
    ask(
      asked,
      "get",
      "pods",
      "--all-namespaces",
      "--field-selector=status.phase!=Succeeded,status.phase!=Failed",
      `--output=jsonpath=${template}`
    ),
    (text) => text.split("\n").flatMap((line) => (line === "" ? [] : [podRequest(line)]))
  )

/** `namespace\tnode\tcpu,memory;cpu,memory;` */
export const podRequest = (line: string): PodRequest => {
  const [namespace = "", node = "", containers = ""] = line.split("\t")
  const amounts = containers.split(";").map((container) => {
    const [cpu, memory] = container.split(",")
    return amountOf({ cpu: cpu === "" ? undefined : cpu, memory: memory === "" ? undefined : memory })
  })
  return { namespace, node, ...amounts.reduce(plus) }
}
