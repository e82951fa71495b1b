/** Each role's settings for Kubernetes: ports, memory, processor, and calls out. Figures: load-tests/README.md. */

export interface RoleDeployment {
  readonly name: string
  /** The speech image includes ffmpeg and the engines. */
  readonly image: "fleet" | "speech"
  /**
   * Only the APIs listen for callers; `section` is the environment's prefix of their settings. A closed one admits
   * nobody whom no overlay names.
   */
  readonly api?: { readonly port: number; readonly section: string; readonly isClosed?: true }
  /** Calls out of the cluster: webhooks, providers, chains. */
  readonly callsOut: boolean
  readonly cpu: string
  readonly memory: string
  readonly memoryMax: string
  /** Replicas without autoscaling; roles that hold a lease have one on standby. */
  readonly replicas: number
  /** Not part of the fleet unless an overlay adds its folder. */
  readonly isOptional?: true
  /** It reads the metrics and the health of every role's pods. */
  readonly seesFleet?: true
  /** Secrets whose keys become variables; each may be absent. */
  readonly secrets: ReadonlyArray<string>
  /** A secret whose keys become files of a folder; it may be absent. */
  readonly secretFiles?: { readonly secret: string; readonly folder: string }
}

/** Where a settler finds keystores and their passwords, with Docker Compose too. */
export const keystoresFolder = "/etc/starling-keystores"

const plain = { image: "fleet", callsOut: false, replicas: 2, secrets: [] } as const

export const roleDeployments: ReadonlyArray<RoleDeployment> = [
  {
    ...plain,
    name: "pipeline-api",
    api: { port: 7_401, section: "PIPELINE_API" },
    cpu: "250m",
    memory: "192Mi",
    memoryMax: "768Mi"
  },
  {
    ...plain,
    name: "webhook-dispatcher",
    callsOut: true,
    // 154 MB idle, 387 MB at full rate, 934 MB with ten thousand endpoints.
    cpu: "500m",
    memory: "256Mi",
    memoryMax: "1280Mi",
    secrets: ["starling-webhook-secrets"]
  },
  { ...plain, name: "sweeper", cpu: "100m", memory: "160Mi", memoryMax: "768Mi" },
  {
    ...plain,
    name: "model-gateway",
    api: { port: 7_402, section: "MODEL_GATEWAY" },
    callsOut: true,
    // 224 MB in a test, 837 MB with as many bodies as BodiesBytesMax allows.
    cpu: "250m",
    memory: "192Mi",
    memoryMax: "1Gi",
    secrets: ["starling-provider-keys"]
  },
  {
    ...plain,
    name: "payment-verifier",
    // The facilitator's API, for other servers that are paid to our accounts. It knows no tokens, and each settlement
    // that it is asked for costs fees.
    api: { port: 7_404, section: "PAYMENT_VERIFIER_FACILITATOR", isClosed: true },
    callsOut: true,
    cpu: "200m",
    memory: "160Mi",
    memoryMax: "512Mi"
  },
  {
    ...plain,
    name: "payment-settler",
    callsOut: true,
    cpu: "100m",
    memory: "160Mi",
    // Opening a keystore takes 256 MiB for a second.
    memoryMax: "768Mi",
    secrets: ["starling-settler-keys"],
    secretFiles: { secret: "starling-settler-keystores", folder: keystoresFolder }
  },
  {
    ...plain,
    name: "speech-api",
    image: "speech",
    api: { port: 7_403, section: "SPEECH_API" },
    // Each encoder takes 11 MB of its own.
    cpu: "1",
    memory: "512Mi",
    memoryMax: "2560Mi"
  },
  { ...plain, name: "speech-sequencer", cpu: "250m", memory: "192Mi", memoryMax: "768Mi" },
  { ...plain, name: "speech-synthesizer", image: "speech", cpu: "500m", memory: "320Mi", memoryMax: "1Gi" },
  {
    ...plain,
    name: "console",
    isOptional: true,
    seesFleet: true,
    api: { port: 7_405, section: "CONSOLE" },
    cpu: "100m",
    memory: "160Mi",
    memoryMax: "512Mi",
    // Its loss takes from operators their view for the moment in which another pod starts, and nothing from callers.
    replicas: 1
  }
]

/** The roles of every deployment. */
export const fleetDeployments = roleDeployments.filter(({ isOptional }) => isOptional !== true)
/** Roles that an overlay adds by their folder. */
export const optionalDeployments = roleDeployments.filter(({ isOptional }) => isOptional === true)

/** The APIs that the console's page calls through the console, with the setting that names each. */
export const passedOnApis = [
  { name: "pipeline-api", variable: "CONSOLE_PIPELINE_URL" },
  { name: "model-gateway", variable: "CONSOLE_MODELS_URL" },
  { name: "speech-api", variable: "CONSOLE_SPEECH_URL" }
].map((api) => ({ ...api, port: roleDeployments.find(({ name }) => name === api.name)?.api?.port ?? Number.NaN }))

export const metricsPort = 9_400

/** The name that has the addresses of all pods of a role, ready or not. */
export const metricsName = (role: string) => `${role}-metrics`
