/**
 * Headers on the way to and from the client library, and the names the broker itself understands.
 */
import type { MsgHdrs } from "@nats-io/nats-core"
import { MsgHdrsImpl } from "@nats-io/nats-core/internal"

export const header = {
  messageId: "Nats-Msg-Id",
  expectedLastSubjectSequence: "Nats-Expected-Last-Subject-Sequence",
  /** Whose last sequence is meant, when it is not the message's own subject. */
  expectedSubject: "Nats-Expected-Last-Subject-Sequence-Subject",
  rollup: "Nats-Rollup",
  ttl: "Nats-TTL",
  schedule: "Nats-Schedule",
  scheduleTarget: "Nats-Schedule-Target",
  batchId: "Nats-Batch-Id",
  batchSequence: "Nats-Batch-Sequence",
  batchCommit: "Nats-Batch-Commit",
  traceparent: "traceparent"
} as const

export type HeaderPairs = ReadonlyArray<readonly [name: string, value: string]>

const known: ReadonlySet<string> = new Set(Object.values(header))
const isPlain = (value: string) => !/[\r\n]/u.test(value)

/**
 * Builds the client library's headers, which refuse a CR or LF in a value. A name of those above need not be looked at
 * letter by letter, as the library does for each.
 */
export const toHeaders = (pairs: HeaderPairs): MsgHdrs => {
  const built = new MsgHdrsImpl()
  for (const [name, value] of pairs) {
    if (known.has(name) && isPlain(value)) built.headers.set(name, [value.trim()])
    else built.set(name, value)
  }
  return built
}

/** Looks one header up by its exact name. */
export const headerReader = (headers: MsgHdrs | undefined) => (name: string) => {
  if (headers === undefined) return undefined
  for (const [key, values] of headers) if (key === name) return values[0]
  return undefined
}
