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
  /** Payers sign the name and the version of the token. */
  readonly signsToken: boolean
  /** One of our accounts pays the chain's fee and is named in what payers sign. */
  readonly hasFeePayer: boolean
  readonly fault: (network: WrittenAddresses) => string | undefined
}

const evmNetwork = /^eip155:[1-9][0-9]{0,15}$/u
const evmAddress = /^0x[0-9a-fA-F]{40}$/u

export const chainFamilies = {
  evm: {
    namespace: "eip155",
    ignoresCase: true,
    signsToken: true,
    hasFeePayer: false,
    fault: ({ Network, Asset, PayTo }) => {
      if (!evmNetwork.test(Network)) return `${Network} is no network of the form eip155:<chain id>`
      const wrong = [Asset, PayTo].find((address) => address !== undefined && !evmAddress.test(address))
      return wrong === undefined ? undefined : `${wrong} is not an address of ${Network}`
    }
  },
  solana: {
    namespace: "solana",
    ignoresCase: false,
    signsToken: false,
    hasFeePayer: true,
    fault: ({ FeePayer }) =>
      FeePayer === undefined ? "FeePayer is needed: clients name it in what they sign" : undefined
  }
} as const satisfies Readonly<Record<string, Family>>

export type ChainFamily = keyof typeof chainFamilies

const families = Object.keys(chainFamilies) as ReadonlyArray<ChainFamily>

export const chainFamilyOf = (network: string): ChainFamily | undefined =>
  families.find((family) => network.startsWith(`${chainFamilies[family].namespace}:`))

const isOf = (network: string, fact: "ignoresCase" | "signsToken" | "hasFeePayer"): boolean => {
  const family = chainFamilyOf(network)
  return family !== undefined && chainFamilies[family][fact]
}

export const signsToken = (network: string): boolean => isOf(network, "signsToken")

export const hasFeePayer = (network: string): boolean => isOf(network, "hasFeePayer")

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
