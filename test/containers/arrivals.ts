/** The requests that the containerised receiver got, read in pieces, and compared with the published events. */
import { insist } from "./worker.ts"

export interface Arrival {
  /** The path it came to. */
  readonly endpoint: string
  readonly event: string
  /** The work item, or the sandbox. */
  readonly about: string
  /** Of the event in EVENTS. */
  readonly sequence: number
  readonly delivery: string
  readonly signature: string
  /** The signature is that of this body, by the endpoint's secret. */
  readonly isOurs: boolean
  readonly atMs: number
}

export interface Arrivals {
  /** Everything that has come so far, in its order. */
  readonly all: () => Promise<ReadonlyArray<Arrival>>
}

export const arrivalsAt = (url: string): Arrivals => {
  const known: Array<Arrival> = []
  let reading: Promise<unknown> = Promise.resolve()
  // A connection that the receiver has just closed is no fault of what it received.
  const readOn = () =>
    insist("the receiver's arrivals", async () => {
      const response = await fetch(`${url}/?from=${known.length}`)
      known.push(...((await response.json()) as ReadonlyArray<Arrival>))
      return known
    })
  return {
    all: async () => {
      // Two readers at once would each take the same piece.
      reading = reading.then(readOn, readOn)
      await reading
      return known
    }
  }
}
