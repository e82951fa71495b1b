/**
 * JSON-RPC 2.0 over the configured client, shared by the schemes of all chains: every answer has a deadline and a size
 * cap, and when one node gives no answer, the next in the list is asked. A node's own error is an answer and is not
 * retried; a node that repeatedly gives no answer has its circuit opened for a while. Numbers beyond 2^53 lose their
 * last digits, as in any JSON: read amounts from strings.
 */
import { Clock, Effect, Result, Schema, type Scope } from "effect"
import { ConfiguredHttp, type EgressError, type EgressResponse, type EgressClient } from "#egress"
import {
  afterAttempt,
  afterFailure,
  type Breaker,
  type BreakerLimits,
  breakerWaitMs,
  closedBreaker,
  defineCounter,
  defineGauge,
  defineHistogram,
  Metrics
} from "#runtime"
import { chainUnreachable, openReach } from "../reach.ts"

export type RpcError = RpcRejected | RpcUnavailable

export interface JsonRpc {
  /**
   * `waitMs`: the node answers only when something has happened. A node that does not answer within that time has not
   * failed, and no other node is asked.
   */
  readonly call: (method: string, params: ReadonlyArray<unknown>, waitMs?: number) => Effect.Effect<unknown, RpcError>
  /**
   * Whether a node answers: by the calls of the last ten seconds, else every node is asked, also one whose circuit is
   * open. Fails with the reason.
   */
  readonly reach: (method: string) => Effect.Effect<void, string>
}

export interface JsonRpcOptions {
  /** CAIP-2, for metrics. */
  readonly network: string
  /** Asked in this order; the one that answered last is asked first. */
  readonly urls: ReadonlyArray<string>
  /** For one answer of one node. */
  readonly deadlineMs: number
  readonly connectionsMax: number
}

// The longest answer in use is a page of a thousand signatures, a quarter of this.
const responseBytesMax = 1_048_576

/** When the circuit of a node that does not answer opens: another one may answer, so few failures are enough. */
export const nodeBreakerLimits: BreakerLimits = {
  failuresToOpen: 5,
  failingMsToOpen: 0,
  pauseMsMin: 500,
  pauseMsMax: 15_000
}

const Answer = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.Unknown,
    result: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(
      Schema.Struct({ code: Schema.Finite, message: Schema.String, data: Schema.optionalKey(Schema.Unknown) })
    )
  })
)
const decodeAnswer = Schema.decodeUnknownResult(Answer)
const utf8 = new TextEncoder()
const text = new TextDecoder()

export const openJsonRpc = Effect.fn("openJsonRpc")(function* (
  options: JsonRpcOptions
): Effect.fn.Return<JsonRpc, never, ConfiguredHttp | Metrics | Scope.Scope> {
  const client = yield* (yield* ConfiguredHttp).open({
    use: "chain",
    connectionsPerLaneMax: options.connectionsMax,
    lanesMax: Math.max(1, options.urls.length),
    connectTimeoutMs: options.deadlineMs
  })
  const { network, urls, deadlineMs } = options
  const { askNode, skipped } = nodesOf({ client, network, urls, metrics: yield* Metrics })
  const { note, isProven } = yield* openReach(chainUnreachable, network)
  let first = 0
  let lastId = 0

  const written = (method: string, params: ReadonlyArray<unknown>) => {
    lastId = (lastId + 1) % Number.MAX_SAFE_INTEGER
    return utf8.encode(JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }))
  }
  const call = Effect.fnUntraced(function* (method: string, params: ReadonlyArray<unknown>, waitMs?: number) {
    const body = written(method, params)
    const question = { method, body, deadlineMs: waitMs ?? deadlineMs, isWait: waitMs !== undefined }
    // Becomes an error only at the end: a stack would cost each successful call more than its codec.
    let unavailable: Unavailable | undefined
    for (let tried = 0; tried < urls.length; tried += 1) {
      const index = (first + tried) % urls.length
      const result = yield* askNode(index, question)
      if (result === undefined) continue
      if (isReached(result)) note(true)
      if (Result.isSuccess(result)) {
        first = index
        return result.success
      }
      if (result.failure instanceof RpcRejected || isWaitOver(result)) return yield* result.failure
      const { detail, mayHaveArrived, why } = result.failure
      unavailable = { detail, mayHaveArrived: mayHaveArrived || unavailable?.mayHaveArrived === true, why }
    }
    if (unavailable === undefined) skipped(method)
    if (unavailable?.why !== "too long") note(false)
    const detail = urls.length === 0 ? noNode : allOpen
    return yield* new RpcUnavailable({
      method,
      ...(unavailable ?? { detail, mayHaveArrived: false, why: "unanswered" })
    })
  })
  const reach = Effect.fnUntraced(function* (method: string) {
    if (isProven()) return
    const body = written(method, [])
    const question = { method, body, deadlineMs: Math.min(deadlineMs, reachMsMax), isWait: false, isForced: true }
    const results = yield* Effect.forEach(urls, (_, index) => askNode(index, question), { concurrency: "unbounded" })
    const isAnswered = results.some((result) => result !== undefined && isReached(result))
    note(isAnswered)
    if (!isAnswered) return yield* Effect.fail(`no node answers, of ${urls.length}`)
  })
  return { call, reach }
})

