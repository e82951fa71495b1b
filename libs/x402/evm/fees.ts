/**
 * What a settling transaction offers for its gas. Pure. Room for the base fee to double until it is in a block,
 * never above the cap; a chain that asks for more than the cap is one on which nothing is settled for now.
 */

export interface Fees {
  readonly feeMaxWei: bigint
  readonly tipWei: bigint
}

export const feesFor = (baseFeeWei: bigint, tipWei: bigint, capWei: bigint): Fees | undefined => {
  const least = baseFeeWei + tipWei
  if (least > capWei) return undefined
  const wanted = baseFeeWei * 2n + tipWei
  return { feeMaxWei: wanted < capWei ? wanted : capWei, tipWei }
}
