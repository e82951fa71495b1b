/** Payments for tests around the chains: well-formed, and unsigned. */
import { createHash, randomUUID } from "node:crypto"
import { claimKeyOf, type PaymentNetwork, type PaymentPayload, type PaymentRequirements } from "#payments/contract"
import type { Call, CheckedPayment } from "#payments"

export const testNetwork: PaymentNetwork = {
  Network: "eip155:84532",
  RpcUrls: ["http://127.0.0.1:8545"],
  Asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  AssetSymbol: "USDC",
  AssetName: "USDC",
  AssetVersion: "2",
  AssetDecimals: 6,
  PayTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  Schemes: ["exact"],
  FacilitatorAddresses: [],
  WalletFactories: [],
  RetiringAddresses: [],
  SettlerKeyEnvVars: [],
  Signers: []
}

export const testRequirements: PaymentRequirements = {
  scheme: "exact",
  network: testNetwork.Network,
  amount: "25685",
  asset: testNetwork.Asset,
  payTo: testNetwork.PayTo,
  maxTimeoutSeconds: 600,
  extra: { name: "USDC", version: "2" }
}

export const hex32 = (text: string) => `0x${createHash("sha256").update(text).digest("hex")}`

const payerOf = (name: string) => hex32(`payer ${name}`).slice(0, 42)

export const testPayload = (name: string, payer = "alice"): PaymentPayload => ({
  x402Version: 2,
  accepted: testRequirements,
  payload: {
    signature: `0x${"1b".repeat(65)}`,
    authorization: {
      from: payerOf(payer),
      to: testRequirements.payTo,
      value: testRequirements.amount,
      validAfter: "0",
      validBefore: "4102444800",
      nonce: hex32(name)
    }
  }
})

/** A payment that has passed a scheme's checks. The same name is the same nonce. */
export const checkedPayment = (
  name: string,
  payer = "alice",
  validBeforeMs = Date.now() + 600_000
): CheckedPayment => ({
  network: testRequirements.network,
  asset: testRequirements.asset,
  payer: payerOf(payer),
  payTo: testRequirements.payTo,
  amount: BigInt(testRequirements.amount),
  charge: BigInt(testRequirements.amount),
  claimKey: claimKeyOf({
    network: testRequirements.network,
    asset: testRequirements.asset,
    payer: payerOf(payer),
    nonce: hex32(name)
  }),
  validBeforeMs,
  payload: testPayload(name, payer),
  requirements: testRequirements
})

/** From one caller; each has a ticket of its own. */
export const testCall = (kind: Call["kind"] = "whole", holder = "gateway-1"): Call => ({
  binding: hex32("POST /v1/chat/completions {}").slice(2),
  kind,
  holder,
  ticket: randomUUID()
})