interface Nodes {
  readonly client: EgressClient
  readonly network: string
  readonly urls: ReadonlyArray<string>
  readonly metrics: Metrics["Service"]
}

/** `askNode`: undefined if the node failed too often recently and its circuit is open. `skipped`: for all of them. */
const nodesOf = ({ client, network, urls, metrics }: Nodes) => {
  const calls = metrics.counter(rpcCalls)
  const seconds = metrics.histogram(rpcSeconds)
  const nodesOpen = metrics.gauge(rpcNodesOpen)
  const breakers: Array<Breaker> = urls.map(() => closedBreaker)
  nodesOpen.set({ network }, 0)

  const observed = Effect.fnUntraced(function* (url: string, question: Question) {
    calls.begin({ network, method: question.method })
    const startedAt = yield* Clock.currentTimeNanos
    const result = yield* Effect.result(ask(client, url, question))
    const took = (yield* Clock.currentTimeNanos) - startedAt
    seconds.observe({ network, method: question.method }, Number(took) / 1e9)
    calls.inc({ network, method: question.method, outcome: outcomeOf(result) })
    return yield* Effect.fromResult(result)
  })

  const askNode = Effect.fnUntraced(function* (index: number, question: Question) {
    const before = breakers[index] ?? closedBreaker
    const nowMs = yield* Clock.currentTimeMillis
    if (question.isForced !== true && breakerWaitMs(before, nowMs) > 0) return undefined
    // The call that probes an open breaker has it alone for as long as the call can take.
    breakers[index] = afterAttempt(before, nowMs, question.deadlineMs)
    const result = yield* Effect.result(observed(urls[index] ?? "", question))
    if (isWaitOver(result)) return result
    const after = isReached(result)
      ? closedBreaker
      : afterFailure(breakers[index] ?? before, yield* Clock.currentTimeMillis, nodeBreakerLimits)
    breakers[index] = after
    if (isOpen(after) !== isOpen(before)) nodesOpen.set({ network }, breakers.filter(isOpen).length)
    return result
  })
  const skipped = (method: string) => {
    calls.begin({ network, method })
    calls.inc({ network, method, outcome: "unavailable" })
  }
  return { askNode, skipped }
}

const isOpen = ({ openUntilMs }: Breaker) => openUntilMs !== null

interface Question {
  readonly method: string
  readonly body: Uint8Array
  readonly deadlineMs: number
  readonly isWait: boolean
  /** Asked although the circuit is open. */
  readonly isForced?: boolean
}

type Unavailable = Pick<RpcUnavailable, "detail" | "mayHaveArrived" | "why">

/** The node itself answered, whatever it said. */
const isReached = (result: Result.Result<unknown, RpcError>) =>
  Result.isSuccess(result) || result.failure._tag === "RpcRejected" || result.failure.why === "too long"

const isWaitOver = (result: Result.Result<unknown, RpcError>) =>
  Result.isFailure(result) && result.failure._tag === "RpcUnavailable" && result.failure.why === "wait over"

const ask = (client: EgressClient, url: string, { method, body, deadlineMs, isWait }: Question) =>
  client
    .request({
      method: "POST",
      url,
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body,
      deadlineMs,
      responseBytesMax
    })
    .pipe(
      Effect.mapError(
        (error) =>
          new RpcUnavailable({
            method,
            detail: error.message,
            mayHaveArrived: hadConnection(error),
            why: isWait && error._tag === "DeadlineExceeded" && hadConnection(error) ? "wait over" : "unanswered"
          })
      ),
      Effect.flatMap((response) => Effect.fromResult(read(method, response)))
    )

