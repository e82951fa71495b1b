/**
 * `Payments`: the chains on which the gateway is paid, the receiving accounts, and the part of a price that does not
 * depend on the model. Without a network the gateway sells nothing.
 */
import { Schema, SchemaTransformation } from "effect"
import { ChainAddress, EvmAddress, Network } from "./primitives.ts"
import {
  chainFamilyOf,
  chainFault,
  isSameAddress,
  knownTokenOf,
  paymentSchemes,
  schemesOf,
  signsToken
} from "./chains.ts"
import { withdrawDelaySecondsMax, withdrawDelaySecondsMin } from "./channels.ts"
import {
  EnvironmentName,
  FilePath,
  WebUrl,
  optional,
  required,
  section,
  shownAs,
  span,
  whole,
  withDefault
} from "#base"

const ShortText = Schema.String.check(Schema.isBetweenLength(1, 64))

const chainFields = {
  Network: required(Network, "The chain, by CAIP-2."),
  RpcUrls: shownAs("origins")(
    required(
      Schema.Array(WebUrl).check(Schema.isBetweenLength(1, 8)),
      "Nodes, asked in turn: a chain is unavailable only when none answers. Needed also where a facilitator settles."
    )
  )
}

const tokenWhy = {
  Asset:
    "The token's contract, or its mint; without it the dollar token that is known of the chain (docs/payments.md).",
  AssetSymbol: "What the token is called where prices are told; without it by the table of known tokens, or its name.",
  AssetName: "The token's own name, which clients on EVM chains sign. Needed for tokens that are not in the table.",
  AssetVersion: "The token's own version, which they sign too. Needed for tokens that are not in the table.",
  AssetDecimals: "Digits of the token after the point. Needed for tokens that are not in the table."
}

const Decimals = whole(0, 18)
const Variables = Schema.Array(EnvironmentName).check(Schema.isMaxLength(64))
const variablesWhy = "Variables that hold the settlers' keys; only payment-settler reads them."

const SignerName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u))
const SignerNames = Schema.Array(SignerName).check(Schema.isMaxLength(64), Schema.isUnique())
const signersWhy =
  "Settlers' keys that are among Payments.Signers, by their Name; beside SettlerKeyEnvVars. On EVM chains."

const Schemes = Schema.Array(Schema.Literals(paymentSchemes)).check(
  Schema.isBetweenLength(1, paymentSchemes.length),
  Schema.isUnique()
)
const schemesWhy =
  "The ways to pay here, in the order of the quote. Clients take the first that they know, and the oldest know only exact (docs/payments.md)."
const Facilitators = Schema.Array(ChainAddress).check(Schema.isMaxLength(64))
const facilitatorsWhy =
  "The addresses of the settlers' keys, or of the facilitator at FacilitatorUrl. Payers of upto sign one of them: no other account can settle their payment."
const retiringWhy =
  "Settlers' keys on their way out, by address: they settle what payers of upto have signed for them and what they have begun, and nothing new."
const Factories = Schema.Array(ChainAddress).check(Schema.isMaxLength(16))
const factoriesWhy =
  "Contracts that a settler's key may call to deploy the wallet of a payer by upto (ERC-6492). None: a wallet must be deployed before it pays."

const otherFields = {
  PayTo: required(ChainAddress, "Who is paid."),
  FeePayer: optional(ChainAddress, "Who pays the chain's fee on Solana: the address of a settler's key."),
  Schemes: withDefault(Schemes, ["exact"], schemesWhy),
  FacilitatorAddresses: withDefault(Facilitators, [], facilitatorsWhy),
  RetiringAddresses: withDefault(Facilitators, [], retiringWhy),
  WalletFactories: withDefault(Factories, [], factoriesWhy),
  PlainName: optional(ShortText, "How a person calls the chain; without it by the table of known tokens."),
  SettlerKeyEnvVars: withDefault(Variables, [], variablesWhy),
  Signers: withDefault(SignerNames, [], signersWhy),
  FacilitatorUrl: shownAs("origins")(
    optional(
      WebUrl,
      "Somebody else verifies and settles. What they call settled counts once a node of RpcUrls has it on the chain."
    )
  )
}

