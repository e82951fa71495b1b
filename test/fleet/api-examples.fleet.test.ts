/**
 * The curl lines of the API pages, run in their order as they stand on a fleet with what they do not make; and the refusals
 * of every route in the OpenAPI documents, with the headers that these promise.
 */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Home, modelVoice, newHome, type RunningFleet, startFleet, starling } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { at, contractOf, type Json } from "../support/openapi-answers.ts"

const pages = ["docs/pipeline-api.md", "docs/model-gateway.md", "docs/speech-api.md", "docs/console-api.md"]

interface Example {
  readonly page: string
  readonly line: number
  /** Of its heading: `POST /v1/voices`. */
  readonly route: string
  readonly block: string
}

/** The blocks of shell of a page, each with the line that it begins at. */
const examplesOf = (page: string): ReadonlyArray<Example> => {
  const text = readFileSync(page, "utf8")
  return [...text.matchAll(/```sh\n(.*?)```/gsu)].map((match) => {
    const before = text.slice(0, match.index)
    const routes = [...before.matchAll(/^`([A-Z]+ \/\S*)`$/gmu)]
    return { page, line: before.split("\n").length + 1, route: routes.at(-1)?.[1] ?? "", block: match[1] ?? "" }
  })
}

/** The answers other than success that an example is to get on a fresh fleet, and why. */
const otherwise: Readonly<Record<string, readonly [status: number, why: string]>> = {
  "POST /workitems/:id/answer": [409, "the item asks nothing, and was cancelled above"],
  "POST /workitems/:id/dismiss-question": [409, "the item asks nothing, and was cancelled above"],
  "GET /suggestions/:id": [404, "no runner has suggested anything"],
  "docs/pipeline-api.md POST /events": [400, "nobody declared its type"],
  "POST /releases/:id/abandon": [409, "the release was closed above"],
  "POST /releases/:id/reopen": [409, "the release was closed above"],
  "POST /v1/chat/completions": [402, "a quote: curl signs no payment"],
  "POST /v1/messages": [402, "a quote: curl signs no payment"],
  "POST /v1/responses": [402, "a quote: curl signs no payment"],
  "POST /v1/images/generations": [402, "a quote: curl signs no payment"],
  "POST /v1/embeddings": [402, "a quote: curl signs no payment"],
  "GET /v1/images/jobs/:id": [404, "no image was paid for"],
  "GET /v1/channels": [402, "the channels that are taken: curl signs no refund"],
  "POST /v1/voices": [0, "curl has no recordings of a person who consents; voices-consent.fleet.test.ts makes them"],
  "DELETE /v1/voices/:voice_id": [403, "only cloned voices are deleted, and none was cloned"],
  "GET /v1/voices/:voice_id/sample": [404, "a voice of the catalogue has no sample"],
  "GET /v1/voices/:voice_id/avatar": [404, "a voice of the catalogue has no picture"],
  "POST /endpoints/:name/enable": [409, "the only endpoint left stands in the configuration file"],
  "POST /endpoints/:name/disable": [409, "the only endpoint left stands in the configuration file"],
  "GET /v1/audio/jobs/:job_id/events": [404, "the job was removed above"],
  "GET /v1/audio/jobs/:job_id/chapters/:chapter/audio": [404, "the job was removed above"],
  "GET /v1/audio/jobs/:job_id/chapters/:chapter/captions": [404, "the job was removed above"],
  "GET /v1/audio/jobs/:job_id/chapters/:chapter/marks": [404, "the job was removed above"],
  "GET /abandoned/:sequence": [404, "nothing was abandoned"],
  "POST /abandoned/:sequence/resend": [404, "nothing was abandoned"],
  "POST /abandoned/:sequence/discard": [404, "nothing was abandoned"],
  "GET /rejected/:sequence": [404, "nothing was rejected"],
  "POST /rejected/:sequence/resend": [404, "nothing was rejected"],
  "POST /rejected/:sequence/discard": [404, "nothing was rejected"],
  "GET /books/:finding": [404, "the books have no finding"],
  "POST /books/:finding/mend": [404, "the books have no finding"],
  "POST /books/:finding/accept": [404, "the books have no finding"],
  "POST /trials/payments": [400, "the page's quote is cut short; console-page.fleet.test.ts pays the gateway's own"],
  "POST /session": [403, "only the console's own page signs in"],
  "DELETE /session": [403, "only the console's own page signs out"]
}

