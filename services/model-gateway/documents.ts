/** What the gateway tells of itself in documents: its routes and its metrics. */
export { modelGatewayMetrics, paymentMetrics } from "./metrics.ts"
export { gatewayOpenApi, modelGatewayPage } from "./openapi.ts"
