/**
 * x402, version 2: what a call costs and how a payment is requested, read, claimed, settled and looked up. One folder
 * for each family of chains contains its scheme.
 */
export { type LeaseEnd, SettlerAccount } from "./chains/evm/SettlerAccount.ts"
export {
  checksummed as checksummedEvmAddress,
  isWellSpelled as isWellSpelledEvmAddress
} from "./chains/evm/encoding.ts"
export {
  type CallOutcome,
  type ChannelContract,
  openChannelContract,
  type SeenChannel,
  sweptIn
} from "./chains/evm/channels/ChannelContract.ts"
export {
  channelIdIn,
  channelsAddress,
  claimBatchMessage,
  claimCall,
  depositCall,
  depositCollectorAddress,
  depositNonce,
  permit2CollectorAddress,
  multicallOf,
  refundCall,
  refundMessage,
  settleCall,
  type VoucherClaim
} from "./chains/evm/channels/contract.ts"
export { channelVerifier, type CheckedVoucher, plainSignature, signedDeposit } from "./chains/evm/channels/voucher.ts"
export { openRemoteSigner, type RemoteSigner } from "./chains/evm/RemoteSigner.ts"
export { KeystoreFault, openKeystore, readKeystore, sealKeystore } from "./chains/evm/keystore.ts"
export { type EvmOptions, type EvmScheme, openEvmScheme } from "./chains/evm/exact-evm.ts"
export type { EvmPayment } from "./chains/evm/payment.ts"
export { chainIdOf as evmChainIdOf } from "./chains/evm/settings.ts"
export {
  addressOfKey as evmAddressOfKey,
  type Authorization,
  authorizationMessage,
  localKey as localEvmKey,
  readSettlerKey as readEvmKey,
  signAuthorization
} from "./chains/evm/signature.ts"
export { transferWithAuthorization } from "./chains/evm/token.ts"
export type { UptoEvmScheme } from "./chains/evm/upto/upto-evm.ts"
export { collectByMs, readSettlerKey, statedAmount, statedClaimKey, statedEndMs } from "./chains/families.ts"
export { svmDefaults, type SvmScheme } from "./chains/solana/exact-svm.ts"
export { readSettlerKey as readSvmKey } from "./chains/solana/keys.ts"
export { signTransfer } from "./chains/solana/sign-transfer.ts"
export {
  type Channel,
  ChannelCommand,
  channelReason,
  chargeReceipt,
  depositFault,
  isLapsed,
  leftForgottenMs,
  type LeavingTerms,
  owedOf,
  type OwedReceipt,
  receiptIdOf,
  unclaimedOf,
  withoutAnswer
} from "./channels/channel.ts"
export {
  channelKeyOf,
  type ChannelName,
  channelOrderAnswerCodec,
  channelOrderCodec,
  ChannelRefused,
  Channels
} from "./channels/Channels.ts"
export { ClaimReader, type SeenClaim } from "./claims/ClaimReader.ts"
export {
  type Claim,
  claimOfJob,
  factsOf,
  receiptCodec,
  settlementJobCodec,
  settlementOutcomeCodec,
  toBeSettled,
  verifiedClaim,
  verifyAnswerCodec,
  verifyRequestCodec,
  withFiguresOf
} from "./claims/ClaimStore.ts"
export { claimOptionsOf, Claims, sweepTimesOf } from "./claims/Claims.ts"
export { isGivenOut, type PayerName } from "./claims/PayerStore.ts"
export {
  type LocalSettlement,
  LocalSettlers,
  localSettlers,
  outcomeOfClaim,
  type RequestedSettlement,
  Settlements
} from "./claims/Settlements.ts"
export {
  chargeOf,
  ClaimLost,
  ClaimMove,
  ClaimRecord,
  claimRefusalAnswer,
  ClaimRefused,
  type ClaimState,
  newTicket
} from "./claims/claim.ts"
export { sweepClaims } from "./claims/sweep.ts"
export type { ReadFunds, Call } from "./claims/take-claim.ts"
export {
  ChainMismatch,
  ChainUnavailable,
  codeOf,
  explained,
  PaymentRefused,
  reason as paymentReason,
  SettlementPending,
  SettlementRefused
} from "./errors.ts"
export { type Facilitator, openFacilitator } from "./facilitator/Facilitator.ts"
export { x402Metrics } from "./metrics.ts"
export { openChains, networkChecks, type OpenNetwork, openNetworks, TokenWatch } from "./networks.ts"
export {
  CannotPay,
  type ChainKind,
  decodeQuote,
  isKnownDollar,
  openWallet,
  type Payer,
  type PayQuote,
  type PayScheme,
  readQuote,
  TrialPayers,
  usdText,
  type Wallet,
  type WalletChannels
} from "./wallet/Wallet.ts"
export { channelIdFor, channelPaymentOf, channelRefundOf, type ChannelSigner } from "./wallet/channels.ts"
export {
  bringsPayment,
  decodePayment,
  matchOffer,
  type PaymentHeaders,
  paymentIdentifier,
  readPayment
} from "./payment-header.ts"
export {
  atomicAmount,
  channelOfferOf,
  chargedInputTokens,
  decimalAmount,
  flatPrice,
  facilitatorOf,
  inputTokensOf,
  meteredTariff,
  microUsdOf,
  type Offer,
  offerOf,
  type OutputTokens,
  outputTokensHeaders,
  outputTokensOf,
  type PromptSize,
  requirementsFor,
  type Tariff,
  tariffOf,
  tokenPrice
} from "./quote.ts"
export {
  channelHeaders,
  correctiveQuote,
  exposedHeaders,
  modelResource,
  type PaymentReply,
  type BazaarText,
  paymentRequired,
  type Quote,
  type ReplyShape,
  settledHeaders,
  type SettledPayment,
  settlementFailed,
  unsettledHeaders,
  verificationFailed
} from "./replies.ts"
export type {
  ChainStatus,
  ChainTransfer,
  CheckedPayment,
  PaymentScheme,
  LocalKey,
  PreparedSettlement,
  SettlerKey,
  SettlerLease
} from "./scheme.ts"
export { statedPayer } from "./stated-payer.ts"