/** What `$ID` and `$NAME` stand for, by the beginning of the route. */
const ids: Readonly<Record<string, string>> = {
  "/projects": "gates",
  "/agents": "coder",
  "/find": "demo",
  "/suggestions": "3c1f2f6e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  "/v1/images/jobs": `img_${"0".repeat(32)}`
}
/** Routes of the endpoint that an example makes; the others are for the one of the configuration. */
const ofMade = ["PATCH /endpoints/:name", "POST /endpoints/:name/rotate", "POST /endpoints/:name/remove"]

let home: Home
let fleet: RunningFleet
let variables: NodeJS.ProcessEnv
/** Made by the examples themselves, by the beginning of the route. */
const made: Record<string, string> = {}
const sequences: Record<string, string> = {}

const run = (route: string, block: string) =>
  new Promise<{ readonly status: number; readonly said: string }>((resolve) => {
    // A live answer has no end: it is heard for two seconds.
    const asked = block.replace(/^curl /u, "curl -sS --max-time $SECONDS_MAX -w '\\n%{http_code}' ")
    const live = / -N /u.test(block)
    const child = spawn("bash", ["-euo", "pipefail", "-c", asked], {
      env: {
        ...home.environment,
        ...variables,
        ID: made[kindOf(route)] ?? ids[kindOf(route)] ?? "",
        JOB_ID: made["/v1/audio/jobs"],
        CHAPTER: "1",
        SEQUENCE: sequences[kindOf(route)] ?? "1",
        NAME: ofMade.includes(route) ? "ci" : "demo",
        EVENT: route.startsWith("PATCH ") ? "order.paid" : "work_item.merged",
        SECONDS_MAX: live ? "2" : "30"
      }
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data: Buffer) => (said += data.toString("latin1")))
    child.once("close", () => resolve({ status: Number(/\n(\d{3})(?:curl.*)?\s*$/su.exec(said)?.[1] ?? 0), said }))
  })

/** `/workitems` of `POST /workitems/:id/resume`. */
const kindOf = (route: string) => /^\S+ (\/.*?)(?:\/:.*)?$/u.exec(route)?.[1] ?? ""

