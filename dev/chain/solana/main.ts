/**
 * The local Solana chain as a program: `main.ts <seed> <payee's seed> [port]`. It prints its address and its funded
 * accounts in one line of JSON, and runs until it is told to end. It is a process of its own, for it runs transactions
 * on the thread that it answers on.
 */
import { Effect } from "effect"
import { localAccount } from "./accounts.ts"
import { startLocalSolanaChain } from "./LocalSolanaChain.ts"

const [seed = "", payeeSeed = seed, port = "0"] = process.argv.slice(2)

const hold = Effect.gen(function* () {
  const chain = yield* startLocalSolanaChain({ seed, port: Number(port) })
  const payTo = localAccount(payeeSeed, "payee").address
  yield* chain.fund(payTo, 0n)
  const { rpcUrl, network, mint, payer, feePayers } = chain
  process.stdout.write(`${JSON.stringify({ rpcUrl, network, mint, payer, payTo, feePayer: feePayers[0] })}\n`)
  return yield* Effect.never
})

const ending = new AbortController()
process.once("SIGTERM", () => ending.abort())
await Effect.runPromise(Effect.scoped(hold), { signal: ending.signal }).catch((error: unknown) => {
  if (ending.signal.aborted) return
  process.stderr.write(`the local Solana chain did not start: ${String(error)}\n`)
  process.exitCode = 1
})
