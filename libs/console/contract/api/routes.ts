/** How a route of the console is declared: one that looks at something, and an act on it, with what each has of itself. */
import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import type { ApiScope } from "#base"
import { described } from "#base/http"
import { Because, type ConsoleErrorCode, listCodes, readCodes, refusals, writeCodes } from "./parts.ts"

interface Route<Params, Success, Refused> {
  readonly params?: Params
  readonly success?: Success
  /** Beside the codes that each such route has. */
  readonly refused?: ReadonlyArray<Refused>
  readonly scope?: ApiScope
  readonly summary: string
  readonly description: string
}

type ReadCode = (typeof listCodes)[number] | "not_found"
type ActCode = (typeof writeCodes)[number] | "not_found"

/** There may be nothing at a path that names one thing. */
const ofOne = (params: object | undefined) => (params === undefined ? [] : (["not_found"] as const))

interface Read<Params, Query, Success, Refused> extends Route<Params, Success, Refused> {
  readonly query?: Query
  readonly success: Success
}

/** A list, or a look at one thing. Without another scope `console:read` is enough. */
export const read = <
  const Name extends string,
  const Path extends `/${string}`,
  Success extends Schema.Top,
  Params extends HttpApiEndpoint.ParamsConstraint = never,
  Query extends HttpApiEndpoint.QueryConstraint = never,
  const Refused extends ConsoleErrorCode = never
>(
  name: Name,
  path: Path,
  { params, query, success, refused = [], ...about }: Read<Params, Query, Success, Refused>
) =>
  HttpApiEndpoint.get(name, path, {
    disableCodecs: true,
    params,
    query,
    success,
    error: refusals<ReadCode | Refused>(...(query === undefined ? readCodes : listCodes), ...ofOne(params), ...refused)
  }).annotateMerge(described({ scope: "console:read", ...about }))

interface Act<Params, Payload, Success, Refused> extends Route<Params, Success, Refused> {
  readonly payload?: Payload
  readonly scope: ApiScope
  readonly example: Readonly<Record<string, unknown>>
}

/** An act. Without another body it takes its reason, and without an answer it has none. */
export const act = <
  const Name extends string,
  const Path extends `/${string}`,
  Params extends HttpApiEndpoint.ParamsConstraint = never,
  Payload extends Schema.Top = typeof Because,
  Success extends Schema.Top = HttpApiSchema.NoContent,
  const Refused extends ConsoleErrorCode = never
>(
  name: Name,
  path: Path,
  { params, payload, success, refused = [], ...about }: Act<Params, Payload, Success, Refused>
) =>
  HttpApiEndpoint.post(name, path, {
    disableCodecs: true,
    params,
    payload: payload ?? (Because as unknown as Payload),
    success: success ?? (HttpApiSchema.NoContent as unknown as Success),
    error: refusals<ActCode | Refused>(...writeCodes, ...ofOne(params), ...refused)
  }).annotateMerge(described(about))
