import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { type MessageCodec, Publisher, Requests, StreamReader } from "#bus"
import { livePath } from "#speech/api"
import { Tokens } from "#http"
import { Addresses } from "#runtime"
import { Configuration } from "#configuration"
import { envelopeBytesMax, reportBytesMax } from "../../libs/bus/topology/streams.ts"
import { busOn, natsServer } from "../../dev/fixtures/bus.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { processLayer, rolesLayer } from "../../services/fleet/roles.ts"
import { connectLive } from "../support/live.ts"
import { testNetwork } from "../support/payments.ts"
import { exchange, type Heard, holdsNothingUp, hostileBodies, moreKeys, type Wire } from "../support/longest-block.ts"

/** Every role that takes bodies or messages, in this process, whose loop is watched. */
const roles = [
  "model-gateway",
  "pipeline-api",
  "speech-api",
  "console",
  "payment-verifier",
  "webhook-dispatcher"
] as const

interface Fleet {
  readonly urls: ReadonlyMap<string, string>
  readonly token: string
}

const configurationFor = (natsUrl: string) => ({
  Bus: { Url: natsUrl },
  Telemetry: { Port: 0, LogLevel: "Error" },
  PipelineApi: { Port: 0 },
  SpeechApi: { Port: 0 },
  Console: { Port: 0 },
  PaymentVerifier: { FacilitatorPort: 0 },
  // Nothing listens on it, and nothing is asked for the price of a call.
  Payments: { Networks: [{ ...testNetwork, RpcUrls: ["http://127.0.0.1:9"] }] },
  // Reads events from then on that there is an endpoint; none of these reaches it.
  Webhooks: [{ Name: "nowhere", Url: "https://nowhere.example/hooks" }],
  ModelGateway: {
    Port: 0,
    TokenCountsPerMinute: 300,
    Providers: [{ Name: "away", BaseUrl: "http://127.0.0.1:9/v1" }],
    Models: [
      {
        Id: "demo/echo",
        ContextTokens: 10_000_000,
        Upstreams: [{ Provider: "away", Model: "echo" }],
        InputMicroUsdPerMillionTokens: 1,
        OutputMicroUsdPerMillionTokens: 1
      },
      {
        Id: "demo/vectors",
        Kind: "embedding",
        ContextTokens: 10_000_000,
        Upstreams: [{ Provider: "away", Model: "vectors" }],
        InputMicroUsdPerMillionTokens: 1
      }
    ]
  }
})

const withRoles = <A, E, R>(test: (fleet: Fleet) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    const bus = Layer.fresh(Tokens.layer.pipe(Layer.provideMerge(busOn(server))))
    const configuration = Configuration.layerOf(configurationFor(server.url))
    const fleet = rolesLayer(roles).pipe(
      Layer.provideMerge(processLayer(roles)),
      Layer.provideMerge(configuration),
      // The roles find the streams and buckets that are made here.
      Layer.provideMerge(bus)
    )
    return yield* Effect.gen(function* () {
      const urls = yield* (yield* Addresses).all
      const order = { workspace: "default", kind: "member", role: "owner", scopes: ["*"] } as const
      const { token } = yield* (yield* Tokens).make(order)
      return yield* test({ urls, token })
    }).pipe(Effect.provide(fleet))
  }).pipe(Effect.scoped)

interface Tried {
  readonly method?: string
  readonly path: string
  readonly place: string
  readonly bytesMax: number
  readonly which?: ReadonlyArray<string>
}

/** Sends a route everything that it may be sent, and looks at what it answers. */
const attack = Effect.fnUntraced(function* (
  url: string | undefined,
  { method = "POST", path, place, bytesMax, which }: Tried,
  headers: Readonly<Record<string, string>> = {}
) {
  for (const { name, text } of hostileBodies(place, bytesMax, which)) {
    const wire = { method, url: `${url}${path}`, body: Buffer.from(text), headers }
    const heard = yield* Effect.promise(() => holdsNothingUp(`${method} ${path}: ${name}`, text, () => exchange(wire)))
    looksAnswered(`${path}: ${name}`, heard)
  }
})

