import { assert, describe, it } from "@effect/vitest"
import { faultOfFullName, stateOf } from "../../../../services/speech-api/voices/Challenges.ts"
import { challenge } from "./records.ts"

describe("a speaker's full name", () => {
  it.each(["Ada Lovelace", "A", "Зоя", "李小龍", "José María O’Neill", "a".repeat(120), "é".repeat(60), " Ada "])(
    "may be %j",
    (name) => {
      assert.isUndefined(faultOfFullName(name))
    }
  )

  it.each([
    ["a".repeat(121), 121],
    ["é".repeat(61), 122],
    ["🙂".repeat(31), 124]
  ])("%j is refused, with its length of %d bytes", (name, bytes) => {
    const refusal = faultOfFullName(name)
    assert.strictEqual(refusal?.status, 400)
    assert.strictEqual(refusal?.code, "validation_failed")
    assert.include(refusal?.fields?.["full_name"], `${bytes} bytes`)
    assert.deepStrictEqual(refusal?.details, { full_name_bytes: bytes, full_name_bytes_max: 120 })
  })

  it.each(["", " ", "\t", "Ada\nLovelace", "Ada\u0000", "\u00A0\u2003", "\u200B", "\u3164", "\uD83D"])(
    "may not be %j",
    (name) => {
      assert.deepStrictEqual(Object.keys(faultOfFullName(name)?.fields ?? {}), ["full_name"])
    }
  )
})

describe("a challenge", () => {
  const before = Date.parse("2026-11-20T10:09:59.999Z")
  const after = Date.parse("2026-11-20T10:10:00.000Z")
  const used = { at: "2026-11-20T10:01:00.000Z", by: "create-1", voiceId: "voice-1" }

  it.each([
    ["is open until it expires", null, null, before, "open"],
    ["is expired from that moment on", null, "create-1", after, "expired"],
    ["is used once a create has named it", used, "create-2", before, "used"],
    ["stays used after it would have expired", used, "create-2", after, "used"],
    ["is used for a create that cannot be known again", used, null, before, "used"],
    ["is taken up by the very create that was cut off", used, "create-1", before, "resumed"],
    ["is taken up by it however late", used, "create-1", after, "resumed"],
    ["is not taken up when the first could not be known", { ...used, by: null }, null, before, "used"]
  ] as const)("%s", (_, given, by, nowMs, standing) => {
    assert.strictEqual(stateOf(challenge({ used: given }), by, nowMs), standing)
  })
})
