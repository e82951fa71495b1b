/** What the pipeline's documents are made of: its routes and its metrics. */
export { pipelineMetrics } from "./metrics.ts"
export { pipelineOpenApi } from "./openapi/document.ts"
export { pipelinePage } from "./openapi/page.ts"
