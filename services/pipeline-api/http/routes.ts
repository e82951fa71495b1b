/** All routes of the API. */
import { fleetRoutes } from "./fleet-routes.ts"
import { openApiRoutes } from "./openapi-route.ts"
import { projectRoutes } from "./project-routes.ts"
import { releaseRoutes } from "./release-routes.ts"
import { workItemListRoutes } from "./work-item-list-routes.ts"
import { workItemRoutes } from "./work-item-routes.ts"

export const pipelineRoutes = [
  ...workItemRoutes,
  ...workItemListRoutes,
  ...releaseRoutes,
  ...projectRoutes,
  ...fleetRoutes,
  ...openApiRoutes
] as const
