import { assert, describe, it } from "@effect/vitest"
import type { ContainedRun } from "#runtime"
import { modelFault } from "../../../../../libs/speech/cloning/consent/SpeakerCheck.ts"

const run = (rest: Partial<ContainedRun>): ContainedRun => ({
  output: new Uint8Array(),
  stderr: "",
  ending: "ended",
  exitCode: 0,
  ...rest
})

describe("the reason that a speaker model is unusable", () => {
  it("is none when a trial run recognised a recording again", () => {
    assert.isNull(modelFault(run({ stderr: "a warning" })))
  })

  it.each([
    [
      "the package is not there",
      run({ exitCode: 1, stderr: "Error: Cannot find module 'sherpa-onnx-node'\nRequire stack:" }),
      /npm install sherpa-onnx-node@1\.13\.8$/u
    ],
    ["it takes for ever", run({ ending: "wall_time", exitCode: null }), /more than a minute$/u],
    [
      "the library gives up",
      run({ ending: "crashed", exitCode: null, stderr: "No\n  graph" }),
      /or is broken: No graph$/u
    ],
    ["the library gives up in silence", run({ ending: "crashed", exitCode: null }), /or is broken$/u]
  ] as const)("is given when %s", (_, ended, fault) => {
    assert.match(modelFault(ended) ?? "", fault)
  })
})