/** No fault of ours, and no refusal that repeats what came. */
const looksAnswered = (name: string, { status, text }: Heard) => {
  assert.isTrue(status >= 200 && status < 500, `${name}: ${status} ${text.slice(0, 300)}`)
  if (status >= 400) assert.isBelow(text.length, 50_000, name)
}

/** Read alike wherever they are in a body. */
const syntax = ["deep lists", "escapes", "a fault at the end"]
/** Judged by what may be in their place. */
const values = ["zeros", "empty objects", "many keys"]
const few = [...values, ...syntax]
const mebibyte = 1_048_576

/** Syntax is tried once for each path, in the first of its places. */
const syntaxOnce = <T extends Pick<Tried, "path" | "which">>(all: ReadonlyArray<T>): ReadonlyArray<T> =>
  all.map((tried, at) => {
    const isFirst = all.findIndex(({ path }) => path === tried.path) === at
    return isFirst || tried.which === undefined
      ? tried
      : { ...tried, which: tried.which.filter((name) => !syntax.includes(name)) }
  })

/** A mebibyte where everything is tried; half of it shows as well what grows faster than the body. */
const gatewayBytesMax = ({ which }: Pick<Tried, "which">) => (which === undefined ? mebibyte : mebibyte / 2)
const asked = '"model":"demo/echo"'
const hello = '"messages":[{"role":"user","content":"hello"}]'

const ofGateway: ReadonlyArray<Omit<Tried, "bytesMax">> = [
  { path: "/v1/chat/completions", place: "@", which: few },
  { path: "/v1/chat/completions", place: `{${asked},"messages":@}` },
  {
    path: "/v1/chat/completions",
    place: `{${asked},"messages":[{"role":"user","content":@}]}`,
    which: [...few, "right parts", "texts", "a long text", "unicode escapes"]
  },
  {
    path: "/v1/chat/completions",
    place: `{${asked},"messages":[{"role":"user","content":"a","tool_calls":@}]}`,
    which: few
  },
  { path: "/v1/chat/completions", place: `{${asked},${hello},"tools":@}`, which: [...few, "tools", "wrong types"] },
  { path: "/v1/chat/completions", place: `{${asked},${hello},"stop":@}`, which: [...few, "texts"] },
  { path: "/v1/chat/completions", place: `{${asked},${hello},"anything":@}`, which: few },
  {
    path: "/v1/messages",
    place: `{${asked},"max_tokens":5,"messages":@}`,
    which: [...few, "messages", "messages in parts", "wrong messages"]
  },
  { path: "/v1/messages", place: `{${asked},"max_tokens":5,${hello},"system":@}`, which: [...few, "right parts"] },
  { path: "/v1/messages", place: `{${asked},"max_tokens":5,${hello},"tools":@}`, which: [...few, "tools"] },
  { path: "/v1/messages/count_tokens", place: `{${asked},"messages":@}`, which: few },
  {
    path: "/v1/responses",
    place: `{${asked},"input":@}`,
    which: [...few, "messages", "messages in parts", "a long text"]
  },
  { path: "/v1/responses", place: `{${asked},"input":"hello","tools":@}`, which: [...few, "tools"] },
  { path: "/v1/images/generations", place: `{${asked},"prompt":@}`, which: few },
  { path: "/v1/embeddings", place: '{"model":"demo/vectors","input":@}', which: [...few, "texts", "floats"] },
  ...[
    ["/v1/chat/completions", `{${asked},${hello},@}`],
    ["/v1/chat/completions", `{${asked},"messages":[{"role":"user","content":"a",@}]}`],
    ["/v1/chat/completions", `{${asked},"messages":[{"role":"user","content":[{"type":"text","text":"a",@}]}]}`],
    ["/v1/messages", `{${asked},"max_tokens":5,${hello},@}`],
    ["/v1/messages", `{${asked},"messages":[{"role":"user","content":[{"type":"strange",@}]}]}`],
    ["/v1/responses", `{${asked},"input":"hello",@}`],
    ["/v1/images/generations", `{${asked},"prompt":"a",@}`],
    ["/v1/embeddings", '{"model":"demo/vectors","input":"a",@}']
  ].map(([path = "", place = ""]) => ({ path, place, which: [moreKeys] }))
]

