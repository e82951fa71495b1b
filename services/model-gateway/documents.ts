/** The sources of the gateway's documents: its routes and its metrics. */
export { modelGatewayMetrics, paymentMetrics } from "./metrics.ts"
export { gatewayOpenApi } from "./openapi/document.ts"
export { modelGatewayPage } from "./openapi/page.ts"
