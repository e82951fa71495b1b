/** An API's routes as data, and the table that finds one. For a wrong method the table knows the right ones. */
import type { Effect } from "effect"
import { FindMyWay } from "effect/http"
import type { Answer } from "../answers.ts"
import type { WireError } from "../WireError.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Route<out R> {
  readonly method: Method
  /** `:name` stands for one segment, a trailing `*` for the rest. */
  readonly path: `/${string}`
  readonly handler: Effect.Effect<Answer, WireError, R>
  /** Pages of other origins may call the route, within the listener's policy. */
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

/** Routes below a base path, such as `/api`; below an empty one they stay as they are. */
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

/** HEAD is answered as GET without its body. */
export const routeTable = <R>(routes: ReadonlyArray<Route<R>>) => {
  const router = FindMyWay.make<Route<R>>({
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    caseSensitive: true,
    maxParamLength: paramCharactersMax
  })
  for (const each of routes) router.on(each.method, each.path, each)
  return (method: string, url: string): Match<R> => {
    const found = router.find(method === "HEAD" ? "GET" : method, url)
    if (found !== undefined) {
      return { _tag: "Found", route: found.handler, params: found.params, query: found.searchParams }
    }
    const allowed = methods.filter((other) => router.find(other, url) !== undefined)
    if (allowed.length === 0) return { _tag: "Unknown" }
    const shared = allowed.filter((other) => router.find(other, url)?.handler.isCrossOrigin === true)
    return { _tag: "WrongMethod", allowed: withHead(allowed), crossOrigin: withHead(shared) }
  }
}

const withHead = (found: ReadonlyArray<Method>) => found.flatMap((one) => (one === "GET" ? ["GET", "HEAD"] : [one]))