/** A network as written in the file. Fields that are in the table of known tokens can be omitted. */
const WrittenNetwork = Schema.Struct({
  ...chainFields,
  Asset: optional(ChainAddress, tokenWhy.Asset),
  AssetSymbol: optional(ShortText, tokenWhy.AssetSymbol),
  AssetName: optional(ShortText, tokenWhy.AssetName),
  AssetVersion: optional(ShortText, tokenWhy.AssetVersion),
  AssetDecimals: optional(Decimals, tokenWhy.AssetDecimals),
  ...otherFields
})
interface WrittenNetwork extends Schema.Schema.Type<typeof WrittenNetwork> {}

const CompleteNetwork = Schema.Struct({
  ...chainFields,
  Asset: required(ChainAddress, tokenWhy.Asset),
  AssetSymbol: required(ShortText, tokenWhy.AssetSymbol),
  AssetName: required(ShortText, tokenWhy.AssetName),
  AssetVersion: required(ShortText, tokenWhy.AssetVersion),
  AssetDecimals: required(Decimals, tokenWhy.AssetDecimals),
  ...otherFields,
  Schemes: required(Schemes, schemesWhy),
  FacilitatorAddresses: required(Facilitators, facilitatorsWhy),
  RetiringAddresses: required(Facilitators, retiringWhy),
  WalletFactories: required(Factories, factoriesWhy),
  SettlerKeyEnvVars: required(Variables, variablesWhy),
  Signers: required(SignerNames, signersWhy)
})

const knownOf = ({ Network, Asset }: Pick<WrittenNetwork, "Network" | "Asset">) => {
  const known = knownTokenOf(Network)
  return known !== undefined && isSameAddress(Network, Asset ?? known.asset, known.asset) ? known : undefined
}

type TokenOfNetwork = Pick<
  WrittenNetwork,
  "Network" | "PayTo" | "FeePayer" | "Asset" | "AssetName" | "AssetVersion" | "AssetDecimals"
> &
  Partial<
    Pick<WrittenNetwork, "Schemes" | "FacilitatorAddresses" | "RetiringAddresses" | "WalletFactories" | "Signers">
  >

/** The contradictions within one network. */
export const networkRule = (entry: TokenOfNetwork): ReadonlyArray<Schema.FilterIssue> => {
  const fault = chainFault(entry)
  return [...(fault === undefined ? [] : [fault]), ...unusable(entry), ...untold(entry), ...unsigned(entry)]
}

/** Faults of the keys. */
const unsigned = ({
  Network,
  Signers = [],
  FacilitatorAddresses = [],
  RetiringAddresses = []
}: TokenOfNetwork): ReadonlyArray<Schema.FilterIssue> => {
  const both = RetiringAddresses.find((one) => FacilitatorAddresses.some((other) => isSameAddress(Network, one, other)))
  return [
    ...(Signers.length > 0 && chainFamilyOf(Network) === "solana"
      ? [{ path: ["Signers"], issue: `Signers are keys of EVM chains, and ${Network} is none` }]
      : []),
    ...(both === undefined
      ? []
      : [
          {
            path: ["RetiringAddresses"],
            issue: `${both} is among FacilitatorAddresses too: payers would still sign it`
          }
        ])
  ]
}

/** Faults of the schemes. */
const unusable = ({
  Network,
  Schemes = [],
  FacilitatorAddresses = []
}: TokenOfNetwork): ReadonlyArray<Schema.FilterIssue> => {
  const known = schemesOf(Network)
  // An unreadable part is a fault of its own.
  const readable = Schemes.filter((scheme) => paymentSchemes.includes(scheme))
  const foreign = readable.filter((scheme) => known.length > 0 && !known.includes(scheme))
  const unsettled = Schemes.includes("upto") && FacilitatorAddresses.length === 0
  return [
    ...foreign.map((scheme) => ({ path: ["Schemes"], issue: `${scheme} does not work on ${Network}` })),
    ...(unsettled
      ? [
          {
            path: ["FacilitatorAddresses"],
            issue: "FacilitatorAddresses is needed: payers of upto sign who may settle"
          }
        ]
      : [])
  ]
}

/**
 * Faults of a token that is not in the table. Nothing is guessed: a wrong name makes every payment's signature invalid.
 */
const untold = (entry: TokenOfNetwork): ReadonlyArray<Schema.FilterIssue> => {
  if (knownOf(entry) !== undefined) return []
  const missing = (key: "Asset" | "AssetName" | "AssetVersion" | "AssetDecimals", why: string) =>
    entry[key] === undefined ? [{ path: [key], issue: `${key} is needed: ${why}` }] : []
  if (entry.Asset === undefined) return missing("Asset", `no token of ${entry.Network} is known`)
  const why = `the token ${entry.Asset} of ${entry.Network} is not in the table of known ones`
  const version = signsToken(entry.Network) ? missing("AssetVersion", why) : []
  return [...missing("AssetName", why), ...version, ...missing("AssetDecimals", why)]
}