/** By its window of ten million tokens the gateway takes bodies of the largest size that it has without a setting. */
const ofGatewayAtMost: ReadonlyArray<Tried> = [
  {
    path: "/v1/chat/completions",
    place: `{${asked},"messages":@}`,
    bytesMax: 10 * mebibyte,
    which: ["objects with texts", "zeros"]
  },
  {
    path: "/v1/chat/completions",
    place: `{${asked},"messages":[{"role":"user","content":"a","tool_calls":@}]}`,
    bytesMax: 10 * mebibyte,
    which: ["objects with texts"]
  },
  // What fills a window of a million tokens.
  {
    path: "/v1/chat/completions",
    place: `{${asked},"messages":@}`,
    bytesMax: 4_400_000,
    which: ["long messages in parts"]
  },
  { path: "/v1/responses", place: `{${asked},"input":@}`, bytesMax: 10 * mebibyte, which: ["a long text"] }
]

const ofPipeline: ReadonlyArray<Omit<Tried, "bytesMax">> = [
  { path: "/workitems", place: "@", which: few },
  { path: "/workitems", place: '{"title":"a","projectId":@}', which: few },
  { path: "/workitems", place: '{"title":"a",@}', which: [moreKeys] },
  { path: "/workitems/a/answer", place: "@", which: few },
  { path: "/releases", place: "@", which: few },
  { method: "PUT", path: "/projects/a", place: "@", which: few },
  { path: "/queue/pause", place: "@", which: few },
  { path: "/agents/a/pause", place: '{"reason":@}', which: few }
]

const ofConsole: ReadonlyArray<Omit<Tried, "bytesMax">> = [
  { path: "/endpoints", place: '{"reason":"a","settings":@}', which: [...few, "texts"] },
  {
    path: "/endpoints",
    place: '{"reason":"a","settings":{"Name":"a","Url":"https://a.example","Events":@}}',
    which: few
  },
  { method: "PATCH", path: "/endpoints/a", place: '{"reason":"a","revision":1,"settings":@}', which: few },
  { path: "/events", place: '{"reason":"a","event":"queue.paused","dryRun":true,"details":@}', which: few },
  { path: "/deliveries/resend", place: '{"reason":"a","places":@}', which: [...few, "texts"] },
  { path: "/tokens", place: "@", which: few },
  { path: "/tokens", place: '{"label":"a",@}', which: [moreKeys] }
]

const ofSpeech: ReadonlyArray<Tried> = [
  { path: "/v1/audio/speech", place: "@", bytesMax: 524_288, which: few },
  { path: "/v1/audio/dialogue", place: '{"turns":@}', bytesMax: 524_288, which: few },
  { path: "/v1/audio/captions", place: '{"turns":@}', bytesMax: 524_288, which: few },
  {
    path: "/v1/audio/stream",
    place: '{"voice_id":"amy","input":@}',
    bytesMax: 524_288,
    which: [...few, "a long text", "unicode escapes", "quotes"]
  },
  { method: "PUT", path: "/v1/lexicons/a", place: "@", bytesMax: 409_600, which: few }
]

const ofFacilitator: ReadonlyArray<Tried> = ["/verify", "/settle"].flatMap((path) =>
  [
    "@",
    '{"x402Version":2,"paymentPayload":@}',
    '{"paymentRequirements":{"scheme":"batch-settlement"},"paymentPayload":@}'
  ].map((place) => ({ path, place, bytesMax: 131_072, which: few }))
)

const headerNames = [
  "accept",
  "accept-encoding",
  "accept-language",
  "anthropic-beta",
  "authorization",
  "content-type",
  "cookie",
  "idempotency-key",
  "if-none-match",
  "origin",
  "payment-signature",
  "traceparent",
  "x-api-key",
  "x-forwarded-for",
  "x-payment",
  "x-request-id"
]
// As much as the listeners take beside what else a request has.
const headerBytesMax = 12_000
const nested = Buffer.from('{"payload":'.repeat(600)).toString("base64")
const headerFillers = [",", " ,", "a,", "a=b;", '"', "Bearer ", ":", "1.", "data:", nested, "=", "application/json;"]

