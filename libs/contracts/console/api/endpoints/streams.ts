/** Routes of the broker's streams: what lies there, who reads it how far, and who holds a lease. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, refusals } from "../error-codes.ts"
import { BrokerStreams, ConsumerPage, ConsumersQuery, Leases, streamParams } from "../streams.ts"

export const StreamsGroup = HttpApiGroup.make("streams", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listStreams", "/streams", {
      disableCodecs: true,
      success: BrokerStreams,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List streams",
        description:
          "Every stream, bucket and store of the fleet with its size, its limits and its consumers. One that the broker does " +
          "not speak of within two seconds is listed with the reason. An answer may be a second old."
      })
    ),
    HttpApiEndpoint.get("listConsumers", "/streams/:stream/consumers", {
      disableCodecs: true,
      params: streamParams,
      query: ConsumersQuery.fields,
      success: ConsumerPage,
      error: refusals(...listCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List a stream's consumers",
        description: "All of them, by name. DELIVERIES has one for each endpoint."
      })
    ),
    HttpApiEndpoint.get("listLeases", "/leases", {
      disableCodecs: true,
      success: Leases,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List leases",
        description: "Which process does what only one may do: relays, sweeps, keys of settlers."
      })
    )
  )
  .middleware(BearerToken)
