/** The route of the log of acts. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { BearerToken, described } from "../../http/declaration.ts"
import { pageQuery } from "../../pipeline/api/parts.ts"
import { describe } from "../../primitives.ts"
import { auditActions, AuditEntry } from "../audit.ts"
import { listCodes, newestFirst, refusals } from "./parts.ts"

export const AuditPage = Schema.Struct(newestFirst(AuditEntry, "Acts of operators")).annotate({
  identifier: "AuditPage"
})

export const AuditGroup = HttpApiGroup.make("audit", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listAudit", "/audit", {
      disableCodecs: true,
      query: {
        ...pageQuery,
        action: Schema.optionalKey(Schema.Literals(auditActions)).pipe(describe("Only these acts."))
      },
      success: AuditPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List what operators did",
        description:
          "Who did what through this API, and why. An act is written down before it is done; one that then failed stands here too."
      })
    )
  )
  .middleware(BearerToken)
