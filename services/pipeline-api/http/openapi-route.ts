/** The route that describes the others, open to everybody. Made once, when first asked for. */
import { Effect } from "effect"
import { bytesAnswer, route } from "#http"
import { pipelineOpenApi } from "../openapi/document.ts"

let made: Uint8Array | undefined

const describe = Effect.sync(() => {
  made ??= new TextEncoder().encode(JSON.stringify(pipelineOpenApi()))
  return bytesAnswer(made, "application/json")
})

export const openApiRoutes = [route("GET", "/openapi.json", describe)] as const
