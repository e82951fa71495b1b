/**
 * Encoders: PCM of the fleet in, bytes of a format out, at the reader's pace. One encoder per answer, flushed to the
 * last sample and padded with silence to the format's grid (`paddedSamples` gives the length); it ends with the stream,
 * however the stream ends. Only the WAV is buffered.
 */
import { Array, Cause, Context, Effect, Layer, Pull, Scope, Stream } from "effect"
import { speechSampleRateHz } from "#speech/contract"
import type { AudioError } from "../errors.ts"
import { type AudioFormat, paddedSamples } from "../formats.ts"
import { makeFlacEncoder } from "../flac.ts"
import { makeResampler } from "../resample.ts"
import { concatPcm, encodeAlaw, encodeMulaw, pcmToBytes, wavHeader } from "../samples.ts"
import { mp3InfoFrame } from "./frames.ts"
import type { LossyEncoder } from "./lossy-encoder.ts"
import { encoderPlan, type EncoderPlan, isLossy, type LossyCodec } from "./plan.ts"
import { FfmpegPool, type FfmpegPoolOptions } from "./pool.ts"

/** The listener to the encoded audio. */
export interface EncoderListener {
  /** Gets the seconds of audio in each run of bytes, before the reader takes them. */
  readonly got: (seconds: number) => void
  /**
   * The audio that it has received and not played yet: of all encoders, the one whose listener has the least comes
   * first.
   */
  readonly bufferedMs: () => number
  /** False while what it got is held back until there is more: then it comes before all that others hear later. */
  readonly isPlaying: () => boolean
}

const noListener: EncoderListener = { got: () => {}, bufferedMs: () => 0, isPlaying: () => true }

export class Encoders extends Context.Service<
  Encoders,
  {
    readonly encode: <E, R>(
      format: AudioFormat,
      pcm: Stream.Stream<Int16Array, E, R>,
      listener?: EncoderListener
    ) => Stream.Stream<Uint8Array, E | AudioError, R>
  }
>()("starling/speech/Encoders") {
  static readonly layerNoDeps = Layer.effect(
    Encoders,
    Effect.map(FfmpegPool, (pool) =>
      Encoders.of({
        encode: (format, pcm, listener = noListener) => {
          const { codec } = format
          if (!isLossy(codec)) return encodeInProcess(format, pcm, listener.got)
          return encodeWithFfmpeg(pool, { format: { ...format, codec }, listener }, pcm)
        }
      })
    )
  )
  static readonly layer = (options?: FfmpegPoolOptions) =>
    Encoders.layerNoDeps.pipe(Layer.provide(FfmpegPool.layer(options)))
}

// Half a second, a frame of the bus: it takes an encoder 1.5 ms, and each piece costs two messages between processes.
const pieceSamplesMax = 12_000

type PcmPull<E> = Pull.Pull<Array.NonEmptyReadonlyArray<Int16Array>, E>
type BytesPull<E> = Pull.Pull<Array.NonEmptyReadonlyArray<Uint8Array>, E>

interface LossyAnswer {
  readonly format: AudioFormat & { readonly codec: LossyCodec }
  readonly listener: EncoderListener
}

/**
 * A stream through one encoder. The encoder is taken when the stream starts; it is killed if the stream fails or is
 * interrupted, and returned after a complete delivery.
 */
const encodeWithFfmpeg = <E, R>(
  pool: FfmpegPool["Service"],
  { format, listener }: LossyAnswer,
  pcm: Stream.Stream<Int16Array, E, R>
): Stream.Stream<Uint8Array, E | AudioError, R> => {
  const plan = encoderPlan(format.codec, format.sampleRateHz, format.bitrateKbps)
  return Stream.transformPull(pcm, (pull, scope) =>
    encoding({ pool, plan, resampler: paddedResampler(format), listener }, pull, scope)
  )
}

interface Encoding {
  readonly pool: FfmpegPool["Service"]
  readonly plan: EncoderPlan
  readonly resampler: PaddedResampler
  readonly listener: EncoderListener
}