const completed = (entry: WrittenNetwork): typeof CompleteNetwork.Encoded => {
  const known = knownOf(entry)
  const name = entry.AssetName ?? known?.name ?? ""
  return {
    ...entry,
    Asset: entry.Asset ?? known?.asset ?? "",
    AssetSymbol: entry.AssetSymbol ?? known?.symbol ?? name,
    AssetName: name,
    AssetVersion: entry.AssetVersion ?? known?.version ?? "1",
    AssetDecimals: entry.AssetDecimals ?? known?.decimals ?? 0
  }
}

/** One chain and the token accepted on it. */
export const PaymentNetwork = WrittenNetwork.check(Schema.makeFilter(networkRule)).pipe(
  Schema.decodeTo(
    CompleteNetwork,
    SchemaTransformation.transform({ decode: completed, encode: (entry): WrittenNetwork => entry })
  )
)
export interface PaymentNetwork extends Schema.Schema.Type<typeof PaymentNetwork> {}

/** Networks that are configured twice. */
export const repeatedNetworks = (entries: ReadonlyArray<Pick<PaymentNetwork, "Network">>): ReadonlyArray<string> => {
  const names = entries.map((entry) => entry.Network)
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  return [...repeated].map((name) => `the Network ${name} is configured twice`)
}

const Delay = whole(withdrawDelaySecondsMin, withdrawDelaySecondsMax)

/**
 * A settler's key that is not in the environment: in an encrypted file, or held by another program. Every entry that
 * names it signs with it; only payment-settler opens it.
 */
export const PaymentSigner = Schema.Struct({
  Name: required(SignerName, "By which networks and channels name it."),
  Address: required(EvmAddress, "The address of its key: a file or a program that has another key is refused."),
  KeystoreFile: optional(
    FilePath,
    "A file with its key, encrypted by a password (Web3 Secret Storage, version 3); `starling keys new` makes one."
  ),
  PasswordFile: optional(FilePath, "A file with the password of KeystoreFile; a line break at its end is left out."),
  PasswordEnvVar: optional(EnvironmentName, "The variable that holds the password, in place of PasswordFile."),
  Url: shownAs("origins")(
    optional(
      WebUrl,
      "The program that has the key and signs, by web3signer's interface (eth1); everything before `/api/v1/eth1`. https, or this machine, or PlainHttp."
    )
  ),
  TimeoutSeconds: withDefault(
    span(0.1, 10),
    1,
    "How long one of three tries to have something signed at Url may take. A nonce that is taken for longer than four seconds is filled by an empty transaction."
  ),
  TlsCaFile: optional(
    FilePath,
    "PEM certificates by which the certificate of Url is judged, in place of the system's."
  ),
  TlsCertificateFile: optional(FilePath, "The certificate by which Url knows us, as PEM, with TlsKeyFile."),
  TlsKeyFile: optional(FilePath, "The key of TlsCertificateFile, as PEM."),
  PlainHttp: withDefault(
    Schema.Boolean,
    false,
    "Whether Url may be http on another machine: whoever can reach it, or answer in its place, is then kept out by the network alone."
  )
}).check(Schema.makeFilter((entry) => signerRule(entry)))
export interface PaymentSigner extends Schema.Schema.Type<typeof PaymentSigner> {}

const thisMachine = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u

/** The contradictions within one signer. */
const signerRule = ({
  KeystoreFile,
  PasswordFile,
  PasswordEnvVar,
  Url,
  TlsCertificateFile,
  TlsKeyFile,
  PlainHttp
}: Omit<PaymentSigner, "Name" | "Address" | "TimeoutSeconds">): true | string => {
  if ((KeystoreFile === undefined) === (Url === undefined)) return "needs KeystoreFile or Url, and not both"
  const passwords = [PasswordFile, PasswordEnvVar].filter((one) => one !== undefined).length
  if (KeystoreFile !== undefined && passwords !== 1)
    return "KeystoreFile needs PasswordFile or PasswordEnvVar, and not both"
  if (Url === undefined) return true
  if (passwords > 0) return "a signer at Url has no password here"
  if ((TlsCertificateFile === undefined) !== (TlsKeyFile === undefined)) {
    return "TlsCertificateFile and TlsKeyFile come together"
  }
  const { protocol, hostname } = new URL(Url)
  if (protocol === "https:" || PlainHttp || thisMachine.test(hostname)) return true
  return "Url is http on another machine, where anybody between can have things signed: use https, or say PlainHttp"
}

