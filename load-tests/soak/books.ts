/**
 * Whether what was paid was paid once: receipts, settled claims, and what the payee has on the chain, which began with
 * nothing. Its balance, because the chain forgets the transfers of old blocks.
 */
import { Effect } from "effect"
import type { PaymentRequired } from "#payments/contract"
import { askLocal } from "#dev/chain"
import { paymentAccountsOf } from "#dev/fixtures/payment-accounts"
import type { SoakWorld } from "./world.ts"

const balanceOf = "0x70a08231"
const openStates = new Set<string>(["CLAIMED", "SERVING", "SETTLING"])
const settleWithin = "1 minute"

export const soakBooks = (world: SoakWorld, { accepts: [offer] }: PaymentRequired) =>
  Effect.gen(function* () {
    const asset = (offer?.asset ?? "0x") as `0x${string}`
    const rpc = (method: string, parameters: ReadonlyArray<unknown>) => askLocal(world.chain.rpc, method, parameters)
    const { receipts, claimStates } = yield* paymentAccountsOf({ server: world.bus, chain: { asset, rpc } })
    const payee = (offer?.payTo ?? "").slice(2).toLowerCase().padStart(64, "0")
    const isSettled = Effect.map(claimStates, (states) => states.every((state) => !openStates.has(state)))
    const settled = Effect.gen(function* () {
      while (!(yield* isSettled)) yield* Effect.sleep("200 millis")
    })
    yield* Effect.timeoutOption(settled, settleWithin)
    const balance = yield* rpc("eth_call", [{ to: asset, data: `${balanceOf}${payee}` }, "latest"])
    const claims = yield* claimStates
    const written = (yield* receipts).filter(({ outcome }) => outcome === "settled")
    return {
      collected: Number(BigInt(balance as string)),
      receipted: written.reduce((sum, { amount }) => sum + Number(amount), 0),
      receipts: new Set(written.map(({ claimKey }) => claimKey)).size,
      settled: claims.filter((state) => state === "SETTLED").length,
      open: claims.filter((state) => openStates.has(state)).length
    }
  }).pipe(Effect.scoped, Effect.runPromise)
