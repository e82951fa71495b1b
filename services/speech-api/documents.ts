/** The speech API's own documentation: its routes and its metrics. */
export { speechApiMetrics } from "./metrics.ts"
export { openApiDocument } from "./openapi/document.ts"
export { speechApiPage } from "./openapi/page.ts"
