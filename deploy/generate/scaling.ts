/**
 * The autoscaling rules of the roles. Every trigger counts work that more pods would do: an endpoint that does not
 * answer has a backlog that no pod can shorten, so it does not count.
 */
import { embeddedEngines } from "#speech/contract"
import { type KubernetesObject, selector } from "./objects.ts"

interface Scaled {
  readonly role: string
  readonly min: number
  readonly max: number
  /** PromQL for all of the role's work, and the share that one pod carries with room to spare. */
  readonly work?: { readonly query: string; readonly perPod: number }
  /** Consumers, and the backlog in messages that one pod may have. */
  readonly lag?: ReadonlyArray<{ readonly stream: string; readonly consumer: string; readonly perPod: number }>
  /** Percent of the requested processor. */
  readonly cpu?: number
}

/**
 * Deliveries due at endpoints that are neither paused nor behind an open breaker. Every replica reports every endpoint.
 */
export const deliverableBacklog = [
  "sum(",
  "max by (endpoint) (webhook_backlog)",
  "unless on (endpoint) (max by (endpoint) (webhook_circuit_state) > 0)",
  "unless on (endpoint) (max by (endpoint) (webhook_endpoint_paused) == 1)",
  ") or vector(0)"
].join(" ")

/**
 * Chunks that wait for the engine with the most of them, of those that a synthesizer may lack: models and processes.
 * Their queues are no triggers by name, because a broker without such a consumer would count its whole stream.
 */
export const waitingForModels = `max(sum by (engine) (speech_chunks_waiting{engine!~"${embeddedEngines.join("|")}"})) or vector(0)`

export const scaled: ReadonlyArray<Scaled> = [
  { role: "pipeline-api", min: 2, max: 8, cpu: 70 },
  // A process delivers 7,000 a second: two seconds of work.
  { role: "webhook-dispatcher", min: 2, max: 10, work: { query: deliverableBacklog, perPod: 15_000 } },
  {
    role: "model-gateway",
    min: 2,
    max: 20,
    work: { query: 'sum(http_requests_active{api="model-gateway"}) or vector(0)', perPod: 500 }
  },
  { role: "payment-verifier", min: 2, max: 10, cpu: 70 },
  // Encoding takes 5 ms a second of audio: a core carries some hundred streams with headroom.
  { role: "speech-api", min: 2, max: 40, work: { query: "sum(speech_streams_active) or vector(0)", perPod: 75 } },
  {
    role: "speech-sequencer",
    min: 2,
    max: 20,
    work: { query: "sum(speech_sessions_active) or vector(0)", perPod: 200 }
  },
  {
    role: "speech-synthesizer",
    min: 2,
    max: 20,
    // A pod holds at most 32 of an engine; a model speaks some chunks a second.
    work: { query: waitingForModels, perPod: 8 },
    lag: embeddedEngines.map((engine) => ({ stream: "SPEECH", consumer: `synthesizer-${engine}`, perPod: 20 }))
  }
]

export const scaling = (): ReadonlyArray<KubernetesObject> => scaled.map(scaledObject)

const scaledObject = ({ role, min, max, work, lag = [], cpu }: Scaled): KubernetesObject => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name: role, labels: selector(role) },
  spec: {
    scaleTargetRef: { name: role },
    minReplicaCount: min,
    maxReplicaCount: max,
    pollingInterval: 15,
    cooldownPeriod: 300,
    // Without metrics: the minimum, rather than none.
    ...(cpu === undefined ? { fallback: { failureThreshold: 4, replicas: min } } : {}),
    advanced: {
      horizontalPodAutoscalerConfig: {
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 30, policies: [{ type: "Percent", value: 100, periodSeconds: 60 }] },
          scaleDown: { stabilizationWindowSeconds: 600, policies: [{ type: "Pods", value: 1, periodSeconds: 120 }] }
        }
      }
    },
    triggers: [
      ...(work === undefined ? [] : [prometheusTrigger(work.query, work.perPod)]),
      ...lag.map(lagTrigger),
      ...(cpu === undefined ? [] : [{ type: "cpu", metricType: "Utilization", metadata: { value: String(cpu) } }])
    ]
  }
})

const prometheusTrigger = (query: string, perPod: number) => ({
  type: "prometheus",
  metadata: { serverAddress: "http://prometheus-operated.monitoring.svc:9090", query, threshold: String(perPod) }
})

const lagTrigger = ({ stream, consumer, perPod }: NonNullable<Scaled["lag"]>[number]) => ({
  type: "nats-jetstream",
  metadata: {
    natsServerMonitoringEndpoint: "nats-headless.starling.svc:8222",
    account: "FLEET",
    stream,
    consumer,
    lagThreshold: String(perPod)
  }
})
