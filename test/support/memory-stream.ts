/** Streams in memory, told apart by their subjects, with a publisher and a reader. A remembered id is stored once. */
import { Effect, Layer, Option, Stream } from "effect"
import { Publisher, type SourceMessage, StreamReader } from "#bus"
import { matches, type Recorder } from "./recorder.ts"

export const memoryStream = ({ call }: Pick<Recorder, "call">) => {
  const messages: Array<SourceMessage> = []
  const remembered = new Map<string, number>()
  let written = 0
  const store = (subject: string, data: Uint8Array, { messageId, headers = [] }: Given = {}) => {
    const known = messageId === undefined ? undefined : remembered.get(messageId)
    if (known !== undefined) return { stream: "a stream", sequence: known, duplicate: true }
    const sequence = (written += 1)
    const header = (name: string) => headers.find(([one]) => one === name)?.[1]
    messages.push({ subject, sequence, storedAtMs: sequence, data, header })
    if (messageId !== undefined) remembered.set(messageId, sequence)
    return { stream: "a stream", sequence, duplicate: false }
  }
  const stored = (...given: Parameters<typeof store>) =>
    call(
      `publish ${given[2]?.messageId ?? given[0]}`,
      Effect.sync(() => store(...given))
    )
  const publisher: Pick<Publisher["Service"], "publish" | "publishRaw"> = {
    publish: (subject, codec, value, options) => stored(subject, codec.encode(value).data, options),
    publishRaw: (subject, data, options) => stored(subject, data, options)
  }
  const of = (subject: string | undefined) =>
    messages.filter((one) => subject === undefined || matches(one.subject, subject))
  const reader: Pick<StreamReader["Service"], "bounds" | "next" | "range" | "countBySubject" | "remove" | "purge"> = {
    bounds: () =>
      Effect.sync(() => ({
        firstSequence: messages[0]?.sequence ?? 1,
        lastSequence: written,
        messages: messages.length
      })),
    next: (_stream, sequence, subject) =>
      Effect.sync(() => Option.fromUndefinedOr(of(subject).find((one) => one.sequence >= sequence))),
    range: (_stream, { fromSequence, toSequence, subject }) =>
      Stream.suspend(() =>
        Stream.fromIterable(of(subject).filter(({ sequence }) => sequence >= fromSequence && sequence <= toSequence))
      ),
    countBySubject: (_stream, filter) =>
      Effect.sync(() =>
        Object.fromEntries(
          [...Map.groupBy(of(filter), ({ subject }) => subject)].map(([name, all]) => [name, all.length])
        )
      ),
    remove: (_stream, sequence) =>
      call(
        `remove ${sequence}`,
        Effect.sync(
          () => void messages.splice(0, messages.length, ...messages.filter((one) => one.sequence !== sequence))
        )
      ),
    purge: (_stream, subject, below = Infinity) =>
      call(
        `purge ${subject} below ${below}`,
        Effect.sync(() => {
          const gone = new Set(of(subject).filter(({ sequence }) => sequence < below))
          const left = messages.filter((one) => !gone.has(one))
          messages.splice(0, messages.length, ...left)
          return gone.size
        })
      )
  }
  return {
    messages,
    store,
    /** As at the end of the broker's memory of ids. */
    forget: () => remembered.clear(),
    layer: Layer.merge(
      Layer.succeed(Publisher, publisher as Publisher["Service"]),
      Layer.succeed(StreamReader, reader as StreamReader["Service"])
    )
  }
}

interface Given {
  readonly messageId?: string | undefined
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]> | undefined
}