const form = (boundary: string, text: string) => ({
  text,
  headers: { "content-type": `multipart/form-data; boundary=${boundary}` }
})
const partHead = 'content-disposition: form-data; name="name"'

/** Forms of eight megabytes, whose reader searches for boundaries, and parts with as many headers as there is room for. */
const forms = [
  form("aaaaaaaa", "\r\n--aaaaaaa".repeat(700_000)),
  form("a".repeat(70), `--${"a".repeat(70)}\r\n${partHead}\r\n\r\n${"-".repeat(8_000_000)}`),
  form("a", `--a\r\n${partHead}\r\n\r\n1\r\n`.repeat(100_000)),
  form("a", `--a\r\n${`x: ${"y".repeat(50)}\r\n`.repeat(150_000)}`),
  form("a", `--a\r\n${partHead}; ${"a=b; ".repeat(1_600_000)}`)
]

const utf8 = new TextEncoder()

/** Publishes; the act ends when the message is in REJECTED. */
const rejecting = Effect.fnUntraced(function* (subject: string, text: string) {
  const { bounds } = yield* StreamReader
  const { publishRaw } = yield* Publisher
  const { lastSequence: before } = yield* bounds("REJECTED")
  yield* publishRaw(subject, utf8.encode(text))
  yield* eventually(bounds("REJECTED"), { is: ({ lastSequence }) => lastSequence > before })
})

const asSent: MessageCodec<string> = {
  encode: (text) => ({ data: utf8.encode(text), headers: [] }),
  decode: () => Result.succeed("")
}

/** Asks; the act ends with an answer or a refusal. */
const asking = Effect.fnUntraced(function* (subject: string, text: string) {
  const { ask } = yield* Requests
  yield* Effect.exit(ask({ subject, question: asSent, answer: asSent, timeoutMs: 60_000 }, text))
})

const report = `"kind":"audit-ended","reportId":"0b9a4f3e-0000-4000-8000-000000000000","atMs":1`
const envelope = `"eventSchemaVersion":"1.2.0","occurredAt":"2026-01-01T00:00:00Z"`
// A little less than the broker takes, for what is sent beside it.
const questionBytesMax = 1_000_000

const ofBus = [
  [rejecting, "reports.audit-ended", "@", reportBytesMax],
  [rejecting, "reports.audit-ended", `{${report},"findings":@}`, reportBytesMax],
  [rejecting, "events.queue.paused", "@", envelopeBytesMax],
  [rejecting, "events.queue.paused", `{${envelope},"event":"queue.paused","workItem":@}`, envelopeBytesMax],
  [rejecting, "events.of.others", `{${envelope},"event":7,"details":@}`, envelopeBytesMax],
  [asking, "commands.workitem", "@", questionBytesMax],
  [asking, "commands.workitem", '{"commandId":"a","id":"b","command":@}', questionBytesMax],
  [asking, "pickup.next.smith", '{"phases":@}', questionBytesMax]
] as const

