/** The bounds of a listener. Every one acts before a handler sees the request. */
export interface ListenerLimits {
  readonly connectionsMax: number
  /** All headers of a request together. */
  readonly headerBytesMax: number
  readonly headersTimeoutMs: number
  /** For the whole request, its body included. */
  readonly requestTimeoutMs: number
  /** How long a connection may wait for its next request. */
  readonly idleMs: number
  /** How long a reader may take nothing at all of what waits for it. */
  readonly stallMs: number
  /** Requests sent ahead on a connection; they are answered one after the other. */
  readonly pipelinedMax: number
  /** How long a drain waits for what runs. Below what Drain grants, so that the cut is ours. */
  readonly drainMs: number
}

export const listenerLimits: ListenerLimits = {
  connectionsMax: 4_096,
  headerBytesMax: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  // Longer than the minute that load balancers commonly keep theirs, so that they close first.
  idleMs: 75_000,
  stallMs: 60_000,
  pipelinedMax: 16,
  drainMs: 25_000
}
