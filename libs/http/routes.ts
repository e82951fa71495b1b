/** An API's routes as data, and the table that finds one. A wrong method knows which ones are right. */
import type { Effect } from "effect"
import { FindMyWay } from "effect/http"
import type { Answer } from "./answers.ts"
import type { WireError } from "./WireError.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Route<out R> {
  readonly method: Method
  /** `:name` stands for one segment, a trailing `*` for the rest. */
  readonly path: `/${string}`
  readonly handler: Effect.Effect<Answer, WireError, R>
}

export const route = <R>(
  method: Method,
  path: `/${string}`,
  handler: Effect.Effect<Answer, WireError, R>
): Route<R> => ({ method, path, handler })

/** What the handlers of some routes ask for. */
export type ServicesOf<Routes extends ReadonlyArray<Route<unknown>>> = Routes[number] extends infer Each
  ? Each extends Route<infer R>
    ? R
    : never
  : never

export type Match<R> =
  | { readonly _tag: "Found"; readonly route: Route<R>; readonly params: Params; readonly query: Query }
  | { readonly _tag: "WrongMethod"; readonly allowed: ReadonlyArray<string> }
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
    return { _tag: "WrongMethod", allowed: allowed.flatMap((one) => (one === "GET" ? ["GET", "HEAD"] : [one])) }
  }
}
