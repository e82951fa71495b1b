/**
 * The declaration of an endpoint beyond its path and its shapes: the scope and permission that a caller needs, an
 * example of the body, the refusal codes; and what all clients send. The listener, the OpenAPI documents, the pages and
 * the clients follow it. Endpoints disable Effect's codecs, so that their shapes are those of the wire and faults are
 * worded in those shapes. This is separate from `#base`, so that only a caller that declares routes loads HttpApi.
 */
import { Context, Effect, Schema } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSchema, HttpApiSecurity, OpenApi } from "effect/http-api"
import { HttpClientRequest } from "effect/http"
import { type ApiScope, type ErrorCode, ErrorEnvelope, type Permission } from "./refusals.ts"

/** The scopes of which a token needs one. An endpoint without any is public. */
export class NeededScopes extends Context.Service<NeededScopes, ReadonlyArray<ApiScope>>()(
  "starling/base/NeededScopes"
) {}

/** The permission that a member's role must have, beside the scope. */
export class NeededPermission extends Context.Service<NeededPermission, Permission>()(
  "starling/base/NeededPermission"
) {}

/** A body that the endpoint accepts. In a form, values that begin with `@` name files. */
export class BodyExample extends Context.Service<BodyExample, Readonly<Record<string, unknown>>>()(
  "starling/base/BodyExample"
) {}

/** A successful answer of the endpoint, as JSON. */
export class AnswerExample extends Context.Service<AnswerExample, Readonly<Record<string, unknown>>>()(
  "starling/base/AnswerExample"
) {}

/**
 * An alternative body that an endpoint accepts, in a vendor's dialect, and its answer to that. Shapes are named by
 * their identifiers, and are among the additional schemas of the API. Typed clients have only the endpoint's own body.
 */
interface DialectDescription {
  readonly body: string
  /** Bytes have no shape; for events it is the shape of their data. */
  readonly answers: ReadonlyArray<{ readonly mediaType: string; readonly shape?: string }>
}

export class Dialect extends Context.Service<Dialect, DialectDescription>()("starling/base/Dialect") {}

/** Whether a null field of a JSON body counts as absent, because some clients send every field that they know. */
export const NullIsAbsent = Context.Reference<boolean>("starling/base/NullIsAbsent", { defaultValue: () => false })

export interface Description {
  readonly summary: string
  readonly description: string
  /** Of several, any one is enough. */
  readonly scope?: ApiScope | ReadonlyArray<ApiScope>
  readonly permission?: Permission
  readonly example?: Readonly<Record<string, unknown>>
  readonly answerExample?: Readonly<Record<string, unknown>>
  readonly dialect?: DialectDescription
}

/** The annotations of an endpoint, for its `annotateMerge`. */
export const described = ({
  summary,
  description,
  scope,
  permission,
  example,
  answerExample,
  dialect
}: Description): Context.Context<never> => {
  let annotations: Context.Context<never> = OpenApi.annotations({ summary, description })
  if (scope !== undefined) annotations = Context.add(annotations, NeededScopes, [scope].flat())
  if (permission !== undefined) annotations = Context.add(annotations, NeededPermission, permission)
  if (example !== undefined) annotations = Context.add(annotations, BodyExample, example)
  if (answerExample !== undefined) annotations = Context.add(annotations, AnswerExample, answerExample)
  if (dialect !== undefined) annotations = Context.add(annotations, Dialect, dialect)
  return annotations
}

/** Tokens of callers. Clients must provide one: `pipelineClient` does. */
export class BearerToken extends HttpApiMiddleware.Service<BearerToken>()("starling/base/BearerToken", {
  requiredForClient: true,
  security: {
    bearer: HttpApiSecurity.http({ scheme: "bearer" }).pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "`./starling token make --role member` makes one.")
    )
  }
}) {}

type RefusedWith<Code extends string> = Omit<ErrorEnvelope, "error"> & {
  readonly error: Omit<ErrorEnvelope["error"], "code"> & { readonly code: Code }
}

/** The refusals of an endpoint, one schema per status. The codes are listed in the order in which they are checked. */
export const refusalsFrom =
  <const Table extends Readonly<Record<string, ErrorCode>>>(table: Table) =>
  <Code extends keyof Table & string>(...codes: ReadonlyArray<Code>): ReadonlyArray<Schema.Codec<RefusedWith<Code>>> =>
    codesByStatus(table, codes).map(
      ({ status, codes: own, description, headers }) =>
        refusalShape(
          Schema.Struct({
            ...ErrorEnvelope.fields,
            error: Schema.Struct({ ...ErrorEnvelope.fields.error.fields, code: Schema.Literals(own) })
          }),
          { status, description, headers, envelope: "ErrorEnvelope", codeAt: ["error", "code"], codes: own }
        ) as unknown as Schema.Codec<RefusedWith<Code>>
    )

