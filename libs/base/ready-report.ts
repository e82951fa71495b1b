/**
 * The report of `up` when a fleet is ready, on its output and in the home's `ready.json`: all addresses and
 * credentials.
 */
export interface ReadyReport {
  readonly pipeline?: string
  readonly gateway?: string
  readonly speech?: string
  readonly console?: string
  readonly metrics: string
  readonly nats: string
  /** The user of an internal service: internal events, reports and pickup, and nothing else. */
  readonly natsCredentials: { readonly user: string; readonly pass: string }
  readonly token: string
  readonly chains?: ChainsReport
}

/** The facts that a payer on the local chains needs. */
export interface ChainsReport {
  readonly evm?: {
    readonly rpc: string
    readonly chainId: number
    readonly asset: string
    readonly payer: { readonly address: string; readonly privateKey: `0x${string}` }
  }
  readonly solana?: { readonly rpc: string; readonly payer: { readonly address: string; readonly secretKey: string } }
}
