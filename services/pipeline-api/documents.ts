/** The sources of the pipeline's documents: its routes and its metrics. */
export { pipelineMetrics } from "./metrics.ts"
export { pipelineOpenApi } from "./openapi/document.ts"
export { pipelinePage } from "./openapi/page.ts"
