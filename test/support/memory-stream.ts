/** A stream in memory, with its publisher and its reader. An id that is remembered is stored once. */
import { Effect, Layer, Option, Stream } from "effect"
import { Publisher, type SourceMessage, StreamReader } from "#bus"
import type { Recorder } from "./recorder.ts"

const matches = (subject: string, filter: string | undefined) => {
  if (filter === undefined) return true
  const [parts, wanted] = [subject.split("."), filter.split(".")]
  return parts.length === wanted.length && wanted.every((part, at) => part === "*" || part === parts[at])
}

export const memoryStream = ({ call }: Pick<Recorder, "call">) => {
  const messages: Array<SourceMessage> = []
  const remembered = new Map<string, number>()
  const store = (subject: string, data: Uint8Array, messageId?: string) => {
    const known = messageId === undefined ? undefined : remembered.get(messageId)
    if (known !== undefined) return { stream: "a stream", sequence: known, duplicate: true }
    const sequence = (messages.at(-1)?.sequence ?? 0) + 1
    messages.push({ subject, sequence, storedAtMs: sequence, data, header: () => undefined })
    if (messageId !== undefined) remembered.set(messageId, sequence)
    return { stream: "a stream", sequence, duplicate: false }
  }
  const publisher = {
    publish: (subject, codec, value, options) =>
      call(
        `publish ${options?.messageId ?? subject}`,
        Effect.sync(() => store(subject, codec.encode(value).data, options?.messageId))
      )
  } as Pick<Publisher["Service"], "publish">
  const reader = {
    bounds: () =>
      Effect.sync(() => ({
        firstSequence: messages[0]?.sequence ?? 1,
        lastSequence: messages.at(-1)?.sequence ?? 0,
        messages: messages.length
      })),
    next: (_stream, sequence, subject) =>
      Effect.sync(() =>
        Option.fromUndefinedOr(messages.find((one) => one.sequence >= sequence && matches(one.subject, subject)))
      ),
    range: (_stream, { fromSequence, toSequence, subject }) =>
      Stream.suspend(() =>
        Stream.fromIterable(
          messages.filter(
            (one) => one.sequence >= fromSequence && one.sequence <= toSequence && matches(one.subject, subject)
          )
        )
      )
  } as Pick<StreamReader["Service"], "bounds" | "next" | "range">
  return {
    messages,
    store,
    /** As at the end of the broker's memory of ids, which may outlive its messages. */
    forget: () => remembered.clear(),
    layer: Layer.merge(
      Layer.succeed(Publisher, publisher as Publisher["Service"]),
      Layer.succeed(StreamReader, reader as StreamReader["Service"])
    )
  }
}
