import { assert, describe, it } from "@effect/vitest"
import { faultOfName, printable, printableLine } from "#base"
import { hostileTexts, isSafe } from "../../support/hostile-texts.ts"

describe("a text from outside, printed", () => {
  for (const [what, text] of Object.entries(hostileTexts)) {
    it(`does nothing where it ${what}, and stays the same JSON`, () => {
      assert.isFalse(isSafe(text))
      assert.isTrue(isSafe(printable(text)))
      // Raw, as another program may have written it.
      const json = `{"a":"${text.replaceAll(/\p{Cc}/gu, (one) => JSON.stringify(one).slice(1, -1))}"}`
      assert.deepStrictEqual(JSON.parse(printable(json)), JSON.parse(json))
      assert.isTrue(isSafe(printable(json)))
      assert.strictEqual(printable(printable(text)), printable(text))
    })
  }

  it.each(["", "two\nlines\tand a tab", "Grüße, 世界, שלום, مرحبا, 👩‍👩‍👧, e\u0301", "\\u001b is six characters"])(
    "is %j where it has none of that",
    (text) => {
      assert.strictEqual(printable(text), text)
    }
  )

  it("is one line where it is a part of one", () => {
    assert.strictEqual(printableLine("a\n12:00 ERROR forged\tb\u001b[m"), "a\\n12:00 ERROR forged\\tb\\u001b[m")
  })
})

describe("a name", () => {
  it.each(["ci", "a.b-c_d", ".hidden", "build server 7", "Zoë", "שלום", "日本", "a/b", "..a"])("may be %j", (name) => {
    assert.isUndefined(faultOfName(name))
  })

  it.each([...Object.values(hostileTexts), ".", "..", "...", " ", ". .", "a\nb", "a\tb"])("is not %j", (name) => {
    assert.isString(faultOfName(name))
  })
})
