/**
 * Formats without an encoder are made in this process. Each piece leaves as it comes; only a WAV waits for its end,
 * because its header contains its length.
 */
import { Array, Cause, Effect, Pull, Stream } from "effect"
import { speechSampleRateHz } from "#contracts"
import { type AudioFormat, paddedSamples } from "../formats.ts"
import { makeResampler } from "../resample.ts"
import { concatPcm, encodeMulaw, pcmToBytes, wavHeader } from "../samples.ts"

export const encodeInProcess = <E, R>(
  format: AudioFormat,
  pcm: Stream.Stream<Int16Array, E, R>,
  onEncoded: (seconds: number) => void
): Stream.Stream<Uint8Array, E, R> => {
  const counted = Stream.map(pcm, (piece) => {
    onEncoded(piece.length / speechSampleRateHz)
    return piece
  })
  return format.codec === "wav" ? asWav(format, counted) : pieceByPiece(format, counted)
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

export interface PaddedResampler {
  readonly push: (pcm: Int16Array) => Int16Array
  /** The rest, with silence up to the format's grid. */
  readonly end: () => Int16Array
}

/** The fleet's PCM at another rate, padded to the format's grid. */
export const paddedResampler = (format: AudioFormat): PaddedResampler => {
  const resampler = makeResampler(speechSampleRateHz, format.sampleRateHz)
  let total = 0
  return {
    push: (pcm) => {
      total += pcm.length
      return resampler.push(pcm)
    },
    end: () => {
      const silence = resampler.push(new Int16Array(paddedSamples(format, total) - total))
      return concatPcm([silence, resampler.flush()])
    }
  }
}

interface Transcoder {
  readonly push: (pcm: Int16Array) => Uint8Array
  readonly end: () => Uint8Array
}

/** PCM of the fleet as PCM or mu-law of another rate. */
const makeTranscoder = (format: AudioFormat): Transcoder => {
  const resampler = paddedResampler(format)
  const toBytes = format.codec === "ulaw" ? encodeMulaw : pcmToBytes
  return { push: (pcm) => toBytes(resampler.push(pcm)), end: () => toBytes(resampler.end()) }
}
