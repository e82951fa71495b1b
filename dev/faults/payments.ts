/** Faults of chains, settlers' keys, facilitators and books. */
import { Effect } from "effect"
import { askLocal } from "#dev/chain"
import { certificateEnding } from "./certificate.ts"
import { type Fault, type Mend } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"
import { shopOf } from "./outside.ts"
import { leaseTaken } from "./planted.ts"

const local = "eip155:84532"

const ask = ({ running }: FaultFleet, method: string, params: ReadonlyArray<unknown>) =>
  Effect.runPromise(askLocal(running.ready.chains.evm.rpc, method, params))

const gauges = async ({ running }: FaultFleet, metric: string) => {
  const text = await (await fetch(`${running.ready.metrics}/metrics`)).text()
  return text.split("\n").filter((line) => line.startsWith(`${metric}{`))
}

const settlersOf = async (fleet: FaultFleet) =>
  (await gauges(fleet, "payment_settler_transactions_left")).flatMap((line) =>
    line.includes(local) ? [/key="([^"]+)"/u.exec(line)?.[1] ?? ""] : []
  )

export const keyIsUnheld: Fault = {
  condition: "PaymentSettlerWithoutKey",
  what: "dead processes keep the leases of a network's keys",
  begin: async (fleet) => {
    const mends: Array<Mend> = []
    for (const address of await settlersOf(fleet)) {
      mends.push(await leaseTaken(fleet, "payment-settler", `settler-key-${local.replace(":", "-")}-${address}`))
    }
    return () => Promise.all(mends.map((mend) => mend()))
  }
}

export const feesEnd: Fault = {
  condition: "PaymentFeesLow",
  what: "a settler's key has no coin left",
  begin: async (fleet) => {
    const [address] = await settlersOf(fleet)
    const before = await ask(fleet, "eth_getBalance", [address, "latest"])
    await ask(fleet, "anvil_setBalance", [address, "0x1"])
    return () => ask(fleet, "anvil_setBalance", [address, before])
  },
  slow: { seenMs: 90_000, why: "balances are asked for once a minute" }
}

/** Money comes that nobody was asked for. */
export const booksDiffer: Fault = {
  condition: "PaymentBooksDiffer",
  what: "the seller's account gets a transfer without a receipt",
  begin: async (fleet) => {
    const { payer, asset } = fleet.running.ready.chains.evm
    const payTo = await sellerOf(fleet)
    const data = `0xa9059cbb${payTo.slice(2).toLowerCase().padStart(64, "0")}${"1".padStart(64, "0")}`
    await ask(fleet, "anvil_impersonateAccount", [payer.address])
    await ask(fleet, "anvil_setBalance", [payer.address, "0xde0b6b3a7640000"])
    await ask(fleet, "eth_sendTransaction", [{ from: payer.address, to: asset, data }])
    await ask(fleet, "anvil_mine", ["0x80"])
    return async () => {
      const { findings } = JSON.parse(await fleet.command("books", "list", "--json")) as Listed
      for (const { id } of findings) await fleet.command("books", "accept", id, "--reason", "a gift")
    }
  }
}

interface Listed {
  readonly findings: ReadonlyArray<{ readonly id: string }>
}

const sellerOf = async ({ running }: FaultFleet) => {
  const body = JSON.stringify({ model: "demo/sold", messages: [{ role: "user", content: "one" }] })
  const init = { method: "POST", headers: { "content-type": "application/json" }, body }
  const quote = await (await fetch(`${running.ready.gateway}/v1/chat/completions`, init)).json()
  const { accepts } = quote as { readonly accepts: ReadonlyArray<{ readonly network: string; readonly payTo: string }> }
  return accepts.find(({ network }) => network === local)?.payTo ?? ""
}

/** The shop starts with other settings of its network. */
const shopIs = (
  condition: string,
  what: string,
  changes: (fleet: FaultFleet) => Readonly<Record<string, unknown>>
): Fault => ({
  condition,
  what,
  begin: async (fleet) => {
    await fleet.pods.shop.restart({
      configuration: shopOf(fleet.outside, { port: fleet.pods.shopPort, network: changes(fleet) })
    })
    return () => fleet.pods.shop.restart()
  }
})

export const tokenIsAnother = shopIs(
  "PaymentTokenMismatch",
  "a network's token is configured with another name",
  () => ({
    AssetName: "Dollars",
    AssetVersion: "1",
    AssetDecimals: 6
  })
)

export const facilitatorIsAway = shopIs(
  "PaymentFacilitatorUnavailable",
  "a facilitator answers 503",
  ({ outside: { facilitator } }) => {
    facilitator.answer(503)
    return { FacilitatorUrl: facilitator.url, SettlerKeyEnvVars: [] }
  }
)

export const nodeIsOut: Fault = {
  condition: "PaymentChainNodeOut",
  what: "the first of a network's two nodes answers 503",
  slow: { seenMs: 60_000, why: "more than ten calls must have failed, of which a quiet shop makes one a second" },
  begin: async ({ outside: { node } }) => {
    node.answer(503)
    return async () => node.answer("well")
  }
}

export const signerIsAway: Fault = {
  condition: "PaymentSignerFailing",
  also: ["StarlingCertificateEnding"],
  what: "the program that signs for a settler's key is away, and our certificate for it ends in three days",
  begin: async ({ home, outside, pods: { shop, shopPort } }) => {
    const { certificate, key } = await certificateEnding(home.folder)
    const signer = {
      Name: "vault",
      Address: outside.chain.settlers[0]?.address,
      Url: outside.facilitator.url.replace("http://127.0.0.1", "https://localhost"),
      TlsCertificateFile: certificate,
      TlsKeyFile: key
    }
    const network = { SettlerKeyEnvVars: [], Signers: ["vault"] }
    const { Payments, ...others } = shopOf(outside, { port: shopPort, network })
    await shop.restart({ configuration: { ...others, Payments: { ...Payments, Signers: [signer] } } })
    return () => shop.restart()
  }
}
