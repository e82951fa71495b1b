/**
 * Calls from pages of other origins (CORS). A route opts in; the listener decides which origins can call, and with
 * which headers. Preflights are answered before any handler runs, and every answer of such a route, refusals included,
 * says what the page's script can read of it. Credentials that a browser adds by itself are never allowed. Pure.
 */
export interface CorsPolicy {
  /** Such as `https://app.example.com`; `*` is every page. Empty: every call is answered as without CORS. */
  readonly origins: ReadonlyArray<string>
  /** Headers that a page can send. */
  readonly requestHeaders: ReadonlyArray<string>
  /** Further headers, by prefix: client libraries describe themselves in a dozen headers of one prefix. */
  readonly requestHeaderPrefixes?: ReadonlyArray<string>
  /** Answer headers that a page's script can read. */
  readonly exposedHeaders: ReadonlyArray<string>
}

type Headers = Readonly<Record<string, string | undefined>>

/** No browser caches the answer to a preflight for longer than a day; some only for ten minutes. */
const maxAgeSeconds = 86_400
const requestedHeadersMax = 64
const headerName = /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/u

const preflightVary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"

/** The headers of every answer of a route that opted in. */
export const corsHeaders = (policy: CorsPolicy, origin: string | undefined): Readonly<Record<string, string>> => {
  if (policy.origins.length === 0) return {}
  const allowed = allowedOrigin(policy, origin)
  // Also on answers to requests without an origin: a cache must not serve them to a page.
  if (allowed === undefined) return { vary: "Origin" }
  return {
    vary: "Origin",
    "access-control-allow-origin": allowed,
    "access-control-expose-headers": policy.exposedHeaders.join(", ")
  }
}

/** The headers of the answer to a preflight; undefined for another request, or for an origin that is not allowed. */
export const preflightHeaders = (
  policy: CorsPolicy,
  request: Headers,
  methods: ReadonlyArray<string>
): Readonly<Record<string, string>> | undefined => {
  const { origin, "access-control-request-method": wanted } = request
  const allowed = allowedOrigin(policy, origin)
  if (allowed === undefined || wanted === undefined || methods.length === 0) return undefined
  return {
    vary: preflightVary,
    "access-control-allow-origin": allowed,
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": allowedHeaders(policy, request["access-control-request-headers"] ?? "").join(", "),
    "access-control-max-age": String(maxAgeSeconds)
  }
}

const allowedOrigin = (policy: CorsPolicy, origin: string | undefined) => {
  if (origin === undefined) return undefined
  if (policy.origins.includes("*")) return "*"
  return policy.origins.includes(origin) ? origin : undefined
}

const allowedHeaders = ({ requestHeaders, requestHeaderPrefixes = [] }: CorsPolicy, requested: string) => {
  if (requestHeaderPrefixes.length === 0) return requestHeaders
  const further = requested
    .split(",", requestedHeadersMax)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => headerName.test(name) && requestHeaderPrefixes.some((prefix) => name.startsWith(prefix)))
  return [...requestHeaders, ...further]
}
