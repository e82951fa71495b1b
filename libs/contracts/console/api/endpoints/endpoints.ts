/** Routes of webhook endpoints: what is true of each, and their changes at run time. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import {
  ChangeEndpoint,
  CreateEndpoint,
  EndpointPage,
  EndpointsQuery,
  EndpointView,
  nameParams,
  OfRevision,
  RotateSecrets,
  SentTest,
  TestEndpoint
} from "../endpoints.ts"
import { listCodes, readCodes, refusals, writeCodes } from "../error-codes.ts"
import { Because } from "../parts.ts"

const changeRefusals = refusals(...writeCodes, "not_found", "conflict")
const example = { reason: "its receiver moves" }

const reads = HttpApiGroup.make("endpoints", { topLevel: true }).add(
  HttpApiEndpoint.get("listEndpoints", "/endpoints", {
    disableCodecs: true,
    query: EndpointsQuery.fields,
    success: EndpointPage,
    error: refusals(...listCodes)
  }).annotateMerge(
    described({
      scope: "console:read",
      summary: "List webhook endpoints",
      description: "Those of the configuration file and those made at run time, by name, with their state."
    })
  ),
  HttpApiEndpoint.get("getEndpoint", "/endpoints/:name", {
    disableCodecs: true,
    params: nameParams,
    success: EndpointView,
    error: refusals(...readCodes, "not_found")
  }).annotateMerge(
    described({
      scope: "console:read",
      summary: "Look at a webhook endpoint",
      description:
        "Its settings and its state, with what is in flight and when it last took something. No secret is shown."
    })
  )
)

const changes = reads.add(
  HttpApiEndpoint.post("createEndpoint", "/endpoints", {
    disableCodecs: true,
    payload: CreateEndpoint,
    success: EndpointView.pipe(HttpApiSchema.status(201)),
    error: refusals(...writeCodes, "conflict")
  }).annotateMerge(
    described({
      scope: "console:operate",
      summary: "Make a webhook endpoint",
      description:
        "It gets every event after `startsAfter` of the answer. The same request again makes no second one; an endpoint " +
        "of that name that differs is a conflict.",
      example: { reason: "a new receiver", settings: { Name: "ci", Url: "https://ci.example/hooks" } }
    })
  ),
  HttpApiEndpoint.patch("changeEndpoint", "/endpoints/:name", {
    disableCodecs: true,
    params: nameParams,
    payload: ChangeEndpoint,
    success: EndpointView,
    error: changeRefusals
  }).annotateMerge(
    described({
      scope: "console:operate",
      summary: "Change a webhook endpoint",
      description: "Every dispatcher goes on with it within a second; deliveries that wait, retries and breaker stay.",
      example: { ...example, revision: 1, settings: { Url: "https://new.example/hooks" } }
    })
  ),
  HttpApiEndpoint.post("rotateEndpoint", "/endpoints/:name/rotate", {
    disableCodecs: true,
    params: nameParams,
    payload: RotateSecrets,
    success: EndpointView,
    error: changeRefusals
  }).annotateMerge(
    described({
      scope: "console:operate",
      summary: "Rotate an endpoint's secrets",
      description: "The secret before signs beside the new one for the overlap, and is gone afterwards.",
      example: { ...example, secret: "a-new-secret-of-the-receiver", overlapSeconds: 3_600 }
    })
  ),
  HttpApiEndpoint.post("removeEndpoint", "/endpoints/:name/remove", {
    disableCodecs: true,
    params: nameParams,
    payload: OfRevision,
    success: HttpApiSchema.NoContent,
    error: changeRefusals
  }).annotateMerge(
    described({
      scope: "console:operate",
      summary: "Remove a webhook endpoint",
      description: "Nothing is sent to it after the answer. What waits for it goes to the abandoned deliveries.",
      example
    })
  )
)

export const EndpointsGroup = changes
  .add(
    HttpApiEndpoint.post("enableEndpoint", "/endpoints/:name/enable", {
      disableCodecs: true,
      params: nameParams,
      payload: OfRevision,
      success: EndpointView,
      error: changeRefusals
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Enable a webhook endpoint",
        description: "It gets what it missed while it was disabled, up to `ParkedMaxDays`.",
        example
      })
    ),
    HttpApiEndpoint.post("disableEndpoint", "/endpoints/:name/disable", {
      disableCodecs: true,
      params: nameParams,
      payload: OfRevision,
      success: EndpointView,
      error: changeRefusals
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Disable a webhook endpoint",
        description: "Nothing is sent to it after the answer; its events are kept.",
        example
      })
    ),
    HttpApiEndpoint.post("pauseEndpoint", "/endpoints/:name/pause", {
      disableCodecs: true,
      params: nameParams,
      payload: Because,
      success: EndpointView,
      error: refusals(...writeCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Pause a webhook endpoint",
        description: "Also one of the configuration file. It keeps its backlog and misses nothing.",
        example
      })
    ),
    HttpApiEndpoint.post("resumeEndpoint", "/endpoints/:name/resume", {
      disableCodecs: true,
      params: nameParams,
      payload: Because,
      success: EndpointView,
      error: refusals(...writeCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Resume a webhook endpoint",
        description: "Goes on with it, and closes its breaker.",
        example
      })
    ),
    HttpApiEndpoint.post("testEndpoint", "/endpoints/:name/test", {
      disableCodecs: true,
      params: nameParams,
      payload: TestEndpoint,
      success: SentTest,
      error: refusals(...writeCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Send a test to a webhook endpoint",
        description:
          "One delivery to this endpoint alone, of the catalogue's example, with the header `X-Service-Test: true`. It is " +
          "tried once. A paused endpoint gets it when it is resumed.",
        example: { ...example, event: "work_item.merged" }
      })
    )
  )
  .middleware(BearerToken)
