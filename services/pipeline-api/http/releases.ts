/** Releases over HTTP. */
import { Effect, Option } from "effect"
import { Views } from "#actors"
import { type ReleaseChangeRequest, ReleasesGroup } from "#pipeline/api"
import { type EndpointRequest, jsonAnswer, routesOf } from "#http"
import type { Configuration } from "#configuration"
import { Commands } from "../Commands.ts"
import { Creation } from "../Creation.ts"
import { readReleases, releaseRow, releaseView } from "../views.ts"
import {
  apiOptions,
  commandId,
  createOnce,
  freshness,
  noSuch,
  pageOf,
  pathId,
  placeOf,
  refusing,
  rowKey,
  validated
} from "./requests.ts"

const change = (_tag: "Close" | "Abandon" | "Reopen") =>
  Effect.fnUntraced(function* ({ body }: EndpointRequest<unknown, ReleaseChangeRequest, Configuration>) {
    const id = yield* pathId("release")
    const { reason = null } = yield* body
    const address = { id, commandId: yield* commandId }
    const { state, sequence } = yield* refusing((yield* Commands).run("release", address, { _tag, reason }))
    if (state === null) return yield* noSuch("release")
    return jsonAnswer(releaseView(id, state, sequence))
  })

export const releaseRoutes = routesOf(
  ReleasesGroup,
  {
    createRelease: ({ body }) =>
      createOnce(
        body,
        Effect.fnUntraced(function* (id, wanted) {
          const { state, sequence } = yield* validated(yield* (yield* Creation).createRelease(id, wanted))
          return jsonAnswer(releaseView(id, state, sequence), { status: 201, headers: { location: `/releases/${id}` } })
        })
      ),

    listReleases: ({ query }) =>
      Effect.gen(function* () {
        const filters = yield* query
        const place = yield* placeOf(filters)
        const rows = (yield* Views).list({
          entity: "release",
          ...(filters.project === undefined ? {} : { project: filters.project }),
          ...(filters.state === undefined ? {} : { states: [filters.state] })
        })
        const { items, nextCursor } = pageOf(rows, rowKey, place)
        return jsonAnswer({ items: readReleases(items).map(releaseRow), nextCursor, ...(yield* freshness) })
      }),

    getRelease: () =>
      Effect.gen(function* () {
        const id = yield* pathId("release")
        const release = yield* refusing((yield* Commands).read("release", id))
        if (Option.isNone(release)) return yield* noSuch("release")
        return jsonAnswer(releaseView(id, release.value.state, release.value.sequence))
      }),

    closeRelease: change("Close"),
    abandonRelease: change("Abandon"),
    reopenRelease: change("Reopen")
  },
  apiOptions
)
