/**
 * The families of chains on which payments are taken, one line each: how CAIP-2 names their networks, how they write
 * addresses, and which faults of a configured network are visible without asking its chain.
 */
interface WrittenAddresses {
  readonly Network: string
  readonly Asset?: string | undefined
  readonly PayTo: string
  readonly FeePayer?: string | undefined
}

interface Family {
  /** The part of a CAIP-2 name before the colon. */
  readonly namespace: string
  /** Hex means the same in either case; in base58 the case matters. */
  readonly ignoresCase: boolean
  readonly fault: (network: WrittenAddresses) => string | undefined
}

const evmAddress = /^0x[0-9a-fA-F]{40}$/u

export const chainFamilies = {
  evm: {
    namespace: "eip155",
    ignoresCase: true,
    fault: ({ Network, Asset, PayTo }) => {
      const wrong = [Asset, PayTo].find((address) => address !== undefined && !evmAddress.test(address))
      return wrong === undefined ? undefined : `${wrong} is not an address of ${Network}`
    }
  },
  solana: {
    namespace: "solana",
    ignoresCase: false,
    fault: ({ FeePayer }) =>
      FeePayer === undefined ? "FeePayer is needed: clients name it in what they sign" : undefined
  }
} as const satisfies Readonly<Record<string, Family>>

export type ChainFamily = keyof typeof chainFamilies

const families = Object.keys(chainFamilies) as ReadonlyArray<ChainFamily>

/** The family of a CAIP-2 network. */
export const chainFamilyOf = (network: string): ChainFamily | undefined =>
  families.find((family) => network.startsWith(`${chainFamilies[family].namespace}:`))

/** What is wrong with a configured network. */
export const chainFault = (network: WrittenAddresses): string | undefined => {
  const family = chainFamilyOf(network.Network)
  if (family !== undefined) return chainFamilies[family].fault(network)
  return `only networks of ${families.map((one) => chainFamilies[one].namespace).join(" and ")} are known`
}

/** An account, token or nonce of a network in its one canonical case. */
export const inOneCase = (network: string, text: string): string => {
  const family = chainFamilyOf(network)
  return family !== undefined && chainFamilies[family].ignoresCase ? text.toLowerCase() : text
}

/** Whether both texts name the same account or token of a network. */
export const isSameAddress = (network: string, left: string, right: string): boolean =>
  inOneCase(network, left) === inOneCase(network, right)
