/** A process that starts a local chain, prints its pid, and stays until it is killed. */
import { Effect } from "effect"
import { startLocalEvmChain } from "../../../dev/chain/evm/LocalEvmChain.ts"

const hold = Effect.gen(function* () {
  const chain = yield* startLocalEvmChain()
  process.stdout.write(`${chain.pid}\n`)
  return yield* Effect.never
})

await Effect.runPromise(Effect.scoped(hold))
