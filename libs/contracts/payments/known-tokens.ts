/**
 * The dollar token of the chains that most payments use: its address, and the name that it signs under. On EVM chains
 * payers sign the token's name and version, which differ from chain to chain; a wrong one makes every signature
 * invalid. Other tokens are taken as configured. The chain itself is asked about all of them.
 */
interface KnownToken {
  /** CAIP-2. */
  readonly network: string
  /** The name that people use for the network. */
  readonly plainName: string
  /** The contract, or the mint. */
  readonly asset: string
  readonly symbol: string
  /** The name in the token's signing domain (EIP-712); on Solana nobody signs it. */
  readonly name: string
  readonly version: string
  readonly decimals: number
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

export const knownTokens: ReadonlyArray<KnownToken> = [
  circles("eip155:1", "ethereum", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
  circles("eip155:10", "optimism", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
  circles("eip155:137", "polygon", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
  circles("eip155:8453", "base", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
  circles("eip155:42161", "arbitrum", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
  circles("eip155:84532", "base-sepolia", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"),
  circles("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
  circles("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "solana-devnet", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU")
]

const byNetwork = new Map(knownTokens.map((token) => [token.network, token]))

export const knownTokenOf = (network: string): KnownToken | undefined => byNetwork.get(network)