/** The payment channels of one EVM network. */
export const PaymentChannels = Schema.Struct({
  Network: required(Network, "A network of Networks, on an EVM chain, that settles by keys of ours."),
  ReceiverAuthorizer: required(
    ChainAddress,
    "Whose key signs claims and refunds. It is part of every channel: a channel of another one is no longer taken."
  ),
  AuthorizerKeyEnvVar: optional(EnvironmentName, "The variable that holds its key; only payment-settler reads it."),
  AuthorizerSigner: optional(SignerName, "Its key among Payments.Signers, in place of AuthorizerKeyEnvVar."),
  RetiringAuthorizerKeyEnvVars: withDefault(
    Schema.Array(EnvironmentName).check(Schema.isMaxLength(8)),
    [],
    "Variables with keys of authorizers of before: what their channels owe is still claimed, and nothing new is taken."
  ),
  RetiringAuthorizerSigners: withDefault(SignerNames, [], "The same of keys among Payments.Signers, by their Name."),
  AssetTransferMethod: withDefault(
    Schema.Literals(["eip3009", "permit2"]),
    "eip3009",
    "How deposits are authorized: by the token itself, as dollar tokens of Circle do (`eip3009`), or by Permit2, which any token knows and each payer approves once."
  ),
  WithdrawDelaySeconds: withDefault(
    Delay,
    3_600,
    "How long a payer waits for its money when it withdraws by itself; everything must be claimed meanwhile."
  )
})
export interface PaymentChannels extends Schema.Schema.Type<typeof PaymentChannels> {}

/** The account that sends refunds on an EVM network. */
export const PaymentRefunds = Schema.Struct({
  Network: required(
    Network,
    "Where payments are given back: a network of Networks, on an EVM chain, that settles by keys of ours."
  ),
  Account: required(
    EvmAddress,
    "Which account pays refunds: it holds as much of the token as operators may give back, and needs no coin for fees."
  ),
  KeyEnvVar: optional(EnvironmentName, "The variable that holds the account's key; only payment-settler reads it."),
  Signer: optional(SignerName, "Its key among Payments.Signers, in place of KeyEnvVar.")
})
export interface PaymentRefunds extends Schema.Schema.Type<typeof PaymentRefunds> {}

/** The contradictions between the networks, their channels, refunds and the signers. */
export const paymentsRule = ({
  Networks,
  Channels,
  Refunds = [],
  Signers
}: {
  readonly Refunds?: ReadonlyArray<PaymentRefunds>
  readonly Networks: ReadonlyArray<Pick<PaymentNetwork, "Network" | "FacilitatorUrl" | "Signers">>
  readonly Channels: ReadonlyArray<
    Pick<PaymentChannels, "Network" | "ReceiverAuthorizer" | "AuthorizerKeyEnvVar" | "AuthorizerSigner"> &
      Partial<Pick<PaymentChannels, "RetiringAuthorizerSigners">>
  >
  readonly Signers: ReadonlyArray<Pick<PaymentSigner, "Name" | "Address">>
}): true | string => {
  for (const { Network, ReceiverAuthorizer, AuthorizerKeyEnvVar, AuthorizerSigner } of Channels) {
    const network = Networks.find((one) => one.Network === Network)
    if (network === undefined) return `Channels: ${Network} is not among the Networks`
    if (chainFamilyOf(Network) !== "evm") return `Channels: ${Network} is no EVM chain`
    if (!evmAddressPattern.test(ReceiverAuthorizer))
      return `Channels: ${ReceiverAuthorizer} is not an address of ${Network}`
    if (network.FacilitatorUrl !== undefined) return `Channels: ${Network} is settled by a facilitator`
    if ((AuthorizerKeyEnvVar === undefined) === (AuthorizerSigner === undefined)) {
      return `Channels: ${Network} needs AuthorizerKeyEnvVar or AuthorizerSigner, and not both`
    }
  }
  const fault =
    repeatedNetworks(Channels)[0] ??
    signersFault(Signers, Networks, Channels) ??
    refundsFault(Refunds, Networks, Signers)
  return fault ?? true
}

