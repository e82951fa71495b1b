/** The routes by which clients request a stored response. None is stored: the answer says what to do instead. */
import { Effect } from "effect"
import { route } from "#http"
import { answering, notFound } from "./answer-refusal.ts"

const notStored = notFound(
  "Responses are not stored here, nor their input items; send the whole conversation as input with each call"
)

const answer = answering("responses")(Effect.succeed(notStored))

export const storedResponseRoutes = [
  route("GET", "/v1/responses/:id", answer),
  route("DELETE", "/v1/responses/:id", answer),
  route("GET", "/v1/responses/:id/input_items", answer),
  route("POST", "/v1/responses/:id/cancel", answer)
] as const
