/**
 * The OpenAPI document of a declared API: Effect's own document plus the scopes, headers, examples and codes that
 * Effect does not know. Streams are described by their content, streams of events by one event. Pure.
 */
import { Context, Option } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"
import {
  AnswerExample,
  BodyExample,
  bodyOf,
  Dialect,
  NeededScopes,
  NullIsAbsent,
  type Refusal,
  refusalsOf
} from "#base/http"

export type JsonObject = Record<string, unknown>

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** `properties` of an object's schema, by name. */
export const propertiesOf = (schema: unknown): Record<string, JsonObject> =>
  ((schema as JsonObject)["properties"] ?? {}) as Record<string, JsonObject>

export const inOrder = <A>(byName: Readonly<Record<string, A>>): Record<string, A> =>
  Object.fromEntries(Object.entries(byName).toSorted(([left], [right]) => (left < right ? -1 : 1)))

/**
 * The document without parts that help no reader, and with what `documentedAs` says of a field. Otherwise it accepts
 * the same values.
 */
const tidied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidied)
  if (typeof value !== "object" || value === null) return value
  const flat: JsonObject = {}
  for (const [key, inner] of Object.entries(withoutAllOf(value as JsonObject))) {
    // Unknown request fields are dropped, and an answer may gain fields.
    if (key === "additionalProperties" && typeof inner === "boolean") continue
    if (Math.abs(Number(inner)) === Number.MAX_SAFE_INTEGER) continue
    flat[key] = tidied(inner)
  }
  // Client generators take an object without a description for an empty one.
  if (flat["type"] === "object" && !("properties" in flat) && !("additionalProperties" in flat)) {
    flat["additionalProperties"] = true
  }
  const { documentedAs, description } = flat
  if (documentedAs === undefined) return flat
  return { ...(documentedAs as JsonObject), ...(description === undefined ? {} : { description }) }
}

/** Schema annotations that documents know beside those of JSON Schema. */
const isDocumented = (annotation: string) => annotation === "documentedAs"

/** Merges each part of `allOf` that shares no key with the outer schema into it. */
const withoutAllOf = ({ allOf, ...whole }: JsonObject): JsonObject => {
  const parts = Array.isArray(allOf) ? (allOf as ReadonlyArray<JsonObject>) : []
  const left = parts.filter((part) => Object.keys(part).some((key) => key in whole))
  const merged: JsonObject = Object.assign({}, whole, ...parts.filter((part) => !left.includes(part)))
  return left.length === 0 ? merged : { ...merged, allOf: left }
}

/** A body of `application/json` with this schema. */
const jsonContent = (schema: JsonObject) => ({ "application/json": { schema } })

const text = { type: "string" }

export const answerHeader = (description: string, required: boolean, schema: JsonObject = text) => ({
  description,
  required,
  schema
})

/** The parameter of a header that callers can send, under its name. */
export const requestHeader = (name: string, description: string, schema: JsonObject = text) => ({
  [name]: { name, in: "header", required: false, description, schema }
})

/** Every API takes this header. */
export const requestIdHeader = requestHeader(
  "X-Request-Id",
  "An id of yours, up to 128 visible ASCII characters, instead of one of ours."
)

export const idempotencyKeyHeader = (description: string) =>
  requestHeader("Idempotency-Key", `A key of yours, 1 to 255 characters: ${description}`, {
    ...text,
    minLength: 1,
    maxLength: 255
  })

export const requestIdOfAnswer = answerHeader("The id of the request, for questions about it.", true)
export const retryAfter = answerHeader("Seconds to wait before the next try.", true, { type: "integer", minimum: 1 })
export const replayed = answerHeader("`true` when this is the answer to an earlier request with the same key.", false)

/** The parts of a document that the declaration lacks. */
export interface ApiParts {
  /** The identifier of the shape in which every endpoint can refuse. */
  readonly envelope: string
  /** Header parameters of requests, below `#/components/parameters/`. */
  readonly requests: Readonly<Record<string, JsonObject>>
  readonly answers: Readonly<Record<string, JsonObject>>
  /** Names of the parameters that callers of this endpoint can send. */
  readonly takenBy: (endpoint: HttpApiEndpoint.Top) => ReadonlyArray<string>
  /**
   * Names of the headers of an answer with this status; without an endpoint, of a refusal that any endpoint can give.
   * Headers that codes already have need no mention.
   */
  readonly headersWith: (status: number, endpoint?: HttpApiEndpoint.Top) => ReadonlyArray<string>
}

/** A path as OpenAPI writes it: `/v1/items/{id}`. */
export const templateOf = (path: string) => path.replaceAll(/:(\w+)/gu, "{$1}")

/** Each endpoint of an API, in the order of its declaration. */
export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<HttpApiEndpoint.Top> => {
  const found: Array<HttpApiEndpoint.Top> = []
  HttpApi.reflect(api, { onGroup: () => {}, onEndpoint: ({ endpoint }) => found.push(endpoint) })
  return found
}

// Effect keeps a document for each object of options.
const documentOptions = { includeAnnotationKey: isDocumented }

