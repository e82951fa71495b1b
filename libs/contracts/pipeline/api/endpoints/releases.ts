/** Routes of releases. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, writeCodes, refusals } from "../error-codes.ts"
import { CreateReleaseRequest, ReleaseChangeRequest, ReleasePage, ReleaseView, ReleasesQuery } from "../releases.ts"

/** An operator's change of a release, for a reason that may be left out. */
const releaseChange = <const Name extends string, const Path extends `/${string}`>(
  name: Name,
  path: Path,
  words: { readonly summary: string; readonly description: string }
) =>
  HttpApiEndpoint.post(name, path, {
    disableCodecs: true,
    params: { id: Schema.String },
    payload: [HttpApiSchema.NoContent, ReleaseChangeRequest],
    success: ReleaseView,
    error: refusals(...writeCodes, "release_not_found")
  }).annotateMerge(described({ ...words, scope: "pipeline:write", example: { reason: "all is in" } }))

export const ReleasesGroup = HttpApiGroup.make("releases", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createRelease", "/releases", {
      disableCodecs: true,
      payload: CreateReleaseRequest,
      success: ReleaseView.pipe(HttpApiSchema.status(201)),
      error: refusals(...writeCodes, "idempotency_conflict")
    }).annotateMerge(
      described({
        scope: "pipeline:write",
        summary: "Create a release",
        description: "Items that name it start at its branch. With `Idempotency-Key` it is created once.",
        example: { name: "Spring", projectId: "gates" }
      })
    ),
    HttpApiEndpoint.get("listReleases", "/releases", {
      disableCodecs: true,
      query: ReleasesQuery.fields,
      success: ReleasePage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "List releases",
        description: "Oldest first, with how many of their items stand how."
      })
    ),
    HttpApiEndpoint.get("getRelease", "/releases/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      success: ReleaseView,
      error: refusals(...readCodes, "release_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "Fetch a release",
        description: "With the items that are linked to it."
      })
    ),
    releaseChange("closeRelease", "/releases/:id/close", {
      summary: "Close a release",
      description: "It takes no more items, and may be reviewed."
    }),
    releaseChange("abandonRelease", "/releases/:id/abandon", {
      summary: "Abandon a release",
      description: "Only while it is open; for good."
    }),
    releaseChange("reopenRelease", "/releases/:id/reopen", {
      summary: "Reopen a release",
      description: "One whose review failed."
    })
  )
  .middleware(BearerToken)
