/** The sources of the speech API's documents: its routes and its metrics. */
export { speechApiMetrics } from "./metrics.ts"
export { speechOpenApi } from "./openapi/document.ts"
export { speechPage } from "./openapi/page.ts"
