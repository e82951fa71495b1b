/**
 * A file to be saved, sent while it is read: with its length, so that a client can show how far it is and
 * tell a whole one from one that broke off. What turns out longer or shorter breaks the connection.
 */
import { Schema, Stream } from "effect"
import type { AnswerOptions } from "./answers.ts"
import { type Bytes, streamAnswer } from "./streaming.ts"

export interface DownloadOptions extends AnswerOptions {
  readonly contentType: string
  /** How long the stream is, known beforehand. */
  readonly bytes: number
  /** What a browser saves it as; without one it may be shown in place. */
  readonly fileName?: string
}

/** A defect: what is read is not as long as we said. */
class WrongLength extends Schema.TaggedError<WrongLength>()("WrongLength", {
  announced: Schema.Int,
  found: Schema.Int
}) {
  override get message() {
    return `${this.announced} bytes were announced, ${this.found} were there`
  }
}

/** Fails with what the stream fails with before its first piece. */
export const downloadAnswer = <E, R>(
  stream: Stream.Stream<Bytes, E, R>,
  { contentType, bytes, fileName, status, headers = {} }: DownloadOptions
) =>
  streamAnswer(ofLength(stream, bytes), {
    ...(status === undefined ? {} : { status }),
    contentType,
    contentBytes: bytes,
    headers: fileName === undefined ? headers : { ...headers, "content-disposition": attachment(fileName) }
  })

/** Dies before the first byte too many, and at an end that comes too early. */
const ofLength = <E, R>(stream: Stream.Stream<Bytes, E, R>, announced: number): Stream.Stream<Bytes, E, R> =>
  Stream.suspend(() => {
    let found = 0
    const wrong = () => Stream.die(new WrongLength({ announced, found }))
    const counted = Stream.flatMap(stream, (piece) => {
      found += piece.length
      return found > announced ? wrong() : Stream.make(piece)
    })
    return Stream.concat(
      counted,
      Stream.suspend(() => (found === announced ? Stream.empty : wrong()))
    )
  })

/** RFC 6266: a name that every client can read, and the true one for those that know RFC 8187. */
const attachment = (fileName: string) => {
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/gu, "_")
  const encoded = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
