/**
 * Works around a fault of anvil. It sometimes takes a transaction that arrives while the one before it is put in a
 * block for one that is too early, and holds it for good, with all later ones of the same account: in six of fifteen
 * runs of 2,000, sent 6 to 32 at once. Nodes of public chains do not. A transaction that is still held at two checks in
 * a row although its turn has come is taken out, with those after it, and sent once more unchanged.
 */
import { Effect, Schema } from "effect"
import { readQuantity } from "#payments/evm-encoding"
import type { LocalChainFailed } from "./local-rpc.ts"

type Ask = (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, LocalChainFailed>

// Both together are far below the wait for a payment. A chain is idle for most of its life, and each look costs a
// millisecond of a processor.
const lookEvery = "1 second"
const lookAgainAfter = "250 millis"

const decodeStatus = Schema.decodeUnknownEffect(Schema.Struct({ queued: Schema.String }))
/** Keyed by account, then by nonce in decimals. */
const decodeContent = Schema.decodeUnknownEffect(
  Schema.Struct({
    queued: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Struct({ hash: Schema.String })))
  })
)

/** An account's transactions that are held for later, by nonce, although the first of them is its next. */
interface Stalled {
  readonly from: string
  readonly hashes: ReadonlyArray<string>
}

/** Never ends by itself. */
export const pickUpPassedOver = (ask: Ask): Effect.Effect<never> => {
  let firstBefore: ReadonlySet<string> = new Set()
  const look = Effect.gen(function* () {
    const stalled = yield* stalledIn(ask)
    for (const one of stalled) if (firstBefore.has(one.hashes[0] ?? "")) yield* sendAgain(ask, one)
    firstBefore = new Set(stalled.map(({ hashes }) => hashes[0] ?? ""))
  })
  const pause = Effect.suspend(() => Effect.sleep(firstBefore.size > 0 ? lookAgainAfter : lookEvery))
  // After a pause of the chain, or a block made just now, the check runs again.
  return Effect.forever(Effect.andThen(pause, Effect.ignore(look)))
}

const stalledIn = Effect.fnUntraced(function* (ask: Ask) {
  const stalled: Array<Stalled> = []
  const { queued } = yield* decodeStatus(yield* ask("txpool_status", []))
  if (readQuantity(queued) === 0n) return stalled
  const content = yield* decodeContent(yield* ask("txpool_content", []))
  for (const [from, byNonce] of Object.entries(content.queued)) {
    const next = readQuantity(yield* ask("eth_getTransactionCount", [from, "latest"]))
    const nonces = Object.keys(byNonce).toSorted((left, right) => Number(left) - Number(right))
    const hashes = nonces.flatMap((nonce) => byNonce[nonce]?.hash ?? [])
    if (byNonce[String(next)] !== undefined) stalled.push({ from, hashes })
  }
  return stalled
})

const sendAgain = Effect.fnUntraced(function* (ask: Ask, { from, hashes }: Stalled) {
  const raws = yield* Effect.forEach(hashes, (hash) => ask("eth_getRawTransactionByHash", [hash]))
  yield* ask("anvil_removePoolTransactions", [from])
  // One that cannot be sent any more must not block those behind it.
  yield* Effect.forEach(raws, (raw) => Effect.ignore(ask("eth_sendRawTransaction", [raw])), { discard: true })
})