export const openApiOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  parts: ApiParts
): JsonObject => {
  const { openapi, info, servers = [], tags, paths, components } = OpenApi.fromApi(api, documentOptions)
  const described: Record<string, Record<string, JsonObject>> = {}
  const nullableBodies: Array<unknown> = []
  const refusals = sharedRefusals(parts)
  for (const endpoint of endpointsOf(api)) {
    const path = templateOf(endpoint.path)
    const method = endpoint.method.toLowerCase() as OpenApi.OpenAPISpecMethodName
    const made = paths[path]?.[method]
    if (made === undefined) continue
    const operation = operationOf(endpoint, made, { ...parts, refusals })
    described[path] = { ...described[path], [method]: operation }
    if (hasNullableBody(endpoint)) nullableBodies.push(operation["requestBody"])
  }
  return {
    openapi,
    info,
    servers,
    security: Object.keys(components.securitySchemes).map((name) => ({ [name]: [] })),
    tags,
    paths: described,
    components: {
      securitySchemes: components.securitySchemes,
      parameters: parts.requests,
      headers: parts.answers,
      responses: inOrder(refusals.all()),
      schemas: inOrder(takingNulls(tidied(components.schemas) as Record<string, JsonObject>, nullableBodies))
    }
  }
}

interface SharedRefusals {
  /** The refusal by its reference. */
  readonly named: (name: string, refusal: JsonObject) => JsonObject
  readonly other: JsonObject
  readonly all: () => Record<string, JsonObject>
}

/** Each refusal appears once, by its codes: most endpoints refuse in the same ways. */
const sharedRefusals = ({ envelope, headersWith }: ApiParts): SharedRefusals => {
  const names = new Map<string, string>()
  const found: Record<string, JsonObject> = {}
  const named = (name: string, refusal: JsonObject): JsonObject => {
    const text = JSON.stringify(refusal)
    let known = names.get(text)
    if (known === undefined) {
      known = name
      for (let nth = 2; known in found; nth += 1) known = `${name}-${nth}`
      names.set(text, known)
      found[known] = refusal
    }
    return { $ref: `#/components/responses/${known}` }
  }
  const other = named("any_other", {
    description: "Any other refusal.",
    headers: referencesTo("headers", headersWith(0)),
    content: jsonContent(refTo(envelope))
  })
  return { named, other, all: () => found }
}

const referencesTo = (kind: string, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]))

const hasNullableBody = (endpoint: HttpApiEndpoint.Top) => {
  const { body, isForm } = bodyOf(endpoint)
  return body !== undefined && !isForm && Context.get(endpoint.annotations, NullIsAbsent)
}

/** Shapes that these name, and those within them, accept null for each optional field; the others are unchanged. */
const takingNulls = (schemas: Readonly<Record<string, JsonObject>>, bodies: ReadonlyArray<unknown>) => {
  const found = new Map<string, JsonObject>()
  const follow = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/gu)) {
      const schema = schemas[name]
      if (schema === undefined || found.has(name)) continue
      found.set(name, withNulls(schema) as JsonObject)
      follow(schema)
    }
  }
  follow(bodies)
  return { ...schemas, ...Object.fromEntries(found) }
}

/** The same schema, in which each optional field of an object accepts null. */
const withNulls = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withNulls)
  if (typeof schema !== "object" || schema === null) return schema
  const required = ((schema as JsonObject)["required"] ?? []) as ReadonlyArray<string>
  const fieldOf = ([name, field]: readonly [string, JsonObject]) => {
    const inner = withNulls(field) as JsonObject
    return [name, required.includes(name) ? inner : orNull(inner)] as const
  }
  const entries = Object.entries(schema).map(([key, value]) =>
    key === "properties"
      ? [key, Object.fromEntries(Object.entries(value as Record<string, JsonObject>).map(fieldOf))]
      : [key, withNulls(value)]
  )
  return Object.fromEntries(entries)
}

const orNull = ({ description, ...field }: JsonObject): JsonObject => ({
  anyOf: [...((field["anyOf"] as ReadonlyArray<JsonObject> | undefined) ?? [field]), { type: "null" }],
  ...(description === undefined ? {} : { description })
})

