/**
 * A provider of models on this machine, in OpenAI's and in Anthropic's wire format: it answers with the last user
 * message, word by word, or with what tools answered; it obeys orders that begin with `!`, forced tools and JSON schemas.
 * Models named `strict`, `strict-claude` and `reasoner` refuse what the providers whose rules they have refuse; all
 * others take any request. It records its calls of models, and which callers left before they had their answer. It keeps only the
 * last thousand calls.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { askedOf } from "./conversation.ts"
import { type Failure, failures, rejection } from "./failures.ts"
import { jsonOf, textAt } from "./json.ts"
import { embeddingsAnswer, type EmbeddingsAsked, imagesAnswer, modelList } from "./openai-shapes.ts"
import { orderOf } from "./orders.ts"
import { type Face, perform, refuse } from "./perform.ts"
import { type Judge, judgeOf } from "./strict/judges.ts"
import { isDisabled } from "./strict/reasoner.ts"
import { failureOf } from "./strict/refusal.ts"
import { setTimeout as after } from "node:timers/promises"

export interface UpstreamCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: unknown
  /** `cancelled`: the caller left before the end. */
  state: "running" | "answered" | "cancelled"
}

export interface LocalUpstream {
  readonly url: string
  readonly calls: ReadonlyArray<UpstreamCall>
}

export interface LocalUpstreamOptions {
  /** 0 takes any free port. */
  readonly port?: number
  /** A key that callers must send; without it any key is accepted. */
  readonly key?: string
}

export const demoModels = [
  "demo/echo",
  "demo/free",
  "demo/nostream",
  "demo/strict",
  "demo/strict-claude",
  "demo/reasoner",
  "demo/picture",
  "demo/embedding"
] as const

const bodyBytesMax = 16 * 1_024 * 1_024
const callsMax = 1_000

export const startLocalUpstream = (options: LocalUpstreamOptions = {}) =>
  Effect.acquireRelease(
    Effect.callback<LocalUpstream & { readonly close: Effect.Effect<void> }, Error>((resume) => {
      const calls: Array<UpstreamCall> = []
      const served = { count: 0 }
      const server = createServer(
        (request, response) => void serve(options, { calls, nth: (served.count += 1) }, request, response)
      )
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(options.port ?? 0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = Effect.callback<void>((done) => {
          server.close(() => done(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, calls, close }))
      })
    }),
    (upstream) => upstream.close
  )

const serve = async (
  { key }: LocalUpstreamOptions,
  { calls, nth }: { readonly calls: Array<UpstreamCall>; readonly nth: number },
  request: IncomingMessage,
  response: ServerResponse
) => {
  const path = (request.url ?? "/").split("?")[0] ?? "/"
  const text = await readBody(request)
  const body = parsed(text)
  const call: UpstreamCall = { path, headers: request.headers, body, state: "running" }
  if (!path.endsWith("/models")) calls.push(call)
  if (calls.length > callsMax) calls.shift()
  const gone = new AbortController()
  response.once("close", () => {
    call.state = response.writableFinished ? "answered" : "cancelled"
    gone.abort()
  })
  const face: Face = /\/messages(?:\/count_tokens)?$/u.test(path) ? "anthropic" : "openai"
  const given = request.headers["x-api-key"] ?? request.headers["authorization"]?.replace(/^Bearer /u, "")
  if (key !== undefined && given !== key) return refuse(response, face, failures.credential)
  if (path.endsWith("/models")) return sendJson(response, modelList(demoModels))
  if (path.endsWith("/images/generations")) return sendImages(response, body, gone.signal)
  if (path.endsWith("/embeddings")) return sendEmbeddings(response, body, gone.signal)
  const asked = askedOf(body)
  const isCount = path.endsWith("/messages/count_tokens")
  if (!path.endsWith("/chat/completions") && !path.endsWith("/messages") && !isCount) {
    return refuse(response, face, { ...failures["model-missing"], message: `Unknown request URL: ${path}` })
  }
  const judge = judgeOf(asked.model)
  const refused = judge === undefined ? undefined : refusedBy(judge, face, body, call.headers, isCount)
  if (refused !== undefined) return refuse(response, face, refused)
  if (isCount && orderOf(asked.message)._tag === "Echo") return sendJson(response, { input_tokens: asked.inputTokens })
  if (asked.isStreamed && asked.model.endsWith("nostream")) {
    return refuse(response, face, { ...rejection("stream"), message: "This model does not stream." })
  }
  const thinks =
    (judge?.thinks === "always" && !isDisabled(jsonOf(body))) || (judge?.thinks === "when asked" && asked.wantsThought)
  const run = { face, asked, order: orderOf(asked.message), nth, thinks, response, gone: gone.signal }
  // A caller that left during a wait gets no answer.
  return perform(run).catch(() => response.destroy())
}

const refusedBy = (
  judge: Judge,
  face: Face,
  body: unknown,
  headers: UpstreamCall["headers"],
  isCount: boolean
): Failure | undefined => {
  const request = jsonOf(body)
  if (judge.face !== face) {
    const message = `The model \`${textAt(request, "model")}\` does not exist or you do not have access to it.`
    return { ...failures["model-missing"], message }
  }
  const found = judge.refusalOf(request, headers, isCount)
  return found === undefined ? undefined : failureOf(found)
}

const sendJson = (response: ServerResponse, body: unknown) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))

/** The prompt may hold orders too. */
const sendImages = async (response: ServerResponse, body: unknown, gone: AbortSignal) => {
  const { prompt, n } = body as { readonly prompt?: string; readonly n?: number }
  const order = orderOf(prompt ?? "")
  if (order._tag !== "Echo") {
    return perform({ face: "openai", asked: askedOf(body), order, nth: 1, thinks: false, response, gone })
  }
  if (order.delayMs > 0) await after(order.delayMs, undefined, { signal: gone }).catch(() => undefined)
  return sendJson(response, imagesAnswer(prompt ?? "", n ?? 1))
}

/** The first input may hold orders too. `!no-usage`, `!drop 1` (a vector too few) and `!floats` (whatever is asked) are its own. */
const sendEmbeddings = async (response: ServerResponse, body: unknown, gone: AbortSignal) => {
  const { input, encoding_format: encoding, dimensions } = body as EmbeddingsAsked
  const first = typeof input === "string" ? input : String(input[0])
  const order = orderOf(first)
  if (order._tag === "Fail" || order._tag === "Status" || order._tag === "Reject" || order._tag === "Hang") {
    return perform({ face: "openai", asked: askedOf(body), order, nth: 1, thinks: false, response, gone })
  }
  if (order._tag === "Echo" && order.delayMs > 0) {
    await after(order.delayMs, undefined, { signal: gone }).catch(() => undefined)
  }
  const isList = first.startsWith("!floats") || encoding !== "base64"
  const answer = embeddingsAnswer(body as EmbeddingsAsked, { isBase64: !isList, dimensions: dimensions ?? 8 })
  if (order._tag === "NoUsage") return sendJson(response, { ...answer, usage: undefined })
  return sendJson(response, order._tag === "Break" ? { ...answer, data: answer.data.slice(1) } : answer)
}

const readBody = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

const parsed = (text: string): unknown => {
  try {
    return text === "" ? {} : (JSON.parse(text) as unknown)
  } catch {
    return {}
  }
}
