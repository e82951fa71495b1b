/** What a test and the traffic in the cluster say to each other; see traffic.ts. */
import type { Survived } from "../containers/chaos.ts"

/** The port that traffic is begun and ended by. */
export const trafficPort = 8_090

export interface TrafficOrder {
  readonly namespace: string
  readonly world: string
  readonly token: string
  readonly busUrl: string
  /** By user of the bus. */
  readonly passwords: Readonly<Record<string, string>>
}

export type Outcome = { readonly survived: Survived } | { readonly failure: string }
