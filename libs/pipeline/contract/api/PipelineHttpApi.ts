/**
 * The pipeline's complete API: every route with its shapes, scope and refusals. Server, documents and clients follow
 * it. It is separate from `#pipeline/contract`, because it loads HttpApi.
 */
import { Context, Effect } from "effect"
import { HttpApi, HttpApiClient, OpenApi } from "effect/http-api"
import { clientToken, DescriptionGroup } from "#base/http"
import { ErrorEnvelope } from "#base"
import { EventsGroup } from "./events.ts"
import { FleetGroup } from "./fleet.ts"
import { ProjectsGroup } from "./projects.ts"
import { ReleasesGroup } from "./releases.ts"
import { WorkItemsGroup } from "./work-items.ts"

export * from "./events.ts"
export * from "./fleet.ts"
export * from "./projects.ts"
export * from "./releases.ts"
export * from "./work-items.ts"
export { pipelineErrorCodes } from "./parts.ts"

/** A rule for the bodies of all routes. */
export const nullInBodies =
  "In a body, null for a field that may be left out is the same as leaving it out; " +
  "only where a field itself says what null stands for, it is a value."

export const PipelineHttpApi = HttpApi.make("pipeline")
  .add(WorkItemsGroup, ReleasesGroup, ProjectsGroup, FleetGroup, EventsGroup, DescriptionGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling pipeline",
      version: "1.0.0",
      description: `Work items and their releases, projects, agents and queues. ${nullInBodies}`,
      servers: [{ url: "/" }]
    })
  )
  .annotateMerge(Context.make(HttpApi.AdditionalSchemas, [ErrorEnvelope]))

interface ClientOptions {
  readonly url: string
  readonly token: string
}

/** A typed client of the API. A refusal fails with its envelope. Needs an `HttpClient`. */
export const pipelineClient = ({ url, token }: ClientOptions) =>
  Effect.provide(HttpApiClient.make(PipelineHttpApi, { baseUrl: url }), clientToken(token))
