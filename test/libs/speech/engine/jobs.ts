/** Jobs for the tests of engines, and their whole sound. */
import { Effect, Layer, Stream } from "effect"
import { concatPcm } from "#speech/audio"
import type { ChunkPiece, EmbeddedEngine, EngineVoice } from "#speech/contract"
import { Metrics, Role } from "#runtime"
import type { EngineJob, SpeechEngine } from "../../../../libs/speech/engine/Engine.ts"

export const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-synthesizer")))

export const plainStyle = { ratePercent: 100, pitchPercent: 100, rangePercent: 100 }

export const piece = (text: string, style: Partial<ChunkPiece> = {}): ChunkPiece => ({
  text,
  ...plainStyle,
  volumeDb: 0,
  ...style
})

export const voiceOf = (engine: EmbeddedEngine, name: string): EngineVoice => ({
  engine,
  name,
  ...plainStyle,
  formantPercent: 100,
  gainDb: 0
})

export const jobOf = (voice: EngineVoice, ...pieces: ReadonlyArray<ChunkPiece>): EngineJob => ({ voice, pieces })

export const heard = (engine: SpeechEngine, job: EngineJob) =>
  Effect.map(Stream.runCollect(engine.synthesize(job)), (frames) => ({
    frames,
    pcm: concatPcm(frames.map((frame) => frame.pcm)),
    words: frames.flatMap((frame) => frame.words)
  }))
