/** The pipeline's API as a declaration, and its client. `#contracts` has the shapes alone. */
export { pipelineClient } from "./PipelineHttpApi.ts"
export { pipelineErrorCodes } from "./error-codes.ts"
export { nullInBodies, PipelineHttpApi } from "./PipelineHttpApi.ts"
export { FleetGroup } from "./endpoints/fleet.ts"
export { ProjectsGroup } from "./endpoints/projects.ts"
export { ReleasesGroup } from "./endpoints/releases.ts"
export { WorkItemsGroup } from "./endpoints/work-items.ts"
