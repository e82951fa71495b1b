/** Whether what was paid was paid once: receipts, settled claims and the chain's transfers to who is paid. */
import { Effect } from "effect"
import type { PaymentRequired } from "#contracts"
import { askLocal } from "../../dev/chain/evm/local-rpc.ts"
import { booksOf } from "../../test/support/payment-fleet.ts"
import type { SoakWorld } from "./world.ts"

const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
const openStates = new Set<string>(["CLAIMED", "SERVING", "SETTLING"])
const settleWithin = "1 minute"

export const soakBooks = (world: SoakWorld, { accepts: [offer] }: PaymentRequired) =>
  Effect.gen(function* () {
    const asset = (offer?.asset ?? "0x") as `0x${string}`
    const rpc = (method: string, parameters: ReadonlyArray<unknown>) => askLocal(world.chain.rpc, method, parameters)
    const { receipts, claimStates } = yield* booksOf({ server: { url: world.nats }, chain: { asset, rpc } })
    const to = `0x${(offer?.payTo ?? "").slice(2).toLowerCase().padStart(64, "0")}`
    const isSettled = Effect.map(claimStates, (states) => states.every((state) => !openStates.has(state)))
    const settled = Effect.gen(function* () {
      while (!(yield* isSettled)) yield* Effect.sleep("200 millis")
    })
    yield* Effect.timeoutOption(settled, settleWithin)
    const logs = yield* rpc("eth_getLogs", [{ fromBlock: "0x0", address: asset, topics: [transferTopic, null, to] }])
    const claims = yield* claimStates
    const written = (yield* receipts).filter(({ outcome }) => outcome === "settled")
    return {
      transfers: (logs as ReadonlyArray<unknown>).length,
      receipts: new Set(written.map(({ claimKey }) => claimKey)).size,
      settled: claims.filter((state) => state === "SETTLED").length,
      open: claims.filter((state) => openStates.has(state)).length
    }
  }).pipe(Effect.scoped, Effect.runPromise)
