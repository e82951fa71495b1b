/** Payments as they are said between roles and on the wire. */
export {
  AtomicAmount,
  ChainAddress,
  ClaimKey,
  DecimalWord,
  EvmAddress,
  InstanceName,
  Network,
  Sha256Hex,
  TransactionId
} from "./amounts.ts"
export { type ClaimParts, claimKeyOf, payerKeyOf } from "./claim-key.ts"
export * from "./facilitator.ts"
export { isSameToken, type KnownToken, knownTokenOf, knownTokens } from "./known-tokens.ts"
export * from "./payload.ts"
export * from "./requirements.ts"
export * from "./settlement.ts"
export * from "./verification.ts"
