import { assert, describe, it } from "@effect/vitest"
import { clearCookie, cookieIn, hasCookie, setCookie } from "../../../../services/console/page/PageAccess.ts"

const local = "http://127.0.0.1:7405"
const secure = "https://console.example.com"
const made = { token: "stl_abc-DEF_1", isMadeForIt: true }
const pairOf = (header: string) => header.split(";")[0] ?? ""

describe("the cookie of a session", () => {
  it("is kept from scripts and from other pages, and goes after its time", () => {
    assert.strictEqual(
      setCookie(made, local, 43_200_500),
      "starling-7405=code.stl_abc-DEF_1; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"
    )
  })

  it("stays on https where the page is, under a name that browsers hold to it", () => {
    assert.strictEqual(
      setCookie({ ...made, isMadeForIt: false }, secure, undefined),
      "__Host-starling=token.stl_abc-DEF_1; HttpOnly; SameSite=Strict; Path=/; Secure"
    )
    assert.include(clearCookie(secure), "Max-Age=0")
  })

  it("is read back among others, by the port that it belongs to", () => {
    const other = pairOf(setCookie({ token: "stl_other", isMadeForIt: false }, "http://127.0.0.1:7505", undefined))
    const header = `theme=dark; ${other}; ${pairOf(setCookie(made, local, 1))}; last=1`
    assert.deepInclude(cookieIn(header, local) ?? {}, made)
    assert.strictEqual(cookieIn(header, "http://127.0.0.1:7505")?.token, "stl_other")
    assert.isUndefined(cookieIn(header, "http://127.0.0.1:7605"))
    assert.isUndefined(cookieIn(header, secure))
  })

  it("is none for other cookies and for a broken one", () => {
    for (const header of [undefined, "", "a=b", "starling-7405=", "starling-7405=stl_x", "xstarling-7405=code.stl_x"]) {
      assert.isFalse(hasCookie(header), String(header))
    }
    assert.isTrue(hasCookie(pairOf(setCookie(made, secure, 1))))
  })
})
