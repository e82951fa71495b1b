/**
 * Which entry of a quote the payer signs: the first by an allowed scheme, for the known dollar of an allowed EVM
 * network, for an allowed host. Pure.
 */
import { Result } from "effect"
import { chainFamilyOf, knownTokenOf, type PaymentRequirements, type PaymentSchemeName } from "#payments/contract"
import { decodeQuote, isKnownDollar, type PayQuote } from "#payments"

export interface PayerTerms {
  readonly schemes: ReadonlyArray<PaymentSchemeName>
  /** By CAIP-2; by default every network whose dollar is known. */
  readonly networks: ReadonlyArray<string> | undefined
  /** Whether to pay on networks whose money has real value. */
  readonly isMainnet: boolean
  /** The hosts whose calls are paid for. */
  readonly hosts: ReadonlyArray<string>
}

/** What to sign, or why nothing. `header`: the value of PAYMENT-REQUIRED. */
export const chooseOffer = (header: string | undefined, terms: PayerTerms): Result.Result<PayQuote, string> => {
  const read = decodeQuote(header)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const quote = read.success
  const host = hostOf(quote.resource.url)
  if (!terms.hosts.some((allowed) => isSameHost(allowed, host))) {
    return Result.fail(`the quote is for ${host}, which --allow does not name`)
  }
  const obstacles = quote.accepts.map((entry) => obstacleOf(entry, terms))
  const requirements = quote.accepts[obstacles.indexOf(undefined)]
  if (requirements === undefined)
    return Result.fail(`no way to pay may be taken: ${[...new Set(obstacles)].join("; ")}`)
  return Result.succeed({ requirements, quote, microUsd: BigInt(requirements.amount) })
}

const evmAddress = /^0x[0-9a-fA-F]{40}$/u
// A gateway that refuses a signed payment can still charge it for this long; the longest answers take as long.
const timeoutSecondsMax = 3_600

const obstacleOf = (entry: PaymentRequirements, { schemes, networks, isMainnet }: PayerTerms): string | undefined => {
  const { scheme, network, asset, payTo, maxTimeoutSeconds } = entry
  const token = knownTokenOf(network)
  const name = token?.plainName ?? network
  if (chainFamilyOf(network) !== "evm") return `${name} is no chain of EVM`
  if (!schemes.some((allowed) => allowed === scheme)) return `${scheme} is not allowed by --scheme`
  if (token === undefined || !isKnownDollar(entry)) return `${asset} on ${name} is no dollar that is known`
  if (networks !== undefined && !networks.includes(network)) return `${name} is not allowed by --network`
  if (!evmAddress.test(payTo)) return `${payTo.slice(0, 64)} is no address to pay to`
  if (maxTimeoutSeconds > timeoutSecondsMax)
    return `a payment that is good for ${maxTimeoutSeconds} s may be charged late`
  return token.isTest === true || isMainnet ? undefined : `the dollars of ${name} are real, which takes --mainnet`
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : url.slice(0, 64))

const loopback = ["localhost", "127.0.0.1", "[::1]"]

const isSameHost = (left: string, right: string) =>
  left.toLowerCase() === right.toLowerCase() || (loopback.includes(left) && loopback.includes(right))
