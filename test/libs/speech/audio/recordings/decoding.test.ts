import { assert, describe, it } from "@effect/vitest"
import { RecordingUnusable } from "#speech/audio"
import type { ContainedRun } from "#runtime"
import { readDecoded } from "../../../../../libs/speech/audio/recordings.ts"

const run = (seconds: number, rest: Partial<ContainedRun> = {}): ContainedRun => ({
  output: new Uint8Array(seconds * 32_000),
  stderr: "",
  ending: "ended",
  exitCode: 0,
  ...rest
})
const announces = (time: string) =>
  `Input #0, flac, from 'file:x':\n  Duration: ${time}, start: 0.000000, bitrate: 1 kb/s\n`

describe("a decoder's run", () => {
  it.each([
    ["nothing was decoded", run(0, { exitCode: 1 }), "not_audio"],
    ["a decoder that crashed at once", run(0, { ending: "crashed", exitCode: null }), "not_audio"],
    ["a decoder that crashed on the way", run(5, { ending: "crashed", exitCode: null }), "damaged"],
    ["audio that ends in something else", run(5, { exitCode: 69 }), "damaged"],
    ["half of what is announced", run(5, { stderr: announces("00:00:10.00") }), "damaged"],
    ["too much time", run(5, { ending: "wall_time", exitCode: null }), "too_costly"],
    ["too much of a processor", run(5, { ending: "cpu_time", exitCode: null }), "too_costly"],
    ["too much memory", run(0, { exitCode: 1, stderr: "Error: Cannot allocate memory" }), "too_costly"]
  ] as const)("gives no recording: %s", (_, ended, reason) => {
    const read = readDecoded(ended, "sample")
    assert.instanceOf(read, RecordingUnusable)
    assert.strictEqual(read.reason, reason)
  })

  it.each([
    ["nothing is announced", run(5)],
    ["what is announced is decoded", run(9.7, { stderr: announces("00:00:10.00") })],
    [
      "hours are announced and no more than may be is decoded",
      run(5, { ending: "output", stderr: announces("10:00:00.00") })
    ],
    ["the announcement is a guess", run(5, { stderr: `Estimating duration from bitrate\n${announces("00:00:10.00")}` })]
  ] as const)("gives a recording when %s", (_, ended) => {
    const read = readDecoded(ended, "sample")
    assert.notInstanceOf(read, RecordingUnusable)
    if (!(read instanceof RecordingUnusable)) assert.strictEqual(read.seconds, ended.output.length / 32_000)
  })

  it("takes no neighbouring byte of the output's memory", () => {
    const memory = new Uint8Array(1_000)
    const read = readDecoded(run(0, { output: memory.subarray(101, 301) }), "sample")
    assert.notInstanceOf(read, RecordingUnusable)
    if (!(read instanceof RecordingUnusable)) assert.strictEqual(read.samples.length, 100)
  })

  it("drops an odd byte at the end", () => {
    const read = readDecoded(run(0, { output: Uint8Array.of(1, 0, 2, 0, 9), ending: "output" }), "sample")
    assert.notInstanceOf(read, RecordingUnusable)
    if (!(read instanceof RecordingUnusable)) assert.deepStrictEqual([...read.samples], [1, 2])
  })
})
