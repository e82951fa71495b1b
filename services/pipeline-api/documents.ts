/** What the pipeline tells of itself in documents: its routes and its metrics. */
export { pipelineMetrics } from "./metrics.ts"
export { pipelineOpenApi } from "./openapi/document.ts"
export { pipelinePage } from "./openapi/page.ts"
