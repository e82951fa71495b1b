/** What tests do to the local chain: what it loses, hides, and how it stops answering. All is off at first. */
export type Outage =
  | "none"
  /** Takes the call and never answers. */
  | "silent"
  /** Closes the connection without an answer. */
  | "closes"
  /** 503 with a page of HTML, as proxies do. */
  | "page"
  /** A JSON-RPC error that says the node is behind. */
  | "behind"
  /** Does what it is asked, then closes the connection. */
  | "loses answers"

export class Switches {
  outage: Outage = "none"
  /** Methods that the outage is for; empty: all. */
  outageMethods: ReadonlyArray<string> = []
  /** The node has not heard of any transaction. */
  hidesStatuses = false
  /** So many sendings are taken and reach no leader. */
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
