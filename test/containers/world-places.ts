/** The places and keys of the outside world's parts in its container, known to it and to its starter. */

export const worldPorts = { hooks: 8_080, models: 8_081, evm: 8_545, solana: 8_899 } as const

/** Paths of the receiver: one answers at once, the other takes its time. */
export const everyEvent = "/books"
export const slowEvents = "/slow"
export const slowMs = 4_000

/** Both are signed with it. */
export const hookSecret = "as long as a secret of a test must be"

/** Keys of the chain are derived from it; nothing on it is worth anything. */
export const worldSeed = "a flock of containers"

/** Payers with money, by their names. One call at a time is each one's limit. */
export const payerNames = ["ann", "ben", "cleo", "dan"] as const
export const payerUnits = 100_000_000n

export const payTo = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
export const settlerCount = 2
