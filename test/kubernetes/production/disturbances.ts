/** What an operator does to a running fleet, each until it is as it was: restarts, drains, upgrades, scaling. */
import { kubectl, objectsOf, pauseMs, untilReady } from "../kubectl.ts"
import { within } from "../cluster.ts"

// Two processors run three nodes: a rollout of nine roles waits for them.
const rolloutWithinMs = 600_000
const drainWithinMs = 240_000
const scaledWithinMs = 600_000

const rolledOut = (namespace: string, workload: string) =>
  within("kubectl", ["-n", namespace, "rollout", "status", workload], { withinMs: rolloutWithinMs })

/** Each workload's pods, exchanged as after a change, one workload after the other. */
export const restart = async (namespace: string, workloads: ReadonlyArray<string>) => {
  for (const workload of workloads) {
    await kubectl("-n", namespace, "rollout", "restart", workload)
    await rolledOut(namespace, workload)
  }
}

/** Killed with no time to finish: one pod of each role, one role after the other, until its successor is ready. */
export const killPods = async (namespace: string, roles: ReadonlyArray<string>) => {
  for (const role of roles) {
    const of = ["-l", `app.kubernetes.io/name=${role}`]
    const pod = (await kubectl("-n", namespace, "get", "pods", ...of, "-o", "name")).split("\n")[0] ?? ""
    await kubectl("-n", namespace, "delete", pod, "--grace-period=0", "--force")
    await rolledOut(namespace, `deployment/${role}`)
  }
}

const nodeOfPods = async (node: string) => {
  const pods = await kubectl("get", "pods", "-A", "--field-selector", `spec.nodeName=${node}`, "-o", "name")
  return pods.split("\n").filter((name) => name !== "").length
}

/** All pods leave a node, as before its maintenance; it takes pods again when the roles are ready without it. */
export const drain = async (namespace: string, node: string, roles: ReadonlyArray<string>) => {
  const before = await nodeOfPods(node)
  try {
    await within("kubectl", ["drain", node, "--ignore-daemonsets", "--delete-emptydir-data"], {
      withinMs: drainWithinMs
    })
    for (const role of roles) await rolledOut(namespace, `deployment/${role}`)
  } finally {
    await kubectl("uncordon", node)
  }
  await untilReady(namespace, rolloutWithinMs)
  return before
}

/** Every role back to the revision before, as in a release that went wrong. */
export const rollBack = async (namespace: string, roles: ReadonlyArray<string>) => {
  for (const role of roles) await kubectl("-n", namespace, "rollout", "undo", `deployment/${role}`)
  await untilReady(namespace, rolloutWithinMs)
}

/** The images' tags of the namespace's Deployments, each once. */
export const runningReleases = async (namespace: string, roles: ReadonlyArray<string>) => {
  const path = "jsonpath={.spec.template.spec.containers[0].image}"
  const images = await Promise.all(
    roles.map((role) => kubectl("-n", namespace, "get", `deployment/${role}`, "-o", path))
  )
  return [...new Set(images.map((image) => image.slice(image.lastIndexOf(":") + 1)))]
}

const holding = "autoscaling.keda.sh/paused-replicas"

/** Pods of each role by hand: KEDA holds its roles at the number, the others are scaled. */
export const scaleByHand = async (namespace: string, roles: ReadonlyArray<string>, replicas: number) => {
  const held = (await objectsOf(namespace, "scaledobjects")).map(({ metadata }) => metadata.name)
  await kubectl("-n", namespace, "annotate", "scaledobjects", "--all", "--overwrite", `${holding}=${replicas}`)
  const others = roles.filter((role) => !held.includes(role)).map((role) => `deployment/${role}`)
  await kubectl("-n", namespace, "scale", ...others, `--replicas=${replicas}`)
  await untilPods(namespace, roles, replicas)
}

/** Gives the number of pods back to KEDA. */
export const scaleByKeda = async (namespace: string, roles: ReadonlyArray<string>, replicas: number) => {
  await kubectl("-n", namespace, "annotate", "scaledobjects", "--all", `${holding}-`)
  await kubectl("-n", namespace, "scale", ...roles.map((role) => `deployment/${role}`), `--replicas=${replicas}`)
  await untilPods(namespace, roles, replicas)
}

/** Waits until each role has as many ready pods, and no others. */
export const untilPods = async (namespace: string, roles: ReadonlyArray<string>, replicas: number) => {
  const beganMs = performance.now()
  for (;;) {
    const deployments = (await objectsOf(namespace, "deployments")).filter(({ metadata }) =>
      roles.includes(metadata.name)
    )
    const others = deployments.filter(
      ({ status }) => status?.readyReplicas !== replicas || status.replicas !== replicas
    )
    if (others.length === 0) return performance.now() - beganMs
    if (performance.now() - beganMs > scaledWithinMs) {
      const seen = others.map(({ metadata, status }) => `${metadata.name} ${status?.readyReplicas ?? 0}`).join(", ")
      throw new Error(`not ${replicas} pods of each role within ${scaledWithinMs / 1_000} s: ${seen}`)
    }
    await pauseMs(1_000)
  }
}
