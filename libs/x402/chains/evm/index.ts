/** The exact scheme on EVM chains. */
export { addressOfKey as evmAddressOfKey, readSettlerKey as readEvmKey, signAuthorization } from "./signature.ts"
export type { EvmPayment } from "./payment.ts"
export { chainIdOf as evmChainIdOf } from "./settings.ts"
export { type EvmOptions, type EvmScheme, openEvmScheme } from "./exact-evm.ts"
export { checksummed as checksummedEvmAddress, isWellSpelled as isWellSpelledEvmAddress } from "./encoding.ts"
export { transferWithAuthorization } from "./token.ts"
export { type LeaseEnd, SettlerAccount } from "./SettlerAccount.ts"
export { type Authorization, type TokenDomain } from "./typed-data.ts"