const getJson = async (url: string) => {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${fleet.ready.token}` } })
  return (await answer.json()) as Readonly<Record<string, unknown>>
}

const begin = async () => {
  home = newHome(modelVoice)
  fleet = await startFleet(home)
  const { ready } = fleet
  variables = {
    PIPELINE: ready.pipeline,
    GATEWAY: ready.gateway,
    SPEECH: ready.speech,
    CONSOLE: ready.console,
    TOKEN: (await starling(home, "token", "make", "--role", "owner")).out.trim(),
    STREAM: "EVENTS",
    MODEL: "demo/echo",
    VOICE_ID: "selma",
    FINDING: "0".repeat(32),
    KIND: "role",
    RANGE: "hour",
    FILE: `${home.folder}/answer`
  }
  await starling(home, "publish", "work_item.merged", "--file", "dev/examples/merged.json")
  const paid = await starling(home, "pay", "Hello", "--model", "demo/echo")
  assert.strictEqual(paid.code, 0, paid.error)
  const deliveries = async () =>
    ((await getJson(`${ready.console}/deliveries`))["items"] ?? []) as ReadonlyArray<{ readonly deliveryId: string }>
  await until(() => deliveries(), { is: ({ length }) => length > 0 })
  variables["DELIVERYID"] = (await deliveries())[0]?.deliveryId
  // Events have the places of their stream, which other messages share.
  const [event] = ((await getJson(`${ready.console}/events`))["items"] ?? []) as ReadonlyArray<{
    readonly sequence: number
  }>
  sequences["/events"] = String(event?.sequence)
  variables["KEY"] = String((await getJson(`${ready.console}/receipts/1`))["claimKey"])
}

beforeAll(begin)
afterAll(async () => {
  if (fleet !== undefined) await fleet.stop("SIGTERM")
  home.remove()
})

describe("the examples of the API pages", () => {
  it.each(pages.flatMap(examplesOf).map((example) => [example.page, example.line, example.route, example] as const))(
    "%s:%d %s",
    async (page, _line, route, { block }) => {
      const { status, said } = await run(route, block)
      const id = /"id":"([^"]+)"/u.exec(said)?.[1]
      if ((status === 201 || status === 202) && id !== undefined) made[kindOf(route)] = id
      const [wanted] = otherwise[`${page} ${route}`] ?? otherwise[route] ?? []
      if (wanted === undefined) assert.isTrue(status >= 200 && status < 300, `${status}: ${said.slice(0, 1_000)}`)
      else assert.strictEqual(status, wanted, said.slice(0, 1_000))
    }
  )
})

const json = { "content-type": "application/json" }

/** Requests that are refused for their head, their token or their body, whatever the route; `none` has no scope. */
const wrongRequests = (tokens: { readonly owner: string; readonly none: string }): ReadonlyArray<RequestInit> => {
  const owner = { authorization: `Bearer ${tokens.owner}` }
  return [
    { headers: json, body: "{}" },
    { headers: { ...json, authorization: `Bearer ${tokens.none}` }, body: "{}" },
    { headers: { ...json, ...owner }, body: "{" },
    { headers: { ...owner, "content-type": "text/plain" }, body: "a gate" },
    { headers: { ...json, cookie: "console=nothing", origin: "https://elsewhere.example" }, body: "{}" }
  ]
}

describe("the refusals of every route", () => {
  it.each(["pipeline", "gateway", "speech", "console"] as const)(
    "of %s have the headers and the shape that its document promises",
    async (api) => {
      const url = fleet.ready[api]
      const document = (await (await fetch(`${url}/openapi.json`)).json()) as Json
      const { breaches } = contractOf(document)
      const made = await starling(home, "token", "make", "--kind", "service", "--scope", "voices:delete")
      const requests = wrongRequests({ owner: fleet.ready.token, none: made.out.trim() })
      const statuses = new Set<number>()
      for (const [template, operations] of Object.entries(at(document, "paths"))) {
        const path = template.replaceAll(/\{\w+\}/gu, "1")
        const methods = Object.keys(operations as Json).map((method) => method.toUpperCase())
        for (const method of methods) {
          for (const { body, ...request } of requests) {
            const hasBody = method !== "GET"
            const answer = await fetch(`${url}${path}`, {
              ...request,
              method,
              ...(hasBody ? { body: body ?? "" } : {})
            })
            const contentType = answer.headers.get("content-type") ?? ""
            const text = await answerText(answer)
            if (answer.status < 400) continue
            statuses.add(answer.status)
            const answered = { status: answer.status, headers: answer.headers, contentType, body: JSON.parse(text) }
            assert.deepStrictEqual(breaches(method, template, answered), [], `${method} ${path}: ${text}`)
          }
        }
        const refused = await fetch(`${url}${path}`, { method: "OPTIONS" })
        const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
        assert.sameMembers(refused.headers.get("allow")?.split(", ") ?? [], allowed, path)
      }
      assert.includeMembers([...statuses], api === "gateway" ? [400] : [400, 401, 403, 415])
    }
  )
})

/** A live answer has no end: nothing of it is read. */
const answerText = async (answer: Response) => {
  if (answer.status >= 400) return answer.text()
  await answer.body?.cancel()
  return ""
}
