/**
 * The gateway's whole API: every route with its shapes and refusals. Server, documents and clients follow it. Each route
 * stands below every base path.
 */
import { Context } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { descriptionGroup } from "../../http/declaration.ts"
import { CallsGroup } from "./endpoints/calls.ts"
import { ImagesGroup } from "./endpoints/images.ts"
import { ModelsGroup } from "./endpoints/models.ts"
import { errorShapes, refusals } from "./refusals.ts"

/** The paths before each route: two that are the same, and one whose quotes are for Solana. */
export const gatewayBases = ["", "/api", "/solana/api"] as const
export type GatewayBase = (typeof gatewayBases)[number]

export const GatewayHttpApi = HttpApi.make("models")
  .add(CallsGroup, ImagesGroup, ModelsGroup, descriptionGroup(refusals("INTERNAL_ERROR")))
  .annotateMerge(
    OpenApi.annotations({
      title: "Starling models",
      version: "1.0.0",
      description:
        "Models paid for by the call with x402. `/api/v1` and `/v1` are the same; `/solana/api/v1` quotes for Solana.",
      servers: gatewayBases.map((base) => ({ url: base === "" ? "/" : base }))
    })
  )
  .annotateMerge(Context.make(HttpApi.AdditionalSchemas, errorShapes))
