/** The HTTP API and settings of the gateway, as data. */
export {
  ChatRequest,
  type CostlyParameter,
  costlyParameters,
  embeddingInputsMax,
  EmbeddingsRequest,
  ImagesRequest,
  MessagesRequest,
  ResponsesRequest
} from "./requests.ts"
export {
  type BazaarPlace,
  bodySizesOf,
  ModelEntry,
  ModelGateway,
  modelKinds,
  type ModelUpstream,
  ProviderEntry,
  soldBelowCost,
  type SoldBelowCost,
  soldBelowCostText
} from "./settings.ts"
export {
  type CallOutcome,
  callOutcomes,
  type CallWindow,
  type Cell,
  lastDay,
  lastMonth,
  ModelUptime,
  modelUptimeKeptMs,
  modelUptimeKey,
  type OutcomeCounts,
  quarterOf,
  type UptimeBatch,
  uptimeOf,
  withBatch
} from "./uptime.ts"
