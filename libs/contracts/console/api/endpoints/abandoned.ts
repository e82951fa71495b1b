/** Routes of abandoned deliveries: why each was given up, and how they are sent again. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import {
  AbandonedPage,
  AbandonedQuery,
  AbandonedWhole,
  ResendAbandoned,
  ResentCount,
  ResentDelivery
} from "../abandoned.ts"
import { listCodes, readCodes, refusals, writeCodes } from "../error-codes.ts"
import { Because, sequenceParams } from "../parts.ts"

export const AbandonedGroup = HttpApiGroup.make("abandoned", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listAbandoned", "/abandoned", {
      disableCodecs: true,
      query: AbandonedQuery.fields,
      success: AbandonedPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List abandoned deliveries",
        description: "Deliveries that were given up in the last thirty days."
      })
    ),
    HttpApiEndpoint.get("getAbandoned", "/abandoned/:sequence", {
      disableCodecs: true,
      params: sequenceParams,
      success: AbandonedWhole,
      error: refusals(...readCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at an abandoned delivery",
        description: "Why it was given up, and the body that was sent."
      })
    ),
    HttpApiEndpoint.post("resendAllAbandoned", "/abandoned/resend", {
      disableCodecs: true,
      payload: ResendAbandoned,
      success: ResentCount,
      error: refusals(...writeCodes)
    }).annotateMerge(
      described({
        scope: "console:write",
        summary: "Send abandoned deliveries again",
        description:
          "Those that the body selects: each becomes a new delivery that names the old one, and leaves the list. " +
          "With `dryRun` they are only counted.",
        example: { reason: "the receiver is back", endpoint: "demo", dryRun: true }
      })
    ),
    HttpApiEndpoint.post("resendAbandoned", "/abandoned/:sequence/resend", {
      disableCodecs: true,
      params: sequenceParams,
      payload: Because,
      success: ResentDelivery,
      error: refusals(...writeCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:write",
        summary: "Send an abandoned delivery again",
        description: "It becomes a new delivery that names the old one, and leaves the list.",
        example: { reason: "the receiver is back" }
      })
    ),
    HttpApiEndpoint.post("discardAbandoned", "/abandoned/:sequence/discard", {
      disableCodecs: true,
      params: sequenceParams,
      payload: Because,
      success: HttpApiSchema.NoContent,
      error: refusals(...writeCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Discard an abandoned delivery",
        description: "Takes it off the list for good; it can no longer be sent again.",
        example: { reason: "the receiver is gone" }
      })
    )
  )
  .middleware(BearerToken)
