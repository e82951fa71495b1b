import { assert, describe, it } from "@effect/vitest"
import { patternsOf } from "../../../dev/patterns/patterns.ts"

const found = (text: string) => patternsOf("some.ts", text)
const known = (text: string) => found(text).known.map(({ source, flags }) => `/${source}/${flags}`)
const made = (text: string) => found(text).made.map(({ code }) => code)

describe("the patterns of a file", () => {
  it.each([
    ["const a = /x+/gu", ["/x+/gu"]],
    ["a.replace(/x+/u, '').split(/ /)", ["/x+/u", "/ /"]],
    ["// /x+/u\nconst a = '/y/u'", []],
    ["const a = b / 2 / c", []],
    ["const a = new RegExp('x+')", ["/x+/"]],
    ["const a = RegExp('x+', 'gu')", ["/x+/gu"]],
    ["const a = 'x'\nconst b = new RegExp(`${a}+`, 'u')", ["/x+/u"]],
    ["const b = new RegExp(a + '+', 'u')\nconst a = `x`", ["/x+/u"]],
    ["const a = new RegExp(String.raw`\\s+`, 'u')", ["/\\s+/u"]],
    ["const a = ['x', 'y']\nconst b = `(${a.join('|')})`\nconst c = new RegExp(b, 'u')", ["/(x|y)/u"]],
    ["const f = () => ({ a: [/x+/u, new RegExp('y')] })", ["/x+/u", "/y/"]],
    ["class A { private a = /x+/u }", ["/x+/u"]]
  ])("in %j are %j", (text, expected) => {
    assert.deepStrictEqual(known(text), expected)
    assert.deepStrictEqual(made(text), [])
  })

  it.each([
    ["const f = (a: string) => new RegExp(a, 'u')", "new RegExp(a, 'u')"],
    ["const a = 'x'\nconst f = (a: string) => new RegExp(a)", "new RegExp(a)"],
    ["const f = (flags: string) => new RegExp('x', flags)", "new RegExp('x', flags)"],
    ["const a = read()\nconst b = RegExp(`${a}+`)", "RegExp(`${a}+`)"],
    ["let a = 'x'\nconst b = new RegExp(a)", "new RegExp(a)"],
    ["const [a] = ['x']\nconst b = new RegExp(a)", "new RegExp(a)"],
    ["for (const a of ['x']) new RegExp(a)", "new RegExp(a)"],
    ["new RegExp(html`x`)", "new RegExp(html`x`)"],
    ["const a = read()\nnew RegExp(a.join('|'))", "new RegExp(a.join('|'))"],
    ["new RegExp(['x', read()].join('|'))", "new RegExp(['x', read()].join('|'))"],
    ["new RegExp(...parts)", "new RegExp(...parts)"]
  ])("are known only when it runs in %j", (text, code) => {
    assert.deepStrictEqual(made(text), [code])
    assert.deepStrictEqual(known(text), [])
  })

  it("have their lines", () => {
    const { known, made } = found("const a = 1\nconst b = /x/u\n\nconst c = new RegExp(read())")
    assert.deepStrictEqual([known[0]?.line, made[0]?.line], [2, 4])
  })

  it("of a file that is no program are an error", () => {
    assert.throws(() => found("const = /x/u"), /some\.ts/u)
  })
})
