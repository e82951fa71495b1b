import { assert, describe, it } from "@effect/vitest"
import type { EngineState, SynthesizerEngines } from "#speech/contract"
import { openingAmong, silentAmong } from "../../../../services/speech-api/voices/speakable.ts"

const told = (engines: Readonly<Record<string, EngineState["state"]>>) => ({
  engines: Object.fromEntries(Object.entries(engines).map(([name, state]) => [name, { state }]))
})

describe("the engines that no synthesizer can speak with", () => {
  it.each<readonly [string, ReadonlyArray<SynthesizerEngines>, ReadonlyArray<string>]>([
    ["nobody tells", [], []],
    ["one opens it still", [told({ a: "opening" })], []],
    ["one can", [told({ a: "ready" })], []],
    ["the only one cannot", [told({ a: "failed", b: "ready" })], ["a"]],
    ["all that have it cannot", [told({ a: "failed" }), told({ a: "failed" }), told({ b: "ready" })], ["a"]],
    ["one of two can", [told({ a: "failed" }), told({ a: "ready" })], []]
  ])("when %s", (_, all, silent) => {
    assert.deepStrictEqual([...silentAmong(all)], silent)
  })
})

describe("the engines that every synthesizer is still opening", () => {
  it.each<readonly [string, ReadonlyArray<SynthesizerEngines>, ReadonlyArray<string>]>([
    ["nobody tells", [], []],
    ["one opens it", [told({ a: "opening", b: "ready" })], ["a"]],
    ["one of two has opened it", [told({ a: "opening" }), told({ a: "ready" })], []],
    ["one of two has failed to", [told({ a: "opening" }), told({ a: "failed" })], ["a"]],
    ["all have failed to", [told({ a: "failed" })], []],
    ["one has opened it", [told({ a: "ready" })], []]
  ])("when %s", (_, all, opening) => {
    assert.deepStrictEqual([...openingAmong(all)], opening)
  })
})
