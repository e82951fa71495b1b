/** What the gateway tells of itself in documents: its routes and its metrics. */
export { modelGatewayMetrics } from "./metrics.ts"
export { gatewayOpenApi, modelGatewayPage } from "./openapi.ts"
export { paymentMetrics } from "./payments/metrics.ts"
