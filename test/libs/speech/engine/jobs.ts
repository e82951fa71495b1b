/** Jobs for the tests of engines, and their whole sound. */
import { Effect, Layer, Stream } from "effect"
import type { EmbeddedEngine, EngineVoice } from "#contracts"
import { Metrics, Role } from "#runtime"
import type { SpeechEngine, EngineJob, EnginePiece } from "../../../../libs/speech/engine/Engine.ts"
import { joined } from "./signal.ts"

export const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-synthesizer")))

export const piece = (text: string, style: Partial<EnginePiece> = {}): EnginePiece => ({
  text,
  ratePercent: 100,
  pitchPercent: 100,
  rangePercent: 100,
  volumeDb: 0,
  ...style
})

export const voiceOf = (engine: EmbeddedEngine, name: string): EngineVoice => ({
  engine,
  name,
  ratePercent: 100,
  pitchPercent: 100,
  rangePercent: 100,
  formantPercent: 100,
  gainDb: 0
})

export const jobOf = (voice: EngineVoice, ...pieces: ReadonlyArray<EnginePiece>): EngineJob => ({ voice, pieces })

export const heard = (engine: SpeechEngine, job: EngineJob) =>
  Effect.map(Stream.runCollect(engine.synthesize(job)), (frames) => ({
    frames,
    pcm: joined(frames.map((frame) => frame.pcm)),
    words: frames.flatMap((frame) => frame.words)
  }))
