/**
 * Calls the local chain, including its own commands (`anvil_*`, `evm_*`). For development and tests: an error or a
 * missing answer is a defect of the program and ends it.
 */
import { Agent, request } from "node:http"
import { Effect, Schema } from "effect"

export class LocalChainFailed extends Schema.TaggedError<LocalChainFailed>()("LocalChainFailed", {
  method: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `the local chain, ${this.method}: ${this.detail}`
  }
}

const Answer = Schema.Struct({
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ message: Schema.String }))
})
const decodeAnswer = Schema.decodeUnknownSync(Answer)

// Generous: the machine may be busy with much else.
const deadlineMs = 10_000

export const askLocal = (
  url: string,
  method: string,
  params: ReadonlyArray<unknown>
): Effect.Effect<unknown, LocalChainFailed> =>
  Effect.tryPromise({
    try: async (signal) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
      const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
      const { result, error } = decodeAnswer(JSON.parse(await post(url, body, within)))
      if (error !== undefined) throw new Error(error.message)
      return result
    },
    catch: (error) => new LocalChainFailed({ method, detail: error instanceof Error ? error.message : String(error) })
  })

const agent = new Agent({ keepAlive: true })

/** Not by `fetch`, whose first call costs a start of the fleet a tenth of a second. */
const post = (url: string, body: string, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }
    const asked = request(url, { method: "POST", headers, agent, signal }, (answer) => {
      const parts: Array<Buffer> = []
      answer.on("data", (part: Buffer) => parts.push(part))
      answer.once("error", reject)
      answer.once("end", () => resolve(Buffer.concat(parts).toString("utf8")))
    })
    asked.once("error", reject)
    asked.end(body)
  })
