/**
 * Streams of formats that need no encoder. Each piece leaves as it comes; only a WAV waits for its end,
 * because its header says how long it is.
 */
import { Array, Cause, Effect, Pull, Stream } from "effect"
import { type AudioFormat, fleetRateHz } from "./formats.ts"
import { makeTranscoder } from "./transcode.ts"
import { wavHeader } from "./wav.ts"

export const encodeInProcess = <E, R>(
  format: AudioFormat,
  pcm: Stream.Stream<Int16Array, E, R>,
  onEncoded: (seconds: number) => void
): Stream.Stream<Uint8Array, E, R> => {
  const told = Stream.map(pcm, (piece) => {
    onEncoded(piece.length / fleetRateHz)
    return piece
  })
  return format.codec === "wav" ? asWav(format, told) : pieceByPiece(format, told)
}

type BytesPull<E> = Pull.Pull<Array.NonEmptyReadonlyArray<Uint8Array>, E>

const pieceByPiece = <E, R>(format: AudioFormat, pcm: Stream.Stream<Int16Array, E, R>) =>
  Stream.transformPull(pcm, (pull) =>
    Effect.sync(() => {
      const transcoder = makeTranscoder(format)
      let hasEnded = false
      const nextPieces = pull.pipe(
        Effect.map((pieces): Array<Uint8Array> => pieces.map(transcoder.push)),
        Pull.catchDone(() => {
          hasEnded = true
          return Effect.succeed([transcoder.end()])
        })
      )
      const next: BytesPull<Pull.ExcludeDone<E>> = Effect.suspend(
        (): Pull.Pull<Array<Uint8Array>, Pull.ExcludeDone<E>> => (hasEnded ? Cause.done() : nextPieces)
      ).pipe(
        Effect.flatMap((pieces) => {
          const filled = pieces.filter((piece) => piece.length > 0)
          return Array.isReadonlyArrayNonEmpty(filled) ? Effect.succeed(filled) : next
        })
      )
      return next
    })
  )

const asWav = <E, R>(format: AudioFormat, pcm: Stream.Stream<Int16Array, E, R>) =>
  Stream.unwrap(
    Effect.map(Stream.runCollect(pieceByPiece(format, pcm)), (pieces) => {
      const dataBytes = pieces.reduce((total, piece) => total + piece.length, 0)
      return Stream.fromArray([wavHeader(format.sampleRateHz, dataBytes), ...pieces])
    })
  )
