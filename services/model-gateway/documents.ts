/** The gateway's own documentation: its routes and its metrics. */
export { modelGatewayMetrics, paymentMetrics } from "./metrics.ts"
export { gatewayOpenApi, modelGatewayPage } from "./openapi.ts"
