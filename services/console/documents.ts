/** The sources of the console's documents: its routes and its metrics. */
export { consoleMetrics } from "./metrics.ts"
export { consoleOpenApi } from "./openapi/document.ts"
export { consolePage } from "./openapi/page.ts"