/** The codes of each status, in the order of statuses, and when they are given. */
export const codesByStatus = <Code extends string>(
  table: Readonly<Record<Code, ErrorCode>>,
  codes: ReadonlyArray<Code>
) => {
  const statuses = [...new Set(codes.map((code) => table[code].status))].toSorted((left, right) => left - right)
  return statuses.map((status) => {
    const own = codes.filter((code) => table[code].status === status)
    return {
      status,
      codes: own,
      description: own.map((code) => `\`${code}\`: ${table[code].when}`).join(" "),
      headers: sharedHeaders(own.map((code) => (table[code].headers ?? []).map((name) => ({ name, isAlways: true }))))
    }
  })
}

/** A refusal's header; limited to some of its codes, unless it is always present. */
interface RefusalHeader {
  readonly name: string
  readonly isAlways: boolean
}

/** The headers of refusals with one status, of which each has some. */
const sharedHeaders = (each: ReadonlyArray<ReadonlyArray<RefusalHeader>>): ReadonlyArray<RefusalHeader> => {
  const isAlways = (name: string) => each.every((own) => own.some((header) => header.name === name && header.isAlways))
  const names = new Set(each.flat().map(({ name }) => name))
  return [...names].map((name) => ({ name, isAlways: isAlways(name) }))
}

/** A shape in which an endpoint refuses with one status. */
interface RefusalShape {
  readonly status: number
  readonly description: string
  /** The identifier of the same shape with any code. */
  readonly envelope: string
  /** The path of the code's field. */
  readonly codeAt?: ReadonlyArray<string>
  readonly codes?: ReadonlyArray<string>
  readonly headers?: ReadonlyArray<RefusalHeader>
}

export const refusalShape = <Shape extends Schema.Top>(shape: Shape, refusal: RefusalShape): Shape["Rebuild"] =>
  shape.annotate({ httpApiStatus: refusal.status, refusal })

export interface Refusal {
  readonly status: number
  readonly description: string
  readonly codes: ReadonlyArray<string>
  readonly headers: ReadonlyArray<RefusalHeader>
  /** A body has one of these shapes. */
  readonly shapes: ReadonlyArray<RefusalShape>
}

export const refusalsOf = (endpoint: HttpApiEndpoint.Top): ReadonlyArray<Refusal> => {
  const shapes = [...endpoint.error].map((schema) => Schema.resolveAnnotations(schema)?.["refusal"] as RefusalShape)
  const statuses = [...new Set(shapes.map(({ status }) => status))].toSorted((left, right) => left - right)
  return statuses.map((status) => {
    const own = shapes.filter((shape) => shape.status === status)
    return {
      status,
      description: own.map(({ description }) => description).join(" "),
      codes: own.flatMap(({ codes = [] }) => codes),
      headers: sharedHeaders(own.map(({ headers = [] }) => headers)),
      shapes: own
    }
  })
}

/** The body that the endpoint accepts, whether it is a form, and whether it is optional. */
export const bodyOf = (endpoint: HttpApiEndpoint.Top) => {
  const payloads = [...endpoint.payload.values()]
  const schemas = payloads.flatMap((each) => each.schemas)
  const body = schemas.find(({ ast }) => !HttpApiSchema.isNoContent(ast))
  const isForm = payloads.some(({ encoding }) => encoding._tag === "Multipart")
  return { body, isForm, isOptional: body !== undefined && schemas.length > 1 }
}

/** The key under which a repeated request is still carried out only once. Without one the client sends none. */
export const IdempotencyKey = Context.Reference<string | undefined>("starling/base/IdempotencyKey", {
  defaultValue: () => undefined
})

/** Makes a client send this token. */
export const clientToken = (token: string) =>
  HttpApiMiddleware.layerClient(BearerToken, ({ next, request }) =>
    Effect.flatMap(IdempotencyKey, (key) => next(keyed(HttpClientRequest.bearerToken(request, token), key)))
  )

const keyed = (request: HttpClientRequest.HttpClientRequest, key: string | undefined) =>
  key === undefined ? request : HttpClientRequest.setHeader(request, "idempotency-key", key)
