/** What the tests of EVM chains ask to be paid: needs no wallet library, which takes long to load. */
import type { PaymentRequirements } from "#contracts"

export const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
export const payTo = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
export const network = "eip155:84532"

export const requirementsOf = (changes: Partial<PaymentRequirements> = {}): PaymentRequirements => ({
  scheme: "exact",
  network,
  amount: "25685",
  asset,
  payTo,
  maxTimeoutSeconds: 600,
  extra: { name: "USDC", version: "2" },
  ...changes
})