const encoding = Effect.fnUntraced(function* <E>(
  { pool, plan, resampler, listener }: Encoding,
  pull: PcmPull<E>,
  scope: Scope.Scope
): Effect.fn.Return<BytesPull<Pull.ExcludeDone<E> | AudioError>, AudioError> {
  const encoder = yield* Scope.provide(pool.take(plan), scope)
  let fault: Cause.Cause<Pull.ExcludeDone<E>> | undefined
  const write = (pcm: Int16Array) => encoder.write(pcm, listener)
  yield* feed(pull, resampler, write).pipe(
    Effect.andThen(encoder.finish),
    Effect.catchCause((cause) =>
      Effect.sync(() => {
        fault = cause
        encoder.process.kill()
      })
    ),
    Effect.forkIn(scope)
  )
  // An encoder that was killed because its source failed reports another failure.
  const next: BytesPull<Pull.ExcludeDone<E> | AudioError> = Effect.catchCause(
    takeFrames(plan, encoder, listener.got),
    (cause) => Effect.failCause<Pull.ExcludeDone<E> | AudioError | Cause.Done<void>>(fault ?? cause)
  )
  return next
})

const feed = Effect.fnUntraced(function* <E>(
  pull: PcmPull<E>,
  resampler: PaddedResampler,
  write: (pcm: Int16Array) => Effect.Effect<void>
): Effect.fn.Return<void, Pull.ExcludeDone<E>> {
  const more = pull.pipe(Pull.catchDone(() => Effect.succeed([])))
  for (let pieces = yield* more; pieces.length > 0; pieces = yield* more) {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at += pieceSamplesMax) {
        yield* write(resampler.push(piece.subarray(at, at + pieceSamplesMax)))
      }
    }
  }
  yield* write(resampler.end())
})

const takeFrames = (
  plan: EncoderPlan,
  encoder: LossyEncoder,
  onEncoded: (seconds: number) => void
): BytesPull<AudioError> => {
  let isFirst = true
  let samples = encoder.encodedSamples()
  return Effect.flatMap(encoder.read, (bytes) => {
    if (bytes === null) return Cause.done()
    onEncoded((encoder.encodedSamples() - samples) / plan.rateHz)
    samples = encoder.encodedSamples()
    const delay = isFirst ? plan.infoDelaySamples : null
    isFirst = false
    const pieces: Array.NonEmptyReadonlyArray<Uint8Array> =
      delay === null ? [bytes] : [mp3InfoFrame(bytes, delay), bytes]
    return Effect.succeed(pieces)
  })
}

/**
 * Formats without an encoder are produced in this process. Each piece leaves as it comes; only a WAV waits for its end,
 * because its header contains its length.
 */
const encodeInProcess = <E, R>(
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

interface PaddedResampler {
  readonly push: (pcm: Int16Array) => Int16Array
  /** The rest, with silence up to the format's grid. */
  readonly end: () => Int16Array
}

/** The fleet's PCM at another rate, padded to the format's grid. */
const paddedResampler = (format: AudioFormat): PaddedResampler => {
  const resampler = makeResampler(speechSampleRateHz, format.sampleRateHz)
  let total = 0
  let made = 0
  const push = (pcm: Int16Array) => {
    const out = resampler.push(pcm)
    made += out.length
    return out
  }
  return {
    push: (pcm) => {
      total += pcm.length
      return push(pcm)
    },
    end: () => {
      const padded = paddedSamples(format, total)
      const silence = push(new Int16Array(padded - total))
      const rest = new Int16Array(Math.max(0, samplesThere(format, padded) - made))
      rest.set(resampler.flush().subarray(0, rest.length))
      return concatPcm([silence, rest])
    }
  }
}

/**
 * As a whole number of frames: at 44,100 Hz a sample of 24 kHz is nearly two samples, so rounding could add one of
 * those.
 */
const samplesThere = ({ gridSamples, sampleRateHz }: AudioFormat, padded: number) =>
  Math.round(padded / gridSamples) * Math.round((gridSamples * sampleRateHz) / speechSampleRateHz)

interface Transcoder {
  readonly push: (pcm: Int16Array) => Uint8Array
  readonly end: () => Uint8Array
}

/** PCM of the fleet at another rate, in a format that needs no encoder of the pool. */
const makeTranscoder = (format: AudioFormat): Transcoder => {
  const resampler = paddedResampler(format)
  if (format.codec === "flac") {
    const flac = makeFlacEncoder(format.sampleRateHz)
    return {
      push: (pcm) => flac.push(resampler.push(pcm)),
      end: () => Buffer.concat([flac.push(resampler.end()), flac.end()])
    }
  }
  const toBytes = format.codec === "ulaw" ? encodeMulaw : format.codec === "alaw" ? encodeAlaw : pcmToBytes
  return { push: (pcm) => toBytes(resampler.push(pcm)), end: () => toBytes(resampler.end()) }
}
