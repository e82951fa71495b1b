/**
 * An endpoint as an API declares it: its path, which names its parameters, its shapes and its words. The refusals
 * common to an API, and the scope of its read-only endpoints, come from the API.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described, type Description, refusalsFrom } from "./declaration.ts"
import { type ApiScope, commonErrorCodes, type ErrorCode } from "./refusals.ts"

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

type ParamOf<Path> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never

type ParamsOf<Path> = [ParamOf<Path>] extends [never]
  ? never
  : { readonly [Name in ParamOf<Path>]: typeof Schema.String }

const paramsOf = <Path extends string>(path: Path) => {
  const names = [...path.matchAll(/\/:(\w+)/gu)].map(([, name = ""]) => name)
  const params = Object.fromEntries(names.map((name) => [name, Schema.String]))
  return (names.length === 0 ? undefined : params) as ParamsOf<Path> | undefined
}

interface Endpoint<Query, Payload, Success> extends Description {
  readonly query?: Query
  readonly payload?: Payload
  /** Without it the answer has no body. */
  readonly success?: Success
}

/** An endpoint with only its own refusals. */
export const endpoint =
  <const M extends Method>(method: M) =>
  <
    const Name extends string,
    const Path extends `/${string}`,
    const Error extends HttpApiEndpoint.ErrorConstraint,
    Query extends HttpApiEndpoint.QueryConstraint = never,
    Payload extends HttpApiEndpoint.PayloadConstraint<M> = never,
    const Success extends HttpApiEndpoint.SuccessConstraint = HttpApiSchema.NoContent
  >(
    name: Name,
    path: Path,
    { query, payload, success, error, ...about }: Endpoint<Query, Payload, Success> & { readonly error: Error }
  ) =>
    HttpApiEndpoint.make(method)<Name, Path, ParamsOf<Path>, Query, Payload, never, Success, Error>(name, path, {
      disableCodecs: true,
      params: paramsOf(path),
      query,
      payload,
      success,
      error: error as never
    }).annotateMerge(described(about))

/** The usual codes of endpoints whose scope reaches the entire fleet. */
export const fleetCodes = [
  "unauthorized",
  "insufficient_scope",
  "other_workspace",
  "rate_limited",
  "internal_error",
  "service_unavailable"
] as const
/** The usual codes of a JSON body. */
export const bodyCodes = ["validation_failed", "bad_request", "payload_too_large", "unsupported_media_type"] as const

interface Shared<Table, Always, Changing, Reading, Body> {
  readonly table: Table
  /** The codes of every route. */
  readonly always: ReadonlyArray<Always>
  /** The additional codes of routes that change something. */
  readonly changing?: ReadonlyArray<Changing>
  /** The scope of read-only routes; every other route then names its own. Open routes have none. */
  readonly reading?: Reading
  /** The default body of an action. */
  readonly body?: Body
}

type ScopeOf<M, Reading> = M extends "GET"
  ? unknown
  : [Reading] extends [never]
    ? unknown
    : Required<Pick<Description, "scope">>

/**
 * Declares the endpoints of an API. Those that change something must have a scope, because without one any token would
 * do. `missing`: the codes for a path to a single thing that does not exist.
 */
export const endpointsFor =
  <
    const Table extends Readonly<Record<string, ErrorCode>> & Pick<typeof commonErrorCodes, "validation_failed">,
    const Always extends keyof Table & string,
    const Changing extends keyof Table & string = never,
    const Reading extends ApiScope = never,
    Body extends HttpApiEndpoint.PayloadConstraint<"POST"> = never
  >({
    table,
    always,
    changing = [],
    reading,
    body
  }: Shared<Table, Always, Changing, Reading, Body>) =>
  <const Missing extends keyof Table & string = never>(...missing: ReadonlyArray<Missing>) => {
    type Codes = Always | Changing | Missing | "validation_failed"
    const standard =
      <const M extends Method, Usual extends HttpApiEndpoint.PayloadConstraint<M> = never>(
        method: M,
        usual: { readonly scope?: ApiScope; readonly payload?: Usual }
      ) =>
      <
        const Name extends string,
        const Path extends `/${string}`,
        Query extends HttpApiEndpoint.QueryConstraint = never,
        Payload extends HttpApiEndpoint.PayloadConstraint<M> = Usual,
        const Success extends HttpApiEndpoint.SuccessConstraint = HttpApiSchema.NoContent,
        const Refused extends keyof Table & string = never
      >(
        name: Name,
        path: Path,
        {
          refused = [],
          ...own
        }: Endpoint<Query, Payload, Success> & ScopeOf<M, Reading> & { readonly refused?: ReadonlyArray<Refused> }
      ) => {
        const isChange = method !== "GET" && (method !== "DELETE" || own.payload !== undefined)
        const ofQuery = own.query === undefined ? [] : (["validation_failed"] as const)
        const ofPath = path.includes("/:") ? missing : []
        const codes = [...always, ...(isChange ? changing : ofQuery), ...ofPath, ...refused]
        const error = refusalsFrom(table)<Codes | Refused>(...codes)
        const declared = { ...usual, ...own, error } as Endpoint<Query, Payload, Success> & {
          readonly error: typeof error
        }
        return endpoint(method)(name, path, declared)
      }
    return {
      /** Reads a list or a single thing. */
      read: standard("GET", reading === undefined ? {} : { scope: reading }),
      act: standard<"POST", Body>("POST", body === undefined ? {} : { payload: body }),
      put: standard("PUT", {}),
      change: standard("PATCH", {}),
      remove: standard("DELETE", {})
    }
  }

/** A group of routes that all need a token. */
export const guarded = <
  const Id extends string,
  const Endpoints extends readonly [HttpApiEndpoint.Constraint, ...Array<HttpApiEndpoint.Constraint>]
>(
  id: Id,
  ...endpoints: Endpoints
) =>
  HttpApiGroup.make(id, { topLevel: true })
    .add(...endpoints)
    .middleware(BearerToken)

/** Every API describes itself: a document for machines, and a page. Both are public. */
export const descriptionGroup = <Refused>(error: ReadonlyArray<Schema.Codec<Refused>>) =>
  HttpApiGroup.make("description", { topLevel: true }).add(
    endpoint("GET")("getDescription", "/openapi.json", {
      success: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "an OpenAPI document" }),
      error,
      summary: "This description",
      description: "OpenAPI 3.1, for everybody."
    }),
    endpoint("GET")("getReference", "/docs", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" })),
      error,
      summary: "This description as a page",
      description: "For people, and everybody. It loads nothing else."
    })
  )

/** The description of an API whose refusals are standard envelopes. */
export const DescriptionGroup = descriptionGroup(refusalsFrom(commonErrorCodes)("internal_error"))
