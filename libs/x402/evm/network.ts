/** The name of a chain of this family (CAIP-2, `eip155:8453`) and the number in it. Pure. */

const pattern = /^eip155:([1-9][0-9]{0,15})$/u

/** Nothing for a name of another family. */
export const chainIdOf = (network: string): bigint | undefined => {
  const digits = pattern.exec(network)?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

export const networkOf = (chainId: bigint | number): string => `eip155:${chainId}`
