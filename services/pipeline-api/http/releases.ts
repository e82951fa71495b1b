/** Releases over HTTP. */
import { Effect, Option, Result } from "effect"
import { Views } from "#actors"
import { CreateReleaseRequest, ReleaseChangeRequest, ReleasesQuery } from "#contracts"
import { authenticated, jsonAnswer, readQuery, route, validationFailed } from "#http"
import { Commands } from "../Commands.ts"
import { Creation } from "../Creation.ts"
import { releaseRow, releaseView } from "../views/release.ts"
import { readReleases } from "../views/rows.ts"
import { freshness, pageOf, placeOf, rowKey } from "./paging.ts"
import { commandId, createOnce, noSuch, pathId, readBodyIfAny, refusing } from "./requests.ts"

const create = createOnce(
  CreateReleaseRequest,
  Effect.fnUntraced(function* (id, body) {
    const created = yield* (yield* Creation).createRelease(id, body)
    const { state, sequence } = yield* Result.isSuccess(created)
      ? Effect.succeed(created.success)
      : Effect.fail(validationFailed(created.failure))
    return jsonAnswer(releaseView(id, state, sequence), { status: 201, headers: { location: `/releases/${id}` } })
  })
)

const get = Effect.gen(function* () {
  const id = yield* pathId("release")
  const held = yield* refusing((yield* Commands).read("release", id))
  if (Option.isNone(held)) return yield* noSuch("release")
  return jsonAnswer(releaseView(id, held.value.state, held.value.sequence))
})

const list = Effect.gen(function* () {
  const query = yield* readQuery(ReleasesQuery)
  const place = yield* placeOf(query)
  const rows = (yield* Views).list({
    entity: "release",
    ...(query.project === undefined ? {} : { project: query.project }),
    ...(query.state === undefined ? {} : { states: [query.state] })
  })
  const { items, nextCursor } = pageOf(rows, rowKey, place)
  return jsonAnswer({ items: readReleases(items).map(releaseRow), nextCursor, ...(yield* freshness) })
})

const change = (_tag: "Close" | "Abandon" | "Reopen") =>
  Effect.gen(function* () {
    const id = yield* pathId("release")
    const { reason = null } = yield* readBodyIfAny(ReleaseChangeRequest, {})
    const address = { id, commandId: yield* commandId }
    const { state, sequence } = yield* refusing((yield* Commands).run("release", address, { _tag, reason }))
    if (state === null) return yield* noSuch("release")
    return jsonAnswer(releaseView(id, state, sequence))
  })

const write = authenticated("pipeline:write")
const read = authenticated("pipeline:read")

export const releaseRoutes = [
  route("POST", "/releases", write(create)),
  route("GET", "/releases", read(list)),
  route("GET", "/releases/:id", read(get)),
  route("POST", "/releases/:id/close", write(change("Close"))),
  route("POST", "/releases/:id/abandon", write(change("Abandon"))),
  route("POST", "/releases/:id/reopen", write(change("Reopen")))
] as const
