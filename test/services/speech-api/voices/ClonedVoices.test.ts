import { assert, describe, it } from "@effect/vitest"
import { placesTaken } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import type { VoiceRecord } from "../../../../services/speech-api/voices/records.ts"
import { clonedVoice } from "./records.ts"

const at = { workspace: "acme", changedAt: "2026-11-20T10:00:00.000Z" }
const entry = (id: string, revision: number, tag: VoiceRecord["_tag"]) => ({
  key: `acme.${id}`,
  revision,
  value: tag === "Ready" ? clonedVoice({ id }) : ({ _tag: tag, id, ...at } as VoiceRecord)
})

describe("the places of a workspace", () => {
  const own = entry("own", 10, "Making")

  it.each<[string, ReadonlyArray<ReturnType<typeof entry>>, number]>([
    ["none but one's own", [], 0],
    ["those of voices that are ready", [entry("a", 3, "Ready"), entry("b", 4, "Ready")], 2],
    ["those of voices that became ready since", [entry("a", 12, "Ready")], 1],
    ["those of voices whose making began before", [entry("a", 9, "Making")], 1],
    ["not those of voices whose making began after", [entry("a", 11, "Making")], 0],
    ["not those of voices that are leaving", [entry("a", 3, "Leaving")], 0]
  ])("in use are %s", (_, others, taken) => {
    assert.strictEqual(placesTaken([own, ...others], own), taken)
  })

  it("are never given twice: of two creates for the last one, exactly one gets it, in any order of checks", () => {
    const [first, second] = [entry("first", 10, "Making"), entry("second", 11, "Making")]
    const ready = [entry("a", 3, "Ready")]
    const voicesMax = 2
    const both = [...ready, first, second]
    assert.isBelow(placesTaken(both, first), voicesMax)
    assert.isAtLeast(placesTaken(both, second), voicesMax)
    const firstIsReady = [...ready, entry("first", 12, "Ready"), second]
    assert.isAtLeast(placesTaken(firstIsReady, second), voicesMax)
  })
})
