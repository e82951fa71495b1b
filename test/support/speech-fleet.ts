/** A fleet that speaks, and a caller that holds every answer against the document which the fleet serves. */
import { assert } from "@effect/vitest"
import { type Answered, contractOf, type Json } from "./openapi-answers.ts"
import { type Home, newHome, type RunningFleet, startFleet, starling } from "../../dev/fixtures/starling.ts"
import { speechFleetDefaults } from "./speech.ts"

export interface Asked {
  readonly method?: "GET" | "POST" | "DELETE"
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Null for none; the owner's otherwise. */
  readonly token?: string | null
}

export interface Heard extends Answered {
  readonly bytes: Buffer
}

export interface SpeechFleet {
  readonly url: string
  readonly token: string
  readonly home: Home
  readonly fleet: RunningFleet
  readonly call: (path: string, asked?: Asked) => Promise<Heard>
  /** A token with these scopes alone. */
  readonly tokenFor: (...scopes: ReadonlyArray<string>) => Promise<string>
  /** A token as `./starling token make` makes it from these parameters. */
  readonly tokenOf: (...parameters: ReadonlyArray<string>) => Promise<string>
  readonly stop: () => Promise<void>
}

export const speechFleet = async (changes: Readonly<Record<string, string | undefined>> = {}): Promise<SpeechFleet> => {
  const home = newHome({ ...speechFleetDefaults, ...changes })
  const fleet = await startFleet(home)
  const { speech: url, token } = fleet.ready
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Json
  const contract = contractOf(document)
  const templates = Object.keys(document["paths"] as Json)
  const templateOf = (path: string) =>
    templates.find((template) => template === path) ??
    templates.find((template) => new RegExp(`^${template.replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u").test(path))

  const call = async (path: string, { method, body, headers = {}, token: own = token }: Asked = {}): Promise<Heard> => {
    const verb = method ?? (body === undefined ? "GET" : "POST")
    const response = await fetch(`${url}${path}`, {
      method: verb,
      headers: {
        ...(own === null ? {} : { authorization: `Bearer ${own}` }),
        ...(body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" }),
        ...headers
      },
      body:
        body === undefined ? null : typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body)
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const contentType = response.headers.get("content-type") ?? ""
    const heard = {
      status: response.status,
      headers: response.headers,
      contentType,
      bytes,
      body: readBody(contentType, bytes)
    }
    const template = templateOf(path.split("?")[0] ?? "")
    const isDescribed = template !== undefined && response.status !== 405
    if (isDescribed) assert.deepStrictEqual(contract.breaches(verb, template, heard), [], `${verb} ${path}`)
    if (response.status >= 400) {
      const envelope = heard.body as { readonly request_id: string }
      assert.strictEqual(envelope.request_id, response.headers.get("service-request-id"))
      assert.strictEqual(envelope.request_id, response.headers.get("speechify-request-id"))
    }
    return heard
  }
  const tokenOf = async (...parameters: ReadonlyArray<string>) => {
    const { code, out, error } = await starling(home, "token", "make", ...parameters)
    assert.strictEqual(code, 0, error)
    return out.trim()
  }
  return {
    url,
    token,
    home,
    fleet,
    call,
    tokenOf,
    tokenFor: (...scopes) => tokenOf("--kind", "service", ...scopes.flatMap((scope) => ["--scope", scope])),
    stop: async () => {
      await fleet.stop("SIGTERM")
      home.remove()
    }
  }
}

const readBody = (contentType: string, bytes: Buffer): unknown => {
  if (contentType.startsWith("application/json")) return JSON.parse(bytes.toString())
  return contentType.startsWith("text/event-stream") ? eventsIn(bytes.toString()).map(({ data }) => data) : undefined
}

export interface Event {
  readonly event: string
  readonly data: Json
}

/** As client libraries read a stream: comments are nothing, an event without a name is a message. */
export const eventsIn = (text: string): ReadonlyArray<Event> =>
  text.split("\n\n").flatMap((block) => {
    const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"))
    const valuesOf = (name: string) =>
      lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
    const data = valuesOf("data").join("\n")
    return data === "" ? [] : [{ event: valuesOf("event").at(-1) ?? "message", data: JSON.parse(data) as Json }]
  })

export const codeOf = ({ body }: Heard): string => (body as { readonly error: { readonly code: string } }).error.code

/** By how it begins. */
export const containerOf = (bytes: Buffer): string => {
  const head = bytes.subarray(0, 4).toString("latin1")
  if (head === "RIFF") return "wav"
  if (head === "OggS") return "ogg"
  if (head === "fLaC") return "flac"
  const sync = bytes.readUInt16BE(0)
  if ((sync & 0xff_f6) === 0xff_f0) return "aac"
  return head.startsWith("ID3") || (sync & 0xff_e0) === 0xff_e0 ? "mp3" : "raw"
}
