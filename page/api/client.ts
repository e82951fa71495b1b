/**
 * Calls of the fleet's APIs, typed by their declarations: a path that none declares does not compile. Only types cross
 * over, so nothing of Effect is in the page.
 */
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import type { ConsoleHttpApi } from "#console/api"
import { onceMore } from "./once-more.ts"

type EndpointsOf<Api> = Api extends HttpApi.HttpApi<infer _Id, infer Groups> ? HttpApiGroup.Endpoints<Groups> : never
type RouteOf<Api, Method extends string, Path> = Extract<
  EndpointsOf<Api>,
  { readonly method: Method; readonly path: Path }
>
export type PathIn<Api, Method extends string> = Extract<EndpointsOf<Api>, { readonly method: Method }>["path"]
type Encoded<S> = [S] extends [{ readonly Encoded: infer E }] ? E : never

/** What a route of an API answers, and what it takes. */
export type AnswerIn<Api, Method extends string, Path> = Encoded<RouteOf<Api, Method, Path>["~Success"]>
type PayloadIn<Api, Method extends string, Path> = Encoded<RouteOf<Api, Method, Path>["~Payload"]>
type QueryIn<Api, Method extends string, Path> = Encoded<RouteOf<Api, Method, Path>["~Query"]>

type Console = typeof ConsoleHttpApi
/** What a route of the operators' API answers. */
export type Answer<Method extends string, Path extends PathIn<Console, Method>> = AnswerIn<Console, Method, Path>

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  /** Each faulty field of the request with its fault. */
  readonly faults: Readonly<Record<string, string>>
}

/** The API said no. `status` 0: it could not be reached. */
export class Refused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.name = "Refused"
    this.refusal = refusal
  }
}

const hearers = new Set<(refused: Refused) => void>()

/** Tells of every refusal, whoever called; gives back how to stop. */
export const onRefusal = (hearer: (refused: Refused) => void) => {
  hearers.add(hearer)
  return () => {
    hearers.delete(hearer)
  }
}

/** The refusal, after who listens was told. */
const refuse = (refusal: Refusal): Refused => {
  const refused = new Refused(refusal)
  for (const hearer of hearers) hearer(refused)
  return refused
}

interface Options {
  /** Values for the `:names` of the path. */
  readonly params?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The calls of one API, which stands below this path of the origin. */
export const callsOf = <Api>(base: string) => ({
  get: <const Path extends PathIn<Api, "GET">>(
    path: Path,
    options: Options & { readonly query?: QueryIn<Api, "GET", Path> } = {}
  ): Promise<AnswerIn<Api, "GET", Path>> => call("GET", base + addressOf(path, options), options),

  post: <const Path extends PathIn<Api, "POST">>(
    path: Path,
    body: PayloadIn<Api, "POST", Path>,
    options: Options = {}
  ): Promise<AnswerIn<Api, "POST", Path>> => call("POST", base + addressOf(path, options), { ...options, body }),

  patch: <const Path extends PathIn<Api, "PATCH">>(
    path: Path,
    body: PayloadIn<Api, "PATCH", Path>,
    options: Options = {}
  ): Promise<AnswerIn<Api, "PATCH", Path>> => call("PATCH", base + addressOf(path, options), { ...options, body }),

  remove: <const Path extends PathIn<Api, "DELETE">>(
    path: Path,
    options: Options & { readonly query?: QueryIn<Api, "DELETE", Path> } = {}
  ): Promise<AnswerIn<Api, "DELETE", Path>> => call("DELETE", base + addressOf(path, options), options)
})

/** The operators' API. */
export const { get, post, patch, remove } = callsOf<Console>("")

export const addressOf = (
  path: string,
  { params = {}, query }: { readonly params?: Readonly<Record<string, string>>; readonly query?: unknown }
) => {
  const filled = path.replaceAll(/:(\w+)/gu, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const wanted = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== "")
  return wanted.length === 0
    ? filled
    : `${filled}?${new URLSearchParams(wanted.map(([name, value]): [string, string] => [name, String(value)]))}`
}

interface Call {
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, except for a form, which goes as one. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** One request of JSON to this origin; fails with `Refused`. */
export const call = async <A>(method: string, address: string, options: Call): Promise<A> => {
  const answer = await answerOf(method, address, options)
  return (answer.status === 204 ? undefined : await answer.json()) as A
}

/** The answer as it comes, for what is read as a stream. The session's cookie goes with the request by itself. */
export const answerOf = async (
  method: string,
  address: string,
  { body, headers = {}, signal }: Call
): Promise<Response> => {
  const isJson = body !== undefined && !(body instanceof FormData)
  const ask = () =>
    fetch(address, {
      method,
      signal: signal ?? null,
      headers: isJson ? { ...headers, "content-type": "application/json" } : headers,
      body: isJson ? JSON.stringify(body) : ((body as FormData | undefined) ?? null)
    })
  const asked = method === "GET" ? onceMore(ask, () => signal?.aborted !== true) : ask()
  const answer = await asked.catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw refuse({ status: 0, code: "unreachable", message: "The console does not answer", faults: {} })
  })
  if (!answer.ok) throw refuse(await refusalOf(answer))
  return answer
}

interface Envelope {
  readonly code?: string | null
  readonly message?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** The error envelope of every API of the fleet; a proxy's page of its own says only its status. */
const refusalOf = async (answer: Response): Promise<Refusal> => {
  const { error: given } = (await answer.json().catch(() => ({}))) as { readonly error?: Envelope | string }
  const error: Envelope | undefined = typeof given === "string" ? { message: given } : given
  return {
    status: answer.status,
    code: error?.code ?? String(answer.status),
    message: error?.message ?? `the console answered ${answer.status}`,
    faults: error?.fields ?? {}
  }
}
