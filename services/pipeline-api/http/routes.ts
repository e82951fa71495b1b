/** All routes of the API. */
import { descriptionRoute } from "#http"
import { pipelineOpenApi } from "../openapi/document.ts"
import { fleetRoutes } from "./fleet-routes.ts"
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
  descriptionRoute(pipelineOpenApi)
] as const
