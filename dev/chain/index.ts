/** The chains on this machine, and their worthless accounts. */
export { type LocalAccount, localAccount } from "./evm/accounts.ts"
export { askLocal } from "./evm/local-rpc.ts"
export {
  type LocalChain,
  type LocalEvmChainOptions,
  permit2Address,
  startLocalEvmChain,
  uptoProxyAddress,
  walletFactoryAddress
} from "./evm/LocalEvmChain.ts"

/** Solana's chain is a separate program: it runs transactions on the thread that it answers on. */
export const solanaProgram = new URL("./solana/main.ts", import.meta.url).pathname
