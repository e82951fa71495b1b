/**
 * Reads a stream's messages in pages, by direct gets: without a consumer, from any replica. The broker appends its own
 * headers last, so a publisher that sets these headers itself is not believed.
 */
import { createInbox, type Msg, type MsgHdrs, type Subscription } from "@nats-io/nats-core"
import { Effect, Option, Stream } from "effect"
import { isoTime } from "#base"
import type { Nats } from "./connection/connection.ts"
import { type BusError, BusRefused, BusUnavailable, toBusError } from "./errors.ts"
import { header, headerReader } from "./message.ts"

/** A message of the source stream. Time in epoch milliseconds. */
export interface SourceMessage {
  readonly subject: string
  readonly sequence: number
  readonly storedAtMs: number
  /** The very object that was written, if this process wrote it as one to be read back. */
  readonly data: Uint8Array
  /** As the publisher set it. */
  readonly header: (name: string) => string | undefined
  /** Of all its headers, the broker's too; none if absent. */
  readonly headerNames?: () => ReadonlyArray<string>
}

export interface PageQuery {
  /** The first message at or after a sequence, or stored at or after a time. */
  readonly from: { readonly seq: number } | { readonly storedAtMs: number }
  readonly messagesMax: number
  readonly subject?: string | undefined
}

export interface Page {
  readonly messages: ReadonlyArray<SourceMessage>
  /** How many more match beyond the page. */
  readonly pending: number
}

/** The most messages of a page. */
export const pageMessagesMax = 256
// Below what a connection can buffer safely.
const pageBytes = 4 * 1_024 * 1_024

/** An empty page where nothing matches. */
export const readPage = (nats: Nats["Service"], stream: string, query: PageQuery): Effect.Effect<Page, BusError> => {
  const operation = `read ${stream}`
  const unavailable = (detail: string) => new BusUnavailable({ operation, detail })
  const asked = askPage(nats, operation, stream, query).pipe(
    Effect.raceFirst(Effect.flatMap(nats.lost, () => unavailable("the connection was lost"))),
    Effect.timeoutOrElse({ duration: pageWithinMs, orElse: () => unavailable(`no answer within ${pageWithinMs} ms`) })
  )
  return nats.whileConnected(operation, asked)
}

/** Everything a stream stores on a subject, from beginning to end. */
export const storedOn = (
  nats: Nats["Service"],
  stream: string,
  subject: string
): Stream.Stream<SourceMessage, BusError> =>
  Stream.paginate(1, (seq) =>
    Effect.map(readPage(nats, stream, { from: { seq }, messagesMax: pageMessagesMax, subject }), (page) => {
      const last = page.messages.at(-1)
      const isMore = last !== undefined && page.pending > 0
      return [page.messages, isMore ? Option.some(last.sequence + 1) : Option.none<number>()] as const
    })
  )

// For a complete page over a slow line.
const pageWithinMs = 5_000
// The broker's codes returned in place of a message.
const status = { endOfPage: 204, notFound: 404, noResponders: 503 } as const

const askPage = (
  { connection, inboxes }: Nats["Service"],
  operation: string,
  stream: string,
  { from, messagesMax, subject }: PageQuery
) =>
  Effect.suspend(() => {
    let subscription: Subscription | undefined
    const asked = Effect.callback<Page, BusError>((resume) => {
      const messages: Array<SourceMessage> = []
      let pending = 0
      const inbox = createInbox(inboxes)
      const receive = (error: Error | null, message: Msg) => {
        if (error !== null) return resume(Effect.fail(toBusError(operation)(error)))
        const found = storedMessage(message)
        if (found === undefined) return resume(ended(operation, message, { messages, pending }))
        messages.push(found)
        pending = Number(added(message.headers, header.pending))
      }
      const begin = "seq" in from ? from : { start_time: isoTime(from.storedAtMs) }
      const batch = Math.min(messagesMax, pageMessagesMax)
      const question = {
        ...begin,
        batch,
        max_bytes: pageBytes,
        ...(subject === undefined ? {} : { next_by_subj: subject })
      }
      // A closed connection throws.
      try {
        subscription = connection.subscribe(inbox, { callback: receive })
        connection.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(question), { reply: inbox })
      } catch (cause) {
        resume(Effect.fail(toBusError(operation)(cause)))
      }
    })
    // However it ends: a leftover subscription would hold its page, here and at the broker.
    return Effect.ensuring(
      asked,
      Effect.sync(() => subscription?.unsubscribe())
    )
  })

/** The result of a page's closing message, which is not part of the stream. */
const ended = (operation: string, { headers }: Msg, page: Page): Effect.Effect<Page, BusError> => {
  const code = headers?.code ?? 0
  if (code === status.endOfPage || code === status.notFound) return Effect.succeed(page)
  const detail = headers?.description ?? "an answer without a message"
  if (code !== status.noResponders) return new BusRefused({ operation, detail, code })
  return new BusUnavailable({ operation, detail: "the stream does not answer" })
}

/** Undefined unless it holds a stored message. A status line that a publisher stored means nothing here. */
export const storedMessage = ({ headers, data }: Msg): SourceMessage | undefined => {
  const subject = added(headers, header.storedSubject)
  const sequence = Number(added(headers, header.sequence))
  const storedAtMs = Date.parse(added(headers, header.storedAt) ?? "")
  if (subject === undefined || !(sequence > 0) || Number.isNaN(storedAtMs)) return undefined
  const headerNames = () => headers?.keys() ?? []
  return { subject, sequence, storedAtMs, data, header: storedHeaderReader(headers), headerNames }
}

/** The value that the broker added. */
const added = (headers: MsgHdrs | undefined, name: string) => headers?.values(name).at(-1)

const addedNames: ReadonlySet<string> = new Set([
  header.source,
  header.storedSubject,
  header.sequence,
  header.storedAt,
  header.lastSequence,
  header.pending
])

const storedHeaderReader = (headers: MsgHdrs | undefined) => {
  const read = headerReader(headers)
  return (name: string) => {
    if (!addedNames.has(name)) return read(name)
    const values = headers?.values(name) ?? []
    return values.length > 1 ? values[0] : undefined
  }
}
