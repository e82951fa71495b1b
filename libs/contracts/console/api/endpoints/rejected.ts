/** Routes of rejected messages: what came, what is wrong with it, and what is done about it. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, refusals, writeCodes } from "../error-codes.ts"
import { Because, sequenceParams } from "../parts.ts"
import { RejectedMessage, RejectedPage, RejectedQuery, RejectedResent } from "../rejected.ts"

export const RejectedGroup = HttpApiGroup.make("rejected", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listRejected", "/rejected", {
      disableCodecs: true,
      query: RejectedQuery.fields,
      success: RejectedPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List rejected messages",
        description: "Messages that broke their schema, of the last seven days."
      })
    ),
    HttpApiEndpoint.get("getRejected", "/rejected/:sequence", {
      disableCodecs: true,
      params: sequenceParams,
      success: RejectedMessage,
      error: refusals(...readCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at a rejected message",
        description: "With every fault and its path, and with what came."
      })
    ),
    HttpApiEndpoint.post("resendRejected", "/rejected/:sequence/resend", {
      disableCodecs: true,
      params: sequenceParams,
      payload: Because,
      success: RejectedResent,
      error: refusals(...writeCodes, "not_found", "conflict", "still_invalid")
    }).annotateMerge(
      described({
        scope: "console:write",
        summary: "Send a rejected event again",
        description:
          "Publishes the event as it is kept, where this release accepts it, and takes it off the list. " +
          "Other messages are sent again by those who sent them.",
        example: { reason: "the schema is mended" }
      })
    ),
    HttpApiEndpoint.post("discardRejected", "/rejected/:sequence/discard", {
      disableCodecs: true,
      params: sequenceParams,
      payload: Because,
      success: HttpApiSchema.NoContent,
      error: refusals(...writeCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Discard a rejected message",
        description: "Takes it off the list for good.",
        example: { reason: "a test's" }
      })
    )
  )
  .middleware(BearerToken)