const operationOf = (
  endpoint: HttpApiEndpoint.Top,
  {
    tags,
    operationId,
    summary,
    description,
    security,
    parameters,
    requestBody,
    responses
  }: OpenApi.OpenAPISpecOperation,
  parts: ApiParts & { readonly refusals: SharedRefusals }
): JsonObject => {
  const scopes = Option.getOrElse(Context.getOption(endpoint.annotations, NeededScopes), () => [])
  const headersOf = (status: number) => referencesTo("headers", parts.headersWith(status, endpoint))
  const headersOfCodes = ({ headers }: Refusal) =>
    Object.fromEntries(
      headers.map(({ name, isAlways }) => [
        name,
        isAlways ? { $ref: `#/components/headers/${name}` } : { ...parts.answers[name], required: false }
      ])
    )
  const successes = Object.entries(responses).filter(([status]) => Number(status) < 400)
  const refusals = refusalsOf(endpoint).map((refusal) => [
    refusal.status,
    parts.refusals.named(nameOf(refusal), {
      description: refusal.description,
      headers: { ...headersOf(refusal.status), ...headersOfCodes(refusal) },
      content: jsonContent(bodyShape(refusal))
    })
  ])
  return {
    tags,
    operationId,
    summary,
    description,
    security: security.flatMap((each) =>
      (scopes.length === 0 ? [[]] : scopes.map((scope) => [scope])).map((needed) =>
        Object.fromEntries(Object.keys(each).map((name) => [name, needed]))
      )
    ),
    parameters: [...parameters.map(parameterOf), ...Object.values(referencesTo("parameters", parts.takenBy(endpoint)))],
    ...(requestBody === undefined ? {} : { requestBody: requestBodyOf(endpoint, requestBody) }),
    responses: {
      ...Object.fromEntries(
        successes.map(([status, { content }]) => [
          status,
          {
            description: summary,
            headers: headersOf(Number(status)),
            content: { ...withExample(endpoint, status, contentOf(content)), ...dialectContent(endpoint) }
          }
        ])
      ),
      ...Object.fromEntries(refusals),
      default: parts.refusals.other
    }
  }
}

/** Its codes, or its status if it has none. */
const nameOf = ({ status, shapes }: Refusal) => {
  const codes = new Set(shapes.flatMap((shape) => shape.codes ?? []))
  return codes.size === 0 ? `status_${status}` : [...codes].join(".")
}

const bodyShape = ({ shapes }: Refusal): JsonObject => {
  const bodies = shapes.map(({ envelope, codeAt = [], codes = [] }) =>
    codes.length === 0 ? refTo(envelope) : { allOf: [refTo(envelope), withField(codeAt, { enum: codes })] }
  )
  const [only] = bodies
  return bodies.length === 1 && only !== undefined ? only : { anyOf: bodies }
}

const withField = (path: ReadonlyArray<string>, schema: JsonObject): JsonObject =>
  path.reduceRight((inner, name) => ({ properties: { [name]: inner } }), schema)

/** Bytes have no schema. */
const contentOf = (content: OpenApi.OpenApiSpecContent = {}): JsonObject =>
  Object.fromEntries(
    Object.entries(content).map(([type, { schema, "x-effect-stream": stream }]) => {
      if (stream?.encoding === "uint8array") return [type, {}]
      if (stream?.encoding !== "sse") return [type, { schema: type === events ? eventOf(schema) : tidied(schema) }]
      return [type, { schema: eventOf(dataOf(propertiesOf(schema)["data"]?.["contentSchema"])) }]
    })
  )

const events = "text/event-stream"

/** One event of a stream, with data of this schema. */
const eventOf = (data: unknown): JsonObject => ({
  type: "object",
  properties: { event: text, id: text, data: tidied(data) },
  required: ["data"]
})

/** The text of an event's data, which is JSON of this schema. */
const dataOf = (schema: unknown) => ({ ...text, contentMediaType: "application/json", contentSchema: schema })

/** The example shows the answer that is given at once: 202 promises another one. */
const withExample = ({ annotations }: HttpApiEndpoint.Top, status: string, content: JsonObject): JsonObject =>
  Option.match(status === "200" ? Context.getOption(annotations, AnswerExample) : Option.none(), {
    onNone: () => content,
    onSome: (example) => ({ ...content, "application/json": { ...(content["application/json"] as object), example } })
  })

const dialectOf = ({ annotations }: HttpApiEndpoint.Top) =>
  Option.getOrUndefined(Context.getOption(annotations, Dialect))

/** What the endpoint answers to a body in its other dialect. */
const dialectContent = (endpoint: HttpApiEndpoint.Top): JsonObject =>
  Object.fromEntries(
    (dialectOf(endpoint)?.answers ?? []).map(({ mediaType, shape }) => [
      mediaType,
      shape === undefined ? {} : { schema: mediaType === events ? eventOf(dataOf(refTo(shape))) : refTo(shape) }
    ])
  )

/** The schema's own annotations move to the parameter. */
const parameterOf = ({ name, in: place, required, schema }: OpenApi.OpenAPISpecParameter): JsonObject => {
  const { description, ...rest } = tidied(schema) as JsonObject
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: rest }
}

const requestBodyOf = (endpoint: HttpApiEndpoint.Top, { content }: OpenApi.OpenAPISpecRequestBody): JsonObject => {
  const example = Context.getOption(endpoint.annotations, BodyExample)
  const dialect = dialectOf(endpoint)
  const taken = (own: unknown) => (hasNullableBody(endpoint) ? withNulls(own) : own)
  const eitherOf = (own: unknown) => (dialect === undefined ? own : { anyOf: [own, refTo(dialect.body)] })
  return {
    required: !bodyOf(endpoint).isOptional,
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema }]) => [
        type,
        { schema: eitherOf(taken(tidied(schema))), ...(Option.isNone(example) ? {} : { example: example.value }) }
      ])
    )
  }
}
