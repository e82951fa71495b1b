/**
 * A place to run commands: a suspended CronJob, as a template for pods that are made on demand and end by themselves.
 * Their user is `operator`; the namespace's policies let them reach the broker and DNS.
 */
import { containerSecurity, type KubernetesObject, podSecurity, selector } from "./objects.ts"

export const operatorName = "operator"

/** Long enough for an incident, short enough that no shell is left open until the next morning. */
const lifetimeSeconds = 2 * 3_600

/** A command that reads ten thousand events holds them all in memory. */
export const operatorResources = {
  requests: { cpu: "50m", memory: "128Mi" },
  limits: { memory: "512Mi" }
}

export const operator: ReadonlyArray<KubernetesObject> = [
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: operatorName, labels: selector(operatorName) },
    automountServiceAccountToken: false
  },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: operatorName, labels: selector(operatorName) },
    spec: {
      // A date that never matters: pods are made by hand.
      schedule: "0 0 1 1 *",
      suspend: true,
      jobTemplate: {
        metadata: { labels: selector(operatorName) },
        spec: {
          backoffLimit: 0,
          activeDeadlineSeconds: lifetimeSeconds,
          ttlSecondsAfterFinished: 300,
          template: { metadata: { labels: selector(operatorName) }, spec: pod() }
        }
      }
    }
  }
]

function pod() {
  return {
    restartPolicy: "Never",
    serviceAccountName: operatorName,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // Nothing in it needs time to finish.
    terminationGracePeriodSeconds: 1,
    securityContext: podSecurity,
    containers: [
      {
        name: operatorName,
        image: "starling-fleet",
        command: ["sleep", String(lifetimeSeconds)],
        env: [
          { name: "STARLING_CONFIG", value: "/etc/starling/starling.config.json" },
          { name: "BUS_USER", value: operatorName },
          {
            name: "BUS_PASSWORD",
            valueFrom: { secretKeyRef: { name: "starling-bus-passwords", key: operatorName, optional: true } }
          }
        ],
        resources: operatorResources,
        securityContext: containerSecurity,
        volumeMounts: [
          { name: "tmp", mountPath: "/tmp" },
          { name: "configuration", mountPath: "/etc/starling", readOnly: true },
          { name: "bus-ca", mountPath: "/etc/starling-bus-ca", readOnly: true },
          { name: "bus-client", mountPath: "/etc/starling-bus-client", readOnly: true }
        ]
      }
    ],
    volumes: [
      { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
      { name: "configuration", configMap: { name: "starling-configuration" } },
      { name: "bus-ca", configMap: { name: "starling-bus-ca", optional: true } },
      { name: "bus-client", secret: { secretName: "starling-bus-client-tls", optional: true, defaultMode: 0o440 } }
    ]
  }
}
