/** The messages, records and settings of payments, as data. */
export {
  BookChannel,
  BookFinding,
  BooksAnswer,
  BooksOrder,
  BookState,
  canBeMended,
  type FindingEnd,
  findingEnds,
  FindingId,
  type FindingKind,
  findingKinds,
  findingPartsMax
} from "./books.ts"
export {
  chainFamilies,
  type ChainFamily,
  chainFamilyOf,
  coinDecimalsOf,
  hasFeePayer,
  inOneCase,
  isSameAddress,
  knownTokenOf,
  knownTokens,
  type PaymentSchemeName,
  paymentSchemes
} from "./chains.ts"
export {
  ChannelConfig,
  ChannelOrder,
  ChannelOrderAnswer,
  ChannelPayload,
  channelScheme,
  ChannelSettlement,
  ChannelWatch,
  DepositAuthorization,
  Voucher,
  withdrawDelaySecondsMax,
  withdrawDelaySecondsMin
} from "./channels.ts"
export {
  AnswerKind,
  ClaimFacts,
  PaymentCode,
  paymentCodes,
  Receipt,
  SettlementJob,
  SettlementOutcome,
  VerifyAnswer,
  VerifyRequest
} from "./messages.ts"
export {
  addressKeyOf,
  addressToken,
  AtomicAmount,
  ChainAddress,
  ClaimKey,
  claimKeyOf,
  EvmAddress,
  InstanceName,
  Network,
  payerKeyOf,
  Sha256Hex,
  TransactionId
} from "./primitives.ts"
export { Refund, RefundAnswer, RefundedPayment, RefundKey, RefundOrder, refundsMax, refundStates } from "./refunds.ts"
export {
  networkRule,
  PaymentChannels,
  PaymentNetwork,
  PaymentRefunds,
  Payments,
  PaymentSettler,
  PaymentSigner,
  PaymentVerifier,
  repeatedNetworks
} from "./settings.ts"
export {
  ChannelFacilitatorRequest,
  Eip2612Approval,
  ExactEvmPayload,
  ExactSvmPayload,
  FacilitatorRequest,
  PaymentPayload,
  PaymentRequired,
  PaymentRequirements,
  ResourceInfo,
  SettleResponse,
  SupportedResponse,
  UptoEvmPayload,
  VerifyResponse,
  signedSchemes,
  x402Version
} from "./x402.ts"
