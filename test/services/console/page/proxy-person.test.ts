import { assert, describe, it } from "@effect/vitest"
import { claimOf } from "../../../../services/console/page/ProxyPerson.ts"

const secret = "a".repeat(32)
const claimed = (name: string | undefined, proof: string | undefined) => {
  const claim = claimOf({ name, proof }, secret)
  return claim._tag === "Refused"
    ? claim.isGuess
      ? "guess"
      : "refused"
    : claim._tag === "Proven"
      ? claim.person
      : "nobody"
}

describe("the claim of a proxy", () => {
  it.each([
    ["Ada Lovelace", secret, "Ada Lovelace"],
    [" ada@example.com ", secret, "ada@example.com"],
    [undefined, secret, "nobody"],
    ["", secret, "nobody"],
    ["ada", undefined, "refused"],
    ["ada", "", "guess"],
    ["ada", "b".repeat(32), "guess"],
    ["ada", `${secret}a`, "guess"],
    ["mallory, ada", secret, "refused"],
    ["ada\u0007", secret, "refused"],
    ["a".repeat(101), secret, "refused"]
  ])("of %j with the proof %j is %s", (name, proof, is) => {
    assert.strictEqual(claimed(name, proof), is)
  })
})
