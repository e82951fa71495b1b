/** The route that describes the others, `/openapi.json`, open to everybody. Made once, when first asked for. */
import { Effect } from "effect"
import { bytesAnswer } from "../answers.ts"
import { route } from "../routes.ts"
import type { JsonObject } from "./json-schema.ts"

export const descriptionRoute = (document: () => JsonObject) => {
  let made: Uint8Array | undefined
  const describe = Effect.sync(() => {
    made ??= new TextEncoder().encode(JSON.stringify(document()))
    return bytesAnswer(made, "application/json")
  })
  return route("GET", "/openapi.json", describe)
}
