/** Calls of the token that only payers make. */
import { bytesOf, keccak256OfText, addressWord, numberWord } from "../../../../../libs/x402/chains/evm/encoding.ts"
const selectorOf = (signature: string) => Buffer.from(keccak256OfText(signature).subarray(0, 4))
const cancel = selectorOf("cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)")

export const cancelCall = (authorizer: string, nonce: string, signature: string) => {
  const bytes = bytesOf(signature)
  const v = numberWord(BigInt(bytes[64] ?? 0))
  return Buffer.concat([cancel, addressWord(authorizer), bytesOf(nonce), v, bytes.subarray(0, 64)])
}
