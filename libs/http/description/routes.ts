/** The routes by which an API describes itself: a document for machines, and a page. Both are open to everybody. */
import { Effect } from "effect"
import { DescriptionGroup } from "#contracts/http"
import { bytesAnswer } from "../answers.ts"
import { route } from "../listener/routes.ts"
import { htmlPage, pagePolicy } from "./html.ts"
import type { JsonObject } from "./openapi.ts"

/** `page`: the reference, in Markdown. */
export const descriptionRoutes = (document: () => JsonObject, page: () => string) => {
  const { getDescription, getReference } = DescriptionGroup.endpoints
  const describe = madeOnce("application/json", () => JSON.stringify(document()))
  const headers = { "content-security-policy": pagePolicy }
  const reference = madeOnce("text/html; charset=utf-8", () => htmlPage(page()), headers)
  return [
    route(getDescription.method, getDescription.path, describe),
    route(getReference.method, getReference.path, reference)
  ] as const
}

/** An answer that is made on the first request for it. */
const madeOnce = (contentType: string, make: () => string, headers: Readonly<Record<string, string>> = {}) => {
  let made: Uint8Array | undefined
  return Effect.sync(() => {
    made ??= new TextEncoder().encode(make())
    return bytesAnswer(made, contentType, { headers })
  })
}
