/**
 * The faults that tests switch on in the local chain: what it loses, hides, and how it stops answering. All are off at
 * first.
 */
type Outage =
  | "none"
  /** Accepts the call and never answers. */
  | "silent"
  /** Closes the connection without an answer. */
  | "closes"
  /** 503 with a page of HTML, like a proxy. */
  | "page"
  /** A JSON-RPC error that says the node is behind. */
  | "behind"
  /** Carries out the call, then closes the connection. */
  | "loses answers"

export class Switches {
  outage: Outage = "none"
  /** Methods that the outage affects; empty: all. */
  outageMethods: ReadonlyArray<string> = []
  /** The node knows no transaction's status. */
  hidesStatuses = false
  /** The number of sent transactions that are accepted and reach no leader. */
  sendsLost = 0

  loses(): boolean {
    if (this.sendsLost === 0) return false
    this.sendsLost -= 1
    return true
  }

  outageOf(method: string): Outage {
    const isMeant = this.outageMethods.length === 0 || this.outageMethods.includes(method)
    return isMeant ? this.outage : "none"
  }
}
