/** What a test and the traffic in the cluster say to each other; see pod.ts. */
import type { Survived } from "../../containers/chaos.ts"

/** The port that traffic is begun and ended by. */
export const trafficPort = 8_090

/** The user of the bus that reads the books. */
export const reader = "operator"

export interface TrafficOrder {
  readonly namespace: string
  readonly world: string
  readonly token: string
  readonly busUrl: string
  /** Of the user `operator`. The pod has its own for `internal-services`. */
  readonly readerPassword: string
}

export type Outcome = { readonly survived: Survived } | { readonly failure: string }
