/** A chain on this machine, and accounts on it that are worth nothing. */
export { type LocalAccount, localAccount } from "./evm/accounts.ts"
export { askLocal } from "./evm/local-rpc.ts"
export { type LocalChain, type LocalEvmChainOptions, startLocalEvmChain } from "./evm/LocalEvmChain.ts"

/** The chain of Solana is a program: it runs transactions on the thread that it answers on. */
export const solanaProgram = new URL("./solana/main.ts", import.meta.url).pathname
