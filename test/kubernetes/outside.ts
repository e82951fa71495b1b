/**
 * The outside of the fleet: receivers, providers and chains in the namespace `outside`, and a caller of the APIs in
 * `ingress`, from where production admits calls. Both run this tree's own scripts, which the nodes read from this
 * machine.
 */
import { applyObjects, kubectl, untilReady } from "./kubectl.ts"
import { firstNode, root } from "./cluster.ts"
import { nodeImage } from "./images.ts"
import { worldPorts } from "../containers/world-places.ts"

export const outside = "outside"
export const callers = "ingress"

/** How the fleet calls the outside world. */
export const worldName = `world.${outside}`

const readyWithinMs = 180_000

export const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })

/** Runs a script of this tree, or waits for an order. */
export const scripts = (name: string, inNamespace: string, script: ReadonlyArray<string>, port?: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: inNamespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        // The outside does not go away with a node of the fleet.
        nodeSelector: { "kubernetes.io/hostname": firstNode },
        // The tree belongs to the tester, who may be root and have made it unreadable for others.
        securityContext: { runAsUser: 0 },
        containers: [
          {
            name,
            image: nodeImage,
            imagePullPolicy: "IfNotPresent",
            command: ["node", ...script],
            workingDir: "/src",
            volumeMounts: [{ name: "tree", mountPath: "/src", readOnly: true }],
            ...(port === undefined
              ? {}
              : { readinessProbe: { tcpSocket: { port }, periodSeconds: 1, failureThreshold: 120 } })
          }
        ],
        volumes: [{ name: "tree", hostPath: { path: root } }]
      }
    }
  }
})

const world = [
  scripts("world", outside, ["test/containers/world.ts"], worldPorts.hooks),
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "world", namespace: outside },
    spec: {
      selector: { app: "world" },
      ports: Object.entries(worldPorts).map(([name, port]) => ({ name, port }))
    }
  }
]

const waiting = ["-e", "setInterval(() => undefined, 60_000)"]

export const startOutside = async () => {
  await applyObjects([namespace(outside), namespace(callers), ...world, scripts("caller", callers, waiting)])
  await untilReady(outside, readyWithinMs)
  await untilReady(callers, readyWithinMs)
}

/** A world without any requests yet. */
export const removeOutside = () => kubectl("delete", "namespace", outside, callers, "--wait=true", "--timeout=120s")

/** Has the caller run one errand of errand.ts, and returns its result. */
export const send = async <A>(errand: string, order: object): Promise<A> => {
  const script = ["node", "test/kubernetes/errand.ts", errand, JSON.stringify(order)]
  const said = await kubectl("-n", callers, "exec", "deployment/caller", "--", ...script)
  return JSON.parse(said) as A
}
