import { assert, describe, it } from "@effect/vitest"
import { voicesBefore } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import type { VoiceRecord } from "../../../../services/speech-api/voices/records.ts"
import { clonedVoice } from "./records.ts"

const at = { workspace: "acme", changedAt: "2026-11-20T10:00:00.000Z" }
const entry = (id: string, revision: number, tag: VoiceRecord["_tag"]) => ({
  key: `acme.${id}`,
  revision,
  value: tag === "Ready" ? clonedVoice({ id }) : ({ _tag: tag, id, ...at } as VoiceRecord)
})

describe("the maximum of voices", () => {
  const own = entry("own", 10, "Making")

  it.each<[string, ReadonlyArray<ReturnType<typeof entry>>, number]>([
    ["not its own reservation", [], 0],
    ["voices that are ready", [entry("a", 3, "Ready"), entry("b", 4, "Ready")], 2],
    ["a voice that became ready since", [entry("a", 12, "Ready")], 1],
    ["a voice that was reserved before", [entry("a", 9, "Making")], 1],
    ["not a voice that was reserved after", [entry("a", 11, "Making")], 0],
    ["not a voice that is being removed", [entry("a", 3, "Leaving")], 0]
  ])("counts for a new voice %s", (_, others, count) => {
    assert.strictEqual(voicesBefore([own, ...others], own), count)
  })

  it("gives the last voice to exactly one of two creates, in any order of checks", () => {
    const [first, second] = [entry("first", 10, "Making"), entry("second", 11, "Making")]
    const ready = [entry("a", 3, "Ready")]
    const voicesMax = 2
    const both = [...ready, first, second]
    assert.isBelow(voicesBefore(both, first), voicesMax)
    assert.isAtLeast(voicesBefore(both, second), voicesMax)
    const firstIsReady = [...ready, entry("first", 12, "Ready"), second]
    assert.isAtLeast(voicesBefore(firstIsReady, second), voicesMax)
  })
})
