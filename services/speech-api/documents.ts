/** What the speech API tells of itself in documents: its routes and its metrics. */
export { speechApiMetrics } from "./metrics.ts"
export { openApiDocument } from "./openapi/document.ts"
export { speechApiPage } from "./openapi/page.ts"
