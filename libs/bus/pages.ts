/**
 * Reads what a stream stores in pages, by direct gets: without a consumer, from any replica. What the broker adds to a
 * stored message's headers comes last, so a publisher that sets these headers itself is not believed.
 */
import { createInbox, type Msg, type MsgHdrs } from "@nats-io/nats-core"
import { Effect, Option, Result, Stream } from "effect"
import { isoTime } from "#contracts"
import type { Nats } from "./connection/connection.ts"
import { type BusError, BusRefused, BusUnavailable } from "./errors.ts"
import { header, headerReader } from "./message.ts"

/** A message of the source stream. Time in epoch milliseconds. */
export interface SourceMessage {
  readonly subject: string
  readonly sequence: number
  readonly storedAtMs: number
  /** The very object that was written, if this process wrote it as one that is read back. */
  readonly data: Uint8Array
  /** As the publisher set it. */
  readonly header: (name: string) => string | undefined
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
// Below what a connection buffers without harm.
const pageBytes = 4 * 1_024 * 1_024

/** An empty page where nothing matches. */
export const readPage = (nats: Nats["Service"], stream: string, query: PageQuery): Effect.Effect<Page, BusError> => {
  const operation = `read ${stream}`
  return Effect.flatMap(
    nats.use(operation, () => askPage(nats, stream, query)),
    (answered) => Effect.fromResult(Result.mapError(answered, (failed) => failed(operation)))
  )
}

/** All that a stream stores on a subject, from its beginning to its end. */
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

// Between two messages of a page, and before the first.
const silenceMs = 5_000
// The broker's codes in place of a message.
const status = { endOfPage: 204, nothingThere: 404, nobodyAnswers: 503 } as const

type Answered = Result.Result<Page, (operation: string) => BusError>

const askPage = (nats: Nats["Service"], stream: string, { from, messagesMax, subject }: PageQuery) =>
  new Promise<Answered>((resolve) => {
    const { connection } = nats
    const messages: Array<SourceMessage> = []
    let pending = 0
    const end = (answered: Answered) => {
      clearTimeout(silence)
      subscription.unsubscribe()
      resolve(answered)
    }
    const receive = (error: Error | null, message: Msg) => {
      silence.refresh()
      if (error !== null) return end(unavailable(error.message))
      const found = storedMessage(message)
      if (found === undefined) return end(ended(message, { messages, pending }))
      messages.push(found)
      pending = Number(added(message.headers, header.pending))
    }
    const inbox = createInbox(nats.inboxes)
    const subscription = connection.subscribe(inbox, { callback: receive })
    const silence = setTimeout(() => end(unavailable(`no answer within ${silenceMs} ms`)), silenceMs)
    const batch = Math.min(messagesMax, pageMessagesMax)
    const begin = "seq" in from ? from : { start_time: isoTime(from.storedAtMs) }
    const asked = { ...begin, batch, max_bytes: pageBytes, ...(subject === undefined ? {} : { next_by_subj: subject }) }
    connection.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(asked), { reply: inbox })
  })

const unavailable = (detail: string): Answered =>
  Result.fail((operation) => new BusUnavailable({ operation, detail }))

/** What a page's last message says, which is none of the stream. */
const ended = ({ headers }: Msg, page: Page): Answered => {
  const code = headers?.code ?? 0
  if (code === status.endOfPage || code === status.nothingThere) return Result.succeed(page)
  if (code === status.nobodyAnswers) return unavailable("nobody answers for the stream")
  return Result.fail(
    (operation) => new BusRefused({ operation, detail: headers?.description ?? "an answer without a message", code })
  )
}

/** Undefined for what holds no stored message. A publisher may have stored a status line: it tells nothing here. */
export const storedMessage = ({ headers, data }: Msg): SourceMessage | undefined => {
  const subject = added(headers, header.storedSubject)
  const sequence = Number(added(headers, header.sequence))
  const storedAtMs = Date.parse(added(headers, header.storedAt) ?? "")
  if (subject === undefined || !(sequence > 0) || Number.isNaN(storedAtMs)) return undefined
  return { subject, sequence, storedAtMs, data, header: storedHeaderReader(headers) }
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
