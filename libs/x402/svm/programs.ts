/** The programs and instructions that a payment may be made of; their addresses are the same on every Solana network. */
export const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
export const token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
export const associatedTokenProgram = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
export const computeBudgetProgram = "ComputeBudget111111111111111111111111111111"
export const memoProgram = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
/** Wallets put its assertions behind a transfer, to protect their owner from a transaction that does more than it shows. */
export const lighthouseProgram = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95"

/** First byte of the data, by program. */
export const setComputeUnitLimit = 2
export const setComputeUnitPrice = 3
export const transferChecked = 12
