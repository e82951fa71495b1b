import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { boundedDecoder } from "#base"
import { ChunkJob, SessionRequest } from "#speech/contract"

const style = { ratePercent: 100, pitchPercent: 100, rangePercent: 100 }
const voice = { engine: "espeak", name: "en-us", ...style, formantPercent: 100, gainDb: 0 }
const turn = { voiceId: "henry", voice, input: "Hello.", locale: "en-US" }
const request = {
  sessionId: "session",
  api: "api",
  turns: [turn],
  textNormalization: true,
  windowSamples: 24_000,
  resume: null
}
const job = {
  sessionId: "session",
  sequencer: "sequencer",
  chunk: 0,
  voiceId: "henry",
  voice,
  locale: "en-US",
  pieces: [{ text: "Hello.", ...style, volumeDb: 0 }]
}

describe("messages between the speech roles of two releases", () => {
  const decodeRequest = boundedDecoder(SessionRequest)
  const decodeJob = boundedDecoder(ChunkJob)

  it("are read without what the release before does not say", () => {
    assert.deepStrictEqual(Result.getOrThrow(decodeRequest(request)), request as unknown as SessionRequest)
    assert.deepStrictEqual(Result.getOrThrow(decodeJob(job)), job as unknown as ChunkJob)
  })
  it("are read without what only the next release says", () => {
    const turns = [{ ...turn, later: 1 }]
    assert.deepStrictEqual(Result.getOrThrow(decodeRequest({ ...request, turns, later: true })), {
      ...request
    } as unknown as SessionRequest)
    assert.deepStrictEqual(Result.getOrThrow(decodeJob({ ...job, later: true })), job as unknown as ChunkJob)
  })
})
