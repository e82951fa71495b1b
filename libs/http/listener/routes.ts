/**
 * An API's routes as data, the table that finds one, and handlers bound to the endpoints of a declaration. For a wrong
 * method the table knows the right ones.
 */
import { type Brand, Context, Effect, Option, type Schema, type Stream } from "effect"
import { FindMyWay, type HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { bodyOf, NeededPermission, NeededScopes, NullIsAbsent } from "#base/http"
import type { Answer, JsonAnswer } from "../answers.ts"
import type { WireError } from "../WireError.ts"
import { type Auth, authenticated, type Caller } from "../auth/Auth.ts"
import { readJson } from "../bodies/read-body.ts"
import { HttpCall, readQuery } from "../HttpCall.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Route<out R> {
  readonly method: Method
  /** `:name` stands for one segment, a trailing `*` for the rest. */
  readonly path: `/${string}`
  readonly handler: Effect.Effect<Answer, WireError, R>
  /** Pages of other origins can call the route, within the listener's policy. */
  readonly isCrossOrigin?: boolean
}

export const route = <R>(
  method: Method,
  path: `/${string}`,
  handler: Effect.Effect<Answer, WireError, R>
): Route<R> => ({ method, path, handler })

/** The services that the handlers of some routes need. */
export type ServicesOf<Routes extends ReadonlyArray<Route<unknown>>> = Routes[number] extends infer Each
  ? Each extends Route<infer R>
    ? R
    : never
  : never

/** Opts routes in to calls from pages of other origins. */
export const crossOrigin = <const Routes extends ReadonlyArray<Route<unknown>>>(
  routes: Routes
): ReadonlyArray<Route<ServicesOf<Routes>>> =>
  routes.map((each) => ({ ...(each as Route<ServicesOf<Routes>>), isCrossOrigin: true }))

/** Routes below a base path, such as `/api`; below an empty one they are unchanged. */
export const below = <const Routes extends ReadonlyArray<Route<unknown>>>(
  base: string,
  routes: Routes
): ReadonlyArray<Route<ServicesOf<Routes>>> =>
  routes.map((each) => ({ ...(each as Route<ServicesOf<Routes>>), path: `${base}${each.path}` as `/${string}` }))

export type Match<R> =
  | { readonly _tag: "Found"; readonly route: Route<R>; readonly params: Params; readonly query: Query }
  | {
      readonly _tag: "WrongMethod"
      readonly allowed: ReadonlyArray<string>
      /** The methods that opted in to calls from other origins. */
      readonly crossOrigin: ReadonlyArray<string>
    }
  | { readonly _tag: "Unknown" }

type Params = Readonly<Record<string, string | undefined>>
type Query = Readonly<Record<string, string | ReadonlyArray<string>>>

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]
const paramCharactersMax = 512

/**
 * The path decides before the method, as in OpenAPI: of `/voices/:id` and `/voices/samples` only the latter gets a
 * request for `/voices/samples`, whatever its method. HEAD is answered as GET without its body.
 */
export const routeTable = <R>(routes: ReadonlyArray<Route<R>>) => {
  const router = FindMyWay.make<ReadonlyMap<string, Route<R>>>({
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    caseSensitive: true,
    maxParamLength: paramCharactersMax
  })
  for (const [path, own] of Map.groupBy(routes, (each) => each.path)) {
    const byMethod = new Map(own.map((each) => [each.method, each]))
    if (byMethod.size < own.length) throw new Error(`two routes have one method of ${path}`)
    router.on("GET", path, byMethod)
  }
  return (method: string, url: string): Match<R> => {
    const found = router.find("GET", url)
    if (found === undefined) return { _tag: "Unknown" }
    const { handler: byMethod, params, searchParams: query } = found
    const matched = byMethod.get(method === "HEAD" ? "GET" : method)
    if (matched !== undefined) return { _tag: "Found", route: matched, params, query }
    const allowed = methods.filter((other) => byMethod.has(other))
    const shared = allowed.filter((other) => byMethod.get(other)?.isCrossOrigin === true)
    return { _tag: "WrongMethod", allowed: withHead(allowed), crossOrigin: withHead(shared) }
  }
}

const withHead = (found: ReadonlyArray<Method>) => found.flatMap((one) => (one === "GET" ? ["GET", "HEAD"] : [one]))

/**
 * The query and the body of a request. Each is read and decoded when a handler yields it; all faults are reported at
 * once.
 */
export interface EndpointRequest<out Query, out Body, out Limits = never> {
  readonly query: Effect.Effect<Query, WireError, HttpCall>
  /**
   * If the declaration makes the body optional, a request without one counts as `{}`. A form has limits for each of its
   * parts, and is read with `readForm`.
   */
  readonly body: Effect.Effect<Body, WireError, BodyServices | Limits>
}

type BodyServices = HttpCall | HttpServerRequest.HttpServerRequest

