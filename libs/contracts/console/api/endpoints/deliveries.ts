/** Routes of deliveries: what was sent to whom, what was answered, and how it is sent again. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { ResentCount, ResentDelivery } from "../abandoned.ts"
import {
  DeliveriesQuery,
  DeliveryPage,
  DeliveryWhole,
  nearQuery,
  ResendDeliveries,
  ResendDelivery
} from "../deliveries.ts"
import { listCodes, refusals, writeCodes } from "../error-codes.ts"
import { Schema } from "effect"

const params = { deliveryId: Schema.String }

export const DeliveriesGroup = HttpApiGroup.make("deliveries", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listDeliveries", "/deliveries", {
      disableCodecs: true,
      query: DeliveriesQuery.fields,
      success: DeliveryPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List deliveries",
        description:
          "A line for each attempt of the last seven days, as far as 2 GiB hold them. By endpoint and outcome they are found " +
          "at once; by event a page may be short, or empty with a cursor, where the event is rare."
      })
    ),
    HttpApiEndpoint.get("getDelivery", "/deliveries/:deliveryId", {
      disableCodecs: true,
      params,
      query: nearQuery,
      success: DeliveryWhole,
      error: refusals(...listCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at a delivery",
        description: "Each of its attempts with request and answer, the body, and what the signatures cover."
      })
    ),
    HttpApiEndpoint.post("resendDeliveries", "/deliveries/resend", {
      disableCodecs: true,
      payload: ResendDeliveries,
      success: ResentCount,
      error: refusals(...writeCodes)
    }).annotateMerge(
      described({
        scope: "console:write",
        summary: "Send deliveries again",
        description:
          "Those of the given lines, or all to an endpoint since a time, each once. Each becomes a new delivery that names the " +
          "old one; one that is still being tried is sent beside it. With `dryRun` they are only counted. An endpoint that " +
          "is gone gets nothing: named as `endpoint` it is refused, and lines to it are left out.",
        example: { reason: "it lost its database", endpoint: "demo", since: "2026-11-20T12:00:00Z", dryRun: true }
      })
    ),
    HttpApiEndpoint.post("resendDelivery", "/deliveries/:deliveryId/resend", {
      disableCodecs: true,
      params,
      payload: ResendDelivery,
      success: ResentDelivery,
      error: refusals(...writeCodes, "not_found", "conflict")
    }).annotateMerge(
      described({
        scope: "console:write",
        summary: "Send a delivery again",
        description:
          "It becomes a new delivery that names the old one. Repeated with the same `Idempotency-Key` it is the same delivery. " +
          "To an endpoint that is gone it is a conflict.",
        example: { reason: "the receiver lost it" }
      })
    )
  )
  .middleware(BearerToken)
