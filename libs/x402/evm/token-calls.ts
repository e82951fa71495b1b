/** The token's functions and events that settling needs, as call data, selectors and topics. Pure. */
import { bytesOf, type Hex, hexOf } from "./hex.ts"
import { keccak256OfText } from "./keccak.ts"
import type { CurveSignature } from "./curve.ts"
import type { Authorization } from "./typed-data.ts"
import { addressWord, numberWord } from "./words.ts"

const selectorOf = (signature: string) => Buffer.from(keccak256OfText(signature).subarray(0, 4))
const topicOf = (signature: string) => hexOf(keccak256OfText(signature))

const transfer = selectorOf(
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
)
const state = selectorOf("authorizationState(address,bytes32)")
const balance = selectorOf("balanceOf(address)")

export const transferTopic = topicOf("Transfer(address,address,uint256)")
export const authorizationUsedTopic = topicOf("AuthorizationUsed(address,bytes32)")
export const authorizationCanceledTopic = topicOf("AuthorizationCanceled(address,bytes32)")

/** The form with v, r, s: every token with these authorizations has it. Tokens want v as 27 or 28. */
export const transferWithAuthorization = (authorization: Authorization, { bytes, parity }: CurveSignature): Buffer =>
  Buffer.concat([
    transfer,
    addressWord(authorization.from),
    addressWord(authorization.to),
    numberWord(authorization.value),
    numberWord(authorization.validAfter),
    numberWord(authorization.validBefore),
    bytesOf(authorization.nonce),
    numberWord(27n + BigInt(parity)),
    bytes
  ])

export const authorizationState = (from: string, nonce: string): Buffer =>
  Buffer.concat([state, addressWord(from), bytesOf(nonce)])

export const balanceOf = (owner: string): Buffer => Buffer.concat([balance, addressWord(owner)])

/** Call data of what a token says of itself. */
export const tokenQuestions = {
  separator: hexOf(selectorOf("DOMAIN_SEPARATOR()")),
  domain: hexOf(selectorOf("eip712Domain()")),
  name: hexOf(selectorOf("name()")),
  version: hexOf(selectorOf("version()")),
  decimals: hexOf(selectorOf("decimals()"))
} as const satisfies Readonly<Record<string, Hex>>