type QueryOf<Endpoint> = HttpApiEndpoint.Query<Endpoint>["Type"]
type BodyOf<Endpoint> = Exclude<HttpApiEndpoint.Payload<Endpoint>["Type"], void | FormBody>
type FormBody = Brand.Brand<HttpApiSchema.MultipartStreamTypeId>
/** An endpoint that answers with text, with a stream or with nothing writes its answers itself. */
type AnswerOf<Endpoint> = HttpApiEndpoint.Success<Endpoint>["Encoded"] extends infer Body
  ? string extends Body
    ? Answer
    : [Body] extends [void | Stream.Stream<unknown, unknown>]
      ? Answer
      : JsonAnswer<Body>
  : never

/** One handler for each endpoint of a group, by its identifier. */
type HandlersOf<Group extends HttpApiGroup.Constraint, Limits> = {
  readonly [Endpoint in HttpApiGroup.Endpoints<Group> as HttpApiEndpoint.Identifier<Endpoint>]: (
    request: EndpointRequest<QueryOf<Endpoint>, BodyOf<Endpoint>, Limits>
  ) => Effect.Effect<AnswerOf<Endpoint>, WireError, unknown>
}

type NeedsOf<Handler> = Handler extends (request: never) => Effect.Effect<unknown, unknown, infer R> ? R : never

/** `Limits`: the services that determine how large a body can be. */
interface ApiOptions<Limits> {
  readonly bodyBytesMax: Effect.Effect<number, never, Limits>
}

/** Endpoints with a scope authenticate their callers; groups without tokens need nothing for that. */
type AuthOf<Group extends HttpApiGroup.Constraint> = [
  HttpApiEndpoint.Middleware<HttpApiGroup.Endpoints<Group>>
] extends [never]
  ? never
  : Auth

/**
 * The routes of a group. Method, path, scopes and shapes come from the declaration, so a handler repeats none of them.
 * A missing handler, or one that answers with another shape, does not compile; an extra one throws when its file is
 * loaded. A handler whose endpoint needs a scope has its `Caller` in context. A handler asks for its query and its body
 * itself, and so decides which fault is answered first. Effect's HttpApiBuilder decodes both before the handler runs,
 * with its own errors, and takes 31 µs a request where this takes 20, as hand-written routes do.
 */
export const routesOf = <
  Group extends HttpApiGroup.Constraint,
  const Handlers extends HandlersOf<Group, Limits>,
  Limits = never
>(
  group: Group,
  handlers: Handlers,
  options: ApiOptions<Limits>
): ReadonlyArray<Route<Exclude<NeedsOf<Handlers[keyof Handlers]>, Caller> | AuthOf<Group> | HttpCall>> => {
  type R = Exclude<NeedsOf<Handlers[keyof Handlers]>, Caller> | AuthOf<Group> | HttpCall
  const { endpoints } = group as unknown as HttpApiGroup.Top
  const byName = handlers as unknown as Readonly<Record<string, AnyHandler<R>>>
  const undeclared = Object.keys(byName).filter((name) => !Object.hasOwn(endpoints, name))
  if (undeclared.length > 0) throw new Error(`handled and not declared: ${undeclared.join(", ")}`)
  return Object.values(endpoints).map((endpoint) => routeOf(endpoint, byName[endpoint.identifier], options) as Route<R>)
}

type AnyHandler<R> = (
  request: EndpointRequest<unknown, unknown, unknown>
) => Effect.Effect<Answer, WireError, R | Caller>

const routeOf = <R>(
  endpoint: HttpApiEndpoint.Top,
  handler: AnyHandler<R> | undefined,
  options: ApiOptions<unknown>
): Route<Exclude<R, Caller> | Auth | HttpCall> => {
  if (handler === undefined) throw new Error(`${endpoint.identifier} is declared and not handled`)
  const answer = handler({ query: queryOf(endpoint), body: readBodyOf(endpoint, options) })
  const scopes = Context.getOption(endpoint.annotations, NeededScopes)
  const permission = Option.getOrUndefined(Context.getOption(endpoint.annotations, NeededPermission))
  return route(
    endpoint.method as Route<never>["method"],
    endpoint.path as `/${string}`,
    Option.isSome(scopes)
      ? authenticated({ scopes: scopes.value, permission })(answer)
      : (answer as Effect.Effect<Answer, WireError, Exclude<R, Caller>>)
  )
}

type PlainCodec = Schema.Codec<unknown, unknown>

const queryOf = ({ query }: HttpApiEndpoint.Top) =>
  query === undefined ? Effect.void : readQuery(query as unknown as PlainCodec)

const readBodyOf = (endpoint: HttpApiEndpoint.Top, { bodyBytesMax }: ApiOptions<unknown>) => {
  const { body, isForm, isOptional } = bodyOf(endpoint)
  const nullIsAbsent = Context.get(endpoint.annotations, NullIsAbsent)
  if (body === undefined) return Effect.void
  if (isForm) return Effect.die(new Error(`${endpoint.identifier} takes a form, which its handler reads`))
  const read = Effect.flatMap(bodyBytesMax, (bytesMax) =>
    readJson(body as unknown as PlainCodec, { bytesMax, nullIsAbsent })
  )
  return isOptional ? Effect.flatMap(HttpCall, (call) => (isEmpty(call) ? Effect.succeed({}) : read)) : read
}

const isEmpty = ({ header }: HttpCall["Service"]) =>
  Option.getOrElse(header("content-length"), () => "0") === "0" && Option.isNone(header("transfer-encoding"))
