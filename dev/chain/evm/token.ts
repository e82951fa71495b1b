/** Calls to the local dollar token that only the local chain needs. Pure. */
import { keccak256OfText } from "../../../libs/x402/evm/keccak.ts"
import { hexOf } from "../../../libs/x402/evm/hex.ts"
import { addressWord, numberWord } from "../../../libs/x402/evm/words.ts"

const selectorOf = (signature: string) => keccak256OfText(signature).subarray(0, 4)
const mint = selectorOf("mint(address,uint256)")
const transfer = selectorOf("transfer(address,uint256)")

export const mintCall = (to: string, units: bigint) => hexOf(Buffer.concat([mint, addressWord(to), numberWord(units)]))

export const transferCall = (to: string, units: bigint) =>
  hexOf(Buffer.concat([transfer, addressWord(to), numberWord(units)]))
