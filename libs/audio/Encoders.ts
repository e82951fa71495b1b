/**
 * PCM of the fleet in, bytes of a format out, at the pace of whoever reads them. One encoder per answer,
 * flushed to the last sample and padded with silence to the format's grid (`paddedSamples` says how long it
 * gets); it ends with the stream, however that ends. Nothing is buffered, but for the WAV.
 */
import { Context, Effect, Layer, type Stream } from "effect"
import { encodeInProcess } from "./encode-in-process.ts"
import { encodeWithFfmpeg } from "./encode-with-ffmpeg.ts"
import { isLossy } from "./encoder-plan.ts"
import type { AudioError } from "./errors.ts"
import { FfmpegPool, type FfmpegPoolOptions } from "./FfmpegPool.ts"
import type { AudioFormat } from "./formats.ts"

export class Encoders extends Context.Service<
  Encoders,
  {
    /** `onEncoded` is told of each run of bytes how many seconds of sound they are, before they are taken. */
    readonly encode: <E, R>(
      format: AudioFormat,
      pcm: Stream.Stream<Int16Array, E, R>,
      onEncoded?: (seconds: number) => void
    ) => Stream.Stream<Uint8Array, E | AudioError, R>
  }
>()("starling/audio/Encoders") {
  static readonly layerNoDeps = Layer.effect(
    Encoders,
    Effect.map(FfmpegPool, (pool) =>
      Encoders.of({
        encode: (format, pcm, onEncoded = () => {}) => {
          const { codec } = format
          if (!isLossy(codec)) return encodeInProcess(format, pcm, onEncoded)
          return encodeWithFfmpeg(pool, { format: { ...format, codec }, onEncoded }, pcm)
        }
      })
    )
  )
  static readonly layer = (options?: FfmpegPoolOptions) =>
    Encoders.layerNoDeps.pipe(Layer.provide(FfmpegPool.layer(options)))
}