const read = (method: string, response: EgressResponse): Result.Result<unknown, RpcError> => {
  const unavailable = (detail: string, why: Unavailable["why"] = "unanswered") =>
    Result.fail(new RpcUnavailable({ method, detail, mayHaveArrived: true, why }))
  if (response.truncated) return unavailable(`the answer is longer than ${responseBytesMax} bytes`, "too long")
  if (response.status === 429) return unavailable("the node refuses more calls for now (429)")
  const answer = decodeAnswer(text.decode(response.body))
  if (Result.isFailure(answer)) return unavailable(`status ${response.status} without a JSON-RPC answer`)
  const { error, result } = answer.success
  if (error !== undefined) {
    const { code, data } = error
    const detail = error.message.slice(0, messageUnitsMax)
    if (isNodesOwn(method, code, detail)) return unavailable(`${detail} (${code})`)
    return Result.fail(new RpcRejected({ method, code, detail, data }))
  }
  if (response.status >= 300) return unavailable(`status ${response.status}`)
  return result === undefined ? unavailable("an answer without a result") : Result.succeed(result)
}

// Rules search for words in a node's message, which can be as long as its answer. Real messages are one line.
const messageUnitsMax = 1_024

const reachMsMax = 5_000

const noNode = "no node is configured"
const allOpen = "every node keeps failing; their circuits are open"

/**
 * Too many calls, a node that is behind, or a broken one: another node may answer. For logs: the node found too many.
 */
const isNodesOwn = (method: string, code: number, message: string) =>
  (code === -32_005 && method !== "eth_getLogs") ||
  (code === -32_603 && /^internal (?:server )?error\.?$/iu.test(message))

const hadConnection = (error: EgressError) => {
  if (error._tag === "DeadlineExceeded") return error.phase !== "connect"
  return error._tag === "Unreachable" && (error.reason === "reset" || error.reason === "protocol")
}

const outcomeOf = (result: Result.Result<unknown, RpcError>) => {
  if (Result.isSuccess(result)) return "answered"
  if (isWaitOver(result)) return "waited"
  return result.failure instanceof RpcRejected ? "rejected" : "unavailable"
}

/**
 * No node gave a readable answer: nothing is known about the question's subject. `mayHaveArrived` is false when no node
 * was connected to, so the transaction is certainly not on the chain. `why`: there was no answer; the answer was longer
 * than the limit, and a smaller question may succeed; or the event that the node waits for did not happen in time.
 */
export class RpcUnavailable extends Schema.TaggedError<RpcUnavailable>()("RpcUnavailable", {
  method: Schema.String,
  detail: Schema.String,
  mayHaveArrived: Schema.Boolean,
  why: Schema.Literals(["unanswered", "too long", "wait over"])
}) {
  override get message() {
    return `${this.method}: ${this.detail}`
  }
}

/** A JSON-RPC error object. `data` is the node's addition, read by the caller's own schema. */
export class RpcRejected extends Schema.TaggedError<RpcRejected>()("RpcRejected", {
  method: Schema.String,
  code: Schema.Finite,
  detail: Schema.String,
  data: Schema.Unknown
}) {
  override get message() {
    return `${this.method}: ${this.detail} (${this.code})`
  }
}

/** Calls to the chains' nodes. The network is the CAIP-2 name; the method is one of the few that the schemes use. */
const rpcCalls = defineCounter({
  name: "x402_rpc_calls_total",
  help: "Calls to chain nodes, by network, method and outcome: answered, rejected (a JSON-RPC error), waited (what was waited for did not come in time), unavailable (also when every node's circuit was open and none was asked).",
  labels: ["network", "method", "outcome"],
  values: { outcome: ["answered", "rejected", "waited", "unavailable"] }
})

const rpcSeconds = defineHistogram({
  name: "x402_rpc_seconds",
  help: "From a call to a chain node to its answer or failure, by network and method.",
  labels: ["network", "method"],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const rpcNodesOpen = defineGauge({
  name: "x402_rpc_nodes_open",
  help: "Chain nodes that are left alone for now because they gave no answer again and again, by network.",
  labels: ["network"]
})

export const rpcMetrics = [rpcCalls, rpcSeconds, rpcNodesOpen]
