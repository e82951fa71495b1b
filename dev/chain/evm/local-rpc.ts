/**
 * Calls the local chain, including its own commands (`anvil_*`, `evm_*`). For development and tests: an error or a
 * missing answer is a defect of the program and ends it.
 */
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
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
      })
      const { result, error } = decodeAnswer(await response.json())
      if (error !== undefined) throw new Error(error.message)
      return result
    },
    catch: (error) => new LocalChainFailed({ method, detail: error instanceof Error ? error.message : String(error) })
  })