const refundsFault = (
  refunds: ReadonlyArray<PaymentRefunds>,
  networks: ReadonlyArray<Pick<PaymentNetwork, "Network" | "FacilitatorUrl">>,
  signers: ReadonlyArray<Pick<PaymentSigner, "Name" | "Address">>
): string | undefined => {
  for (const { Network, Account, KeyEnvVar, Signer } of refunds) {
    const network = networks.find((one) => one.Network === Network)
    if (network === undefined) return `Refunds: ${Network} is not among the Networks`
    if (chainFamilyOf(Network) !== "evm") return `Refunds: ${Network} is no EVM chain`
    if (network.FacilitatorUrl !== undefined) return `Refunds: ${Network} is settled by a facilitator`
    if ((KeyEnvVar === undefined) === (Signer === undefined)) {
      return `Refunds: ${Network} needs KeyEnvVar or Signer, and not both`
    }
    const signer = signers.find(({ Name }) => Name === Signer)
    if (Signer !== undefined && signer === undefined) {
      return `Refunds: ${Network} names the signer ${Signer}, which is not among the Signers`
    }
    if (signer !== undefined && !isSameAddress(Network, signer.Address, Account)) {
      return `Refunds: the signer ${Signer} is of ${signer.Address}, not of ${Account}`
    }
  }
  const repeated = repeatedNetworks(refunds)[0]
  return repeated === undefined ? undefined : `Refunds: ${repeated}`
}

type NamingSigners = Partial<Pick<PaymentNetwork, "Signers">> & Pick<PaymentNetwork, "Network">

/** Names given to two signers or to none, and keys that are not the authorizer's. */
const signersFault = (
  signers: ReadonlyArray<Pick<PaymentSigner, "Name" | "Address">>,
  networks: ReadonlyArray<NamingSigners>,
  channels: ReadonlyArray<
    Pick<PaymentChannels, "Network" | "ReceiverAuthorizer" | "AuthorizerSigner"> &
      Partial<Pick<PaymentChannels, "RetiringAuthorizerSigners">>
  >
): string | undefined => {
  const names = signers.map(({ Name }) => Name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) return `Signers: the name ${repeated} is given twice`
  for (const { Network, Signers = [] } of networks) {
    const unknown = Signers.find((name) => !names.includes(name))
    if (unknown !== undefined) return `Networks: ${Network} names the signer ${unknown}, which is not among the Signers`
  }
  for (const { Network, ReceiverAuthorizer, AuthorizerSigner, RetiringAuthorizerSigners = [] } of channels) {
    const named = [...(AuthorizerSigner === undefined ? [] : [AuthorizerSigner]), ...RetiringAuthorizerSigners]
    const unknown = named.find((name) => !names.includes(name))
    if (unknown !== undefined) return `Channels: ${Network} names the signer ${unknown}, which is not among the Signers`
    const signer = signers.find(({ Name }) => Name === AuthorizerSigner)
    if (signer === undefined) continue
    if (!isSameAddress(Network, signer.Address, ReceiverAuthorizer)) {
      return `Channels: the signer ${AuthorizerSigner} is of ${signer.Address}, not of ${ReceiverAuthorizer}`
    }
  }
  return undefined
}

const evmAddressPattern = /^0x[0-9a-fA-F]{40}$/u

