/**
 * The chains on which payments are accepted. Each family is one line: how CAIP-2 names its networks, how they write
 * addresses, and which faults of a configured network are visible without asking its chain. It also lists the dollar
 * token of the chains that most payments use.
 */

interface WrittenAddresses {
  readonly Network: string
  readonly Asset?: string | undefined
  readonly PayTo: string
  readonly FeePayer?: string | undefined
  readonly FacilitatorAddresses?: ReadonlyArray<string> | undefined
  readonly RetiringAddresses?: ReadonlyArray<string> | undefined
  readonly WalletFactories?: ReadonlyArray<string> | undefined
}

/**
 * The schemes known here. `exact`: the quoted amount is charged. `upto`: the quoted amount is the maximum; the answer's
 * actual cost is charged.
 */
export const paymentSchemes = ["exact", "upto"] as const
export type PaymentSchemeName = (typeof paymentSchemes)[number]

interface Family {
  /** The part of a CAIP-2 name before the colon. */
  readonly namespace: string
  /** Decimals of the chain's own coin. */
  readonly coinDecimals: number
  /** Hex means the same in either case; in base58, case matters. */
  readonly ignoresCase: boolean
  /** Payers sign the token's name and version. */
  readonly signsToken: boolean
  /** One of our accounts pays the chain's fee and is named in what payers sign. */
  readonly hasFeePayer: boolean
  /** The schemes that work on its chains. */
  readonly schemes: ReadonlyArray<PaymentSchemeName>
  readonly fault: (network: WrittenAddresses) => string | undefined
}

const evmNetwork = /^eip155:[1-9][0-9]{0,15}$/u
const evmAddress = /^0x[0-9a-fA-F]{40}$/u

export const chainFamilies = {
  evm: {
    namespace: "eip155",
    coinDecimals: 18,
    ignoresCase: true,
    signsToken: true,
    hasFeePayer: false,
    schemes: ["exact", "upto"],
    fault: ({ Network, Asset, PayTo, FacilitatorAddresses = [], RetiringAddresses = [], WalletFactories = [] }) => {
      if (!evmNetwork.test(Network)) return `${Network} is no network of the form eip155:<chain id>`
      const wrong = [Asset, PayTo, ...FacilitatorAddresses, ...RetiringAddresses, ...WalletFactories].find(
        (address) => address !== undefined && !evmAddress.test(address)
      )
      return wrong === undefined ? undefined : `${wrong} is not an address of ${Network}`
    }
  },
  solana: {
    namespace: "solana",
    coinDecimals: 9,
    ignoresCase: false,
    signsToken: false,
    hasFeePayer: true,
    schemes: ["exact"],
    fault: ({ FeePayer }) =>
      FeePayer === undefined ? "FeePayer is needed: clients name it in what they sign" : undefined
  }
} as const satisfies Readonly<Record<string, Family>>

export type ChainFamily = keyof typeof chainFamilies

const families = Object.keys(chainFamilies) as ReadonlyArray<ChainFamily>
const prefixes = families.map((family) => `${chainFamilies[family].namespace}:`)

export const chainFamilyOf = (network: string): ChainFamily | undefined =>
  families[prefixes.findIndex((prefix) => network.startsWith(prefix))]

/** Decimals of a chain's own coin, in which fees are paid; null for a chain of no known family. */
export const coinDecimalsOf = (network: string): number | null => {
  const family = chainFamilyOf(network)
  return family === undefined ? null : chainFamilies[family].coinDecimals
}

const isOf = (network: string, fact: "ignoresCase" | "signsToken" | "hasFeePayer"): boolean => {
  const family = chainFamilyOf(network)
  return family !== undefined && chainFamilies[family][fact]
}

export const signsToken = (network: string): boolean => isOf(network, "signsToken")

export const hasFeePayer = (network: string): boolean => isOf(network, "hasFeePayer")

/** The schemes that work on a chain. */
export const schemesOf = (network: string): ReadonlyArray<PaymentSchemeName> => {
  const family = chainFamilyOf(network)
  return family === undefined ? [] : chainFamilies[family].schemes
}

/** What is wrong with a configured network. */
export const chainFault = (network: WrittenAddresses): string | undefined => {
  const family = chainFamilyOf(network.Network)
  if (family !== undefined) return chainFamilies[family].fault(network)
  return `only networks of ${families.map((one) => chainFamilies[one].namespace).join(" and ")} are known`
}

/** An account, token or nonce of a network in its one canonical case. */
export const inOneCase = (network: string, text: string): string =>
  isOf(network, "ignoresCase") ? text.toLowerCase() : text

/** Whether both texts name the same account or token of a network. */
export const isSameAddress = (network: string, left: string, right: string): boolean =>
  inOneCase(network, left) === inOneCase(network, right)

interface KnownToken {
  /** CAIP-2. */
  readonly network: string
  /** The common name of the network. */
  readonly plainName: string
  /** The contract, or the mint. */
  readonly asset: string
  readonly symbol: string
  /** The name in the token's signing domain (EIP-712); on Solana it is not signed. */
  readonly name: string
  readonly version: string
  readonly decimals: number
  /** Its dollars are worth nothing. */
  readonly isTest?: true
}

const circles = (network: string, plainName: string, asset: string, name = "USD Coin"): KnownToken => ({
  network,
  plainName,
  asset,
  symbol: "USDC",
  name,
  version: "2",
  decimals: 6
})

/**
 * The dollar token of the chains that most payments use: its address, and the name that it signs under. On EVM chains
 * payers sign the token's name and version, which differ from chain to chain; a wrong one makes every signature
 * invalid. Other tokens are accepted as configured. All of them are verified with the chain itself.
 */
export const knownTokens: ReadonlyArray<KnownToken> = [
  circles("eip155:1", "ethereum", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
  circles("eip155:10", "optimism", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
  circles("eip155:137", "polygon", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
  circles("eip155:8453", "base", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
  circles("eip155:42161", "arbitrum", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
  { ...circles("eip155:84532", "base-sepolia", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"), isTest: true },
  circles("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
  {
    ...circles(
      "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
      "solana-devnet",
      "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"
    ),
    isTest: true
  }
]

const byNetwork = new Map(knownTokens.map((token) => [token.network, token]))

export const knownTokenOf = (network: string): KnownToken | undefined => byNetwork.get(network)
