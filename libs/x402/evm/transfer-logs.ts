/** Transfers and authorizations in the logs of a receipt. Pure. */
import type { Log } from "./EvmNode.ts"
import type { EvmPayment } from "./EvmPayment.ts"
import { isSameAddress, readQuantity } from "./hex.ts"
import { authorizationCanceledTopic, authorizationUsedTopic, transferTopic } from "./token-calls.ts"
import { addressInWord, addressTopic } from "./words.ts"

/** Whether the token itself says that the required transfer was made. */
export const hasTransfer = (logs: ReadonlyArray<Log>, payment: EvmPayment): boolean =>
  logs.some(
    ({ address, topics, data }) =>
      isSameAddress(address, payment.asset) &&
      topics[0] === transferTopic &&
      topics[1] === addressTopic(payment.payer) &&
      topics[2] === addressTopic(payment.payTo) &&
      readQuantity(data) === payment.amount
  )

/** Whether the token itself says that this very authorization was used. */
export const hasUse = (logs: ReadonlyArray<Log>, { asset, payer, authorization }: EvmPayment): boolean =>
  logs.some(
    ({ address, topics }) =>
      isSameAddress(address, asset) &&
      topics[0] === authorizationUsedTopic &&
      topics[1] === addressTopic(payer) &&
      topics[2]?.toLowerCase() === authorization.nonce.toLowerCase()
  )

export interface TransferFacts {
  readonly payer: string
  readonly amount: bigint
  readonly transaction: string
  readonly block: bigint
  readonly logIndex: bigint
}

/** Nothing for a log that is no transfer of fungible tokens. */
export const transferIn = ({
  topics,
  data,
  transactionHash,
  blockNumber,
  logIndex
}: Log): TransferFacts | undefined => {
  const amount = readQuantity(data)
  const from = topics[1]
  if (topics[0] !== transferTopic || topics.length !== 3 || amount === undefined || from === undefined) return undefined
  return {
    payer: addressInWord(from),
    amount,
    transaction: transactionHash,
    block: BigInt(blockNumber),
    logIndex: BigInt(logIndex)
  }
}

/** The event with which an authorization was used up. */
export const authorizationTopics = (payer: string, nonce: string) => [
  [authorizationUsedTopic, authorizationCanceledTopic],
  addressTopic(payer),
  nonce.toLowerCase()
]

export const isCancellation = ({ topics }: Log): boolean => topics[0] === authorizationCanceledTopic