describe("the longest block of a process' loop, beside parsing alone", () => {
  it.live("is bounded on every route that takes a body, whatever the body holds", () =>
    withRoles(({ urls, token }) =>
      Effect.gen(function* () {
        const bearer = { authorization: `Bearer ${token}` }
        for (const tried of syntaxOnce(ofGateway)) {
          yield* attack(urls.get("model-gateway"), { ...tried, bytesMax: gatewayBytesMax(tried) })
        }
        for (const tried of ofGatewayAtMost) yield* attack(urls.get("model-gateway"), tried)
        for (const tried of syntaxOnce(ofFacilitator)) yield* attack(urls.get("payment-verifier"), tried)
        for (const tried of syntaxOnce(ofPipeline))
          yield* attack(urls.get("pipeline-api"), { ...tried, bytesMax: 131_072 }, bearer)
        for (const tried of syntaxOnce(ofConsole))
          yield* attack(urls.get("console"), { ...tried, bytesMax: 524_288 }, bearer)
        for (const tried of syntaxOnce(ofSpeech)) yield* attack(urls.get("speech-api"), tried, bearer)
        for (const { name, text } of hostileBodies("@", 131_072, ["zeros", "empty objects"])) {
          const wire = { method: "POST", url: `${urls.get("pipeline-api")}/workitems`, body: Buffer.from(text) }
          const heard = yield* Effect.promise(() => exchange({ ...wire, headers: bearer }))
          assert.deepStrictEqual([heard.status, heard.text.includes("payload_too_large")], [413, true], name)
        }
      })
    )
  )

  it.live("is bounded for every header, and for forms", () =>
    withRoles(({ urls, token }) =>
      Effect.gen(function* () {
        const bearer = { authorization: `Bearer ${token}` }
        const hold = (name: string, wire: Wire) =>
          Effect.map(
            Effect.promise(() => holdsNothingUp(name, "", () => exchange(wire))),
            (heard) => looksAnswered(name, heard)
          )
        const body = Buffer.from(JSON.stringify({ model: "demo/echo", messages: [{ role: "user", content: "a" }] }))
        for (const header of headerNames) {
          for (const filler of headerFillers) {
            const value = filler
              .repeat(Math.max(1, Math.floor(headerBytesMax / filler.length)))
              .slice(0, headerBytesMax)
            const headers = { [header]: value.trim() }
            const gateway = `${urls.get("model-gateway")}/v1/chat/completions`
            yield* hold(`gateway, ${header}: ${filler}`, { method: "POST", url: gateway, body, headers })
            const voices = `${urls.get("speech-api")}/v1/voices?language=en`
            yield* hold(`speech, ${header}: ${filler}`, {
              method: "GET",
              url: voices,
              body: Buffer.alloc(0),
              headers: { ...bearer, ...headers }
            })
          }
        }
        for (const { text, headers } of forms) {
          const url = `${urls.get("speech-api")}/v1/voices`
          const wire = { method: "POST", url, body: Buffer.from(text), headers: { ...bearer, ...headers } }
          yield* hold(`form: ${text.slice(0, 40)}`, wire)
        }
      })
    )
  )

  it.live("is bounded on a live connection and on the bus, and nothing of a body is read before the token", () =>
    withRoles(({ urls, token }) =>
      Effect.gen(function* () {
        const live = yield* Effect.promise(() =>
          connectLive({ url: urls.get("speech-api") ?? "", token, path: livePath })
        )
        for (const place of [
          "@",
          '{"type":"context.start","context_id":"a","voice_id":@}',
          '{"type":"text","text":@}'
        ]) {
          for (const { name, text } of hostileBodies(place, 65_536)) {
            const act = () => {
              const heard = live.got.length
              live.socket.send(text)
              return live.next(
                (message) => message.type === "error" && live.got.at(-1)?.message === message && live.got.length > heard
              )
            }
            yield* Effect.promise(() => holdsNothingUp(`live: ${name}`, text, act))
          }
        }
        live.socket.terminate()
        const run = Effect.runPromiseWith(yield* Effect.context<Publisher | Requests | StreamReader>())
        for (const [sending, subject, place, bytesMax] of ofBus) {
          for (const { name, text } of hostileBodies(place, bytesMax, few)) {
            yield* Effect.promise(() => holdsNothingUp(`${subject}: ${name}`, text, () => run(sending(subject, text))))
          }
        }
        const guarded = [
          ["pipeline-api", "/workitems"],
          ["console", "/endpoints"],
          ["speech-api", "/v1/audio/speech"]
        ] as const
        for (const [role, path] of guarded) {
          const [body] = hostileBodies("@", 100_000, ["empty objects"])
          const wire = { method: "POST", url: `${urls.get(role)}${path}`, body: Buffer.from(body?.text ?? "") }
          // Nothing is parsed.
          const { status } = yield* Effect.promise(() => holdsNothingUp(path, "", () => exchange(wire)))
          assert.strictEqual(status, 401, path)
        }
      })
    )
  )
})
