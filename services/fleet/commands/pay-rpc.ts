/** Asks a chain's node what a payer needs to know. One question, one answer, within seconds. */
import { Effect, Schema } from "effect"
import { CommandRefused } from "./connect.ts"

const answerMs = 10_000

/** The method's result in that shape. */
export const askChain = <A>(
  rpcUrl: string,
  method: string,
  params: ReadonlyArray<unknown>,
  result: Schema.Codec<A, unknown>
) => {
  const decode = Schema.decodeUnknownEffect(Schema.Struct({ result }))
  return Effect.tryPromise((signal) =>
    fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    }).then((response) => response.json() as Promise<unknown>)
  ).pipe(
    Effect.flatMap(decode),
    Effect.map((answer) => answer.result),
    Effect.mapError(() => new CommandRefused({ reason: `the chain at ${rpcUrl} does not answer ${method}` }))
  )
}
