import { assert, describe, it } from "@effect/vitest"
import { inTurn } from "../../../libs/egress/connect-race.ts"

const addresses = (text: string) =>
  [...text].map((letter, at) => ({ address: `${letter}${at}`, family: letter === "v" ? (4 as const) : (6 as const) }))

describe("the addresses of a name", () => {
  it.each([
    ["", []],
    ["v", ["v0"]],
    ["vvs", ["v0", "s2", "v1"]],
    ["ssv", ["s0", "v2", "s1"]],
    ["vsss", ["v0", "s1", "s2", "s3"]],
    ["vvss", ["v0", "s2", "v1", "s3"]]
  ] as const)("are tried with their families in turn, from the resolver's first: %s", (given, order) => {
    assert.deepStrictEqual(
      inTurn(addresses(given)).map(({ address }) => address),
      [...order]
    )
  })
})
