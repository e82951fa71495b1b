/** Calls of the token that only payers make. */
import { bytesOf } from "../../../../libs/x402/evm/hex.ts"
import { keccak256OfText } from "../../../../libs/x402/evm/keccak.ts"
import { addressWord, numberWord } from "../../../../libs/x402/evm/words.ts"

const selectorOf = (signature: string) => Buffer.from(keccak256OfText(signature).subarray(0, 4))
const cancel = selectorOf("cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)")

export const cancelCall = (authorizer: string, nonce: string, signature: string) => {
  const bytes = bytesOf(signature)
  const v = numberWord(BigInt(bytes[64] ?? 0))
  return Buffer.concat([cancel, addressWord(authorizer), bytesOf(nonce), v, bytes.subarray(0, 64)])
}
