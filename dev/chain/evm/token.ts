/** Calls to the local dollar token that only the local chain needs. Pure. */
import { keccak256OfText, hexOf, addressWord, numberWord } from "#x402/evm-encoding"
const selectorOf = (signature: string) => keccak256OfText(signature).subarray(0, 4)
const mint = selectorOf("mint(address,uint256)")
const transfer = selectorOf("transfer(address,uint256)")

export const mintCall = (to: string, units: bigint) => hexOf(Buffer.concat([mint, addressWord(to), numberWord(units)]))

export const transferCall = (to: string, units: bigint) =>
  hexOf(Buffer.concat([transfer, addressWord(to), numberWord(units)]))
