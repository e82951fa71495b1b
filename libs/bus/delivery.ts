/**
 * Where a message stands in its stream and in its consumer, told by the subject that it is acked on. Read by hand: the
 * client library makes more of it than of the message. Pure.
 */
export interface Delivery {
  readonly streamSequence: number
  /** Counts the deliveries of the consumer, without a gap. */
  readonly deliverySequence: number
  readonly storedAtMs: number
}

// `$JS.ACK.<stream>.<consumer>.<times>.<stream sequence>.<delivery sequence>.<nanoseconds>.<pending>`; since 2.15
// with domain and account before the stream.
const tokensOfOld = 9
const tokensBefore = 2

/** Nothing for what is no message of a consumer. */
export const deliveryOf = (ackSubject: string): Delivery | undefined => {
  if (!ackSubject.startsWith("$JS.ACK.")) return undefined
  const tokens = ackSubject.split(".")
  if (tokens.length < tokensOfOld) return undefined
  const first = tokens.length === tokensOfOld ? 0 : tokensBefore
  const streamSequence = Number(tokens[first + 5])
  const deliverySequence = Number(tokens[first + 6])
  const storedAtMs = Number(tokens[first + 7]) / 1e6
  return streamSequence > 0 && deliverySequence > 0 && storedAtMs >= 0
    ? { streamSequence, deliverySequence, storedAtMs }
    : undefined
}