const paymentFields = {
  Networks: withDefault(
    Schema.Array(PaymentNetwork).check(Schema.isMaxLength(16), Schema.makeFilter(repeatedNetworks)),
    [],
    "Chains on which the gateway is paid. None: nothing paid is sold."
  ),
  Signers: withDefault(
    Schema.Array(PaymentSigner).check(Schema.isMaxLength(64)),
    [],
    "Settlers' keys that are not in the environment: in encrypted files, or with a program that signs (docs/payments.md)."
  ),
  MaxTimeoutSeconds: withDefault(
    whole(60, 3_600),
    600,
    "How long a quote's authorization may be valid. A stream may last 500 s."
  ),
  FlatFeeUsd: withDefault(span(0, 100), 0.001, "Part of every price."),
  PriceMinUsd: withDefault(span(0, 100), 0.001, "The least that is charged for a call, before the fee."),
  OutputShare: withDefault(span(0, 1), 0.1, "Which part of the tokens that an answer may have is charged."),
  UnpaidNewcomerUsd: withDefault(
    span(0, 10_000),
    0.25,
    "The price of the calls that a payer may have in work, given out or lost unpaid beyond what it has paid before (docs/payments.md). One call of any price is always sold to a payer that has nothing unpaid."
  ),
  UnpaidPayerMaxUsd: withDefault(
    span(0, 1_000_000),
    20,
    "A payer may have so much more unpaid as it has paid before, but never more than this. The most that can be lost to one that empties its wallet meanwhile."
  ),
  UnpaidNewcomersMaxUsd: withDefault(
    span(0, 1_000_000),
    10,
    "What all payers together may have unpaid beyond what each has paid before. The most that wallets made for it can cost in a day: what they lost is forgotten within one."
  ),
  LeaseSeconds: withDefault(
    span(1, 300),
    15,
    "A claim that is not renewed for so long is given up. A settlement that has not ended after twice as long, at most 30 s, is asked for again."
  ),
  KeptHours: withDefault(whole(1, 8_760), 24, "How long an ended claim is kept after its authorization's own end."),
  SettleWaitSeconds: withDefault(span(0.1, 60), 10, "How long an answer that is made waits for the chain."),
  FacilitatorTimeoutSeconds: withDefault(span(0.1, 300), 30, "How long a facilitator may take to answer."),
  Channels: withDefault(
    Schema.Array(PaymentChannels).check(Schema.isMaxLength(16)),
    [],
    "Networks on which calls are also paid by channel: one deposit, then a voucher for each call (docs/payments.md). None: no channels."
  ),
  Refunds: withDefault(
    Schema.Array(PaymentRefunds).check(Schema.isMaxLength(16)),
    [],
    "Networks on which operators give payments back, and from which account (docs/payments.md). None: no refunds."
  ),
  ChannelMirrorSeconds: withDefault(
    span(1, 600),
    120,
    "A voucher is taken while the settlers have watched the chain within so long; far less than any delay of a withdrawal."
  ),
  ChannelUnclaimedMaxUsd: withDefault(
    span(0, 1_000_000),
    20,
    "The most that one channel may owe: a call that could exceed it waits until what was charged before is claimed. More than PaymentSettler.ChannelClaimUsd, at which it is claimed anyway."
  )
}

export const Payments = section(paymentFields, paymentsRule)
export interface Payments extends Schema.Schema.Type<typeof Payments> {}

/** `PaymentVerifier`: how many payments are verified at once, the time limit for one, and the facilitator's API. */
export const PaymentVerifier = section({
  RunningMax: withDefault(whole(1, 10_000), 256, "Payments in work at once in one process."),
  DeadlineSeconds: withDefault(span(0.1, 60), 8, "From a question to its answer; then nobody can say."),
  FacilitatorHost: withDefault(
    Schema.NonEmptyString,
    "127.0.0.1",
    "Where other x402 servers may have payments to us verified and settled."
  ),
  FacilitatorPort: optional(whole(0, 65_535), "Its port; without one nowhere."),
  FacilitatorSettleSeconds: withDefault(
    span(0.1, 85),
    30,
    "How long `/settle` waits for the chain before it answers that it is pending."
  )
})
export interface PaymentVerifier extends Schema.Schema.Type<typeof PaymentVerifier> {}

/** `PaymentSettler`: settlements at once, keys, and how often reconciliation runs. */
export const PaymentSettler = section({
  UnackedMax: withDefault(
    whole(1, 10_000),
    512,
    "Settlements in work of one network, over all processes; payments that wait for a sick chain count."
  ),
  KeysHeldMax: withDefault(
    whole(1, 64),
    4,
    "Keys of one network that one process holds, beside those that FacilitatorAddresses names; what is left is for its twins."
  ),
  ReconcileSeconds: withDefault(span(1, 86_400), 60, "Between two reconciliations of chain and receipts."),
  BooksGraceSeconds: withDefault(
    span(0, 86_400),
    1_800,
    "After so long a receipt must have its transfer in a final block, and a transfer its receipt."
  ),
  SweepSeconds: withDefault(span(0.1, 60), 2, "Between two sweeps of claims whose holders are gone."),
  ChannelWatchSeconds: withDefault(span(0.05, 60), 3, "Between two looks at what payers did with their channels."),
  ChannelClaimSeconds: withDefault(
    span(0.1, 86_400),
    3_600,
    "After so long what was charged of channels is claimed on the chain, many channels in one transaction."
  ),
  ChannelClaimUsd: withDefault(
    span(0, 1_000_000),
    10,
    "It is claimed before that when one channel owes more: what could be lost if nobody claimed within the delay of a withdrawal."
  )
})
export interface PaymentSettler extends Schema.Schema.Type<typeof PaymentSettler> {}
