import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { bodySizesOf } from "#gateway/contract"
import { decodeConfiguration } from "#configuration"

const mebibyte = 1_048_576

const sizesWith = (settings: Readonly<Record<string, number>>, ...windows: ReadonlyArray<number>) => {
  const Models = windows.map((ContextTokens, at) => ({
    Id: `a/${at}`,
    ContextTokens,
    Upstreams: [{ Provider: "p", Model: "m" }]
  }))
  return bodySizesOf(Result.getOrThrow(decodeConfiguration({ ModelGateway: { ...settings, Models } })).ModelGateway)
}

describe("the largest body of text", () => {
  it.each([
    { windows: [], bytes: mebibyte },
    { windows: [128_000], bytes: mebibyte },
    { windows: [238_312], bytes: 1_048_573 + 3 },
    { windows: [238_313], bytes: 1_048_578 },
    { windows: [500_000], bytes: 2_200_000 },
    { windows: [1_000_000, 200_000], bytes: 4_400_000 },
    { windows: [200_000, 2_000_000], bytes: 8_800_000 },
    { windows: [10_000_000], bytes: 10 * mebibyte }
  ])("has $bytes bytes where windows of $windows tokens are sold", ({ windows, bytes }) => {
    assert.strictEqual(sizesWith({}, ...windows).text, bytes)
  })

  it("is as large as configured, whatever is sold", () => {
    assert.strictEqual(sizesWith({ BodyBytesMax: 5_000 }, 1_000_000).text, 5_000)
    assert.strictEqual(sizesWith({ BodyBytesMax: 50_000_000 }, 1_000_000).text, 50_000_000)
  })

  it("is never larger than one with images, nor than all bodies together", () => {
    assert.deepStrictEqual(sizesWith({}), { text: mebibyte, withImages: 10 * mebibyte, together: 96 * mebibyte })
    assert.deepStrictEqual(sizesWith({ ImageBodyBytesMax: 2_000_000, BodiesBytesMax: mebibyte }, 1_000_000), {
      text: 4_400_000,
      withImages: 4_400_000,
      together: 4_400_000
    })
  })
})
