import { assert, describe, it } from "@effect/vitest"
import { mutantsOf } from "../../../dev/mutants/operators.ts"

const changes = (code: string) => mutantsOf("libs/a.ts", code).map(({ operator, after }) => `${operator}: ${after}`)
const inEffect = (body: string) => `const work = Effect.gen(function* () {\n${body}\n})`
/** Where the lines around are of no interest. */
const changesIn = (body: string) => changes(inEffect(body)).filter((change) => !change.includes("function*"))

describe("the mutants of a file", () => {
  it.each([
    ["f(a < b)", ["boundary: f(a <= b)"]],
    ["f(a >= b)", ["boundary: f(a > b)"]],
    ["f(a === b)", ["equality: f(a !== b)"]],
    ["f(a && b)", ["one side: f(a)", "one side: f(b)"]],
    ["f(a || b())", ["one side: f(a)", "one side: f(b())"]],
    ["f(a ?? b)", ["no default: f(a)", "no default: f(b)"]],
    ["f((a, b) ?? c)", ["no default: f(((a, b)))", "no default: f(c)"]],
    ["f(a ? b : c)", ["decided: f((b))", "negation: f(!(a) ? b : c)", "decided: f((c))"]],
    ["f(a + b)", ["sum: f(a - b)"]],
    ["f(a * b)", ["sum: f(a / b)"]],
    ["a += b", ["sum: a -= b"]],
    ["f(7)", ["number: f(8)"]],
    ["f(7n)", ["number: f(8n)"]],
    ["f(0.5)", ["number: f((0.5 + 1))"]],
    ["f(true)", ["truth: f(false)"]],
    ["f(Math.min(a, b))", ["extreme: f(Math.max(a, b))"]],
    ["f(a.filter(isB))", ["no filter: f(a)"]],
    ["f(g.pipe(a, b))", ["no step: f(g.pipe(b))", "no step: f(g.pipe(a))"]],
    ["f(g.pipe(a))", ["no step: f(g)"]]
  ])("changes %s", (code, expected) => {
    const named = changes(`const x = ${code}`).map((change) => change.replace("const x = ", ""))
    assert.sameMembers(named, expected)
  })

  it("decides a condition, and keeps what the compiler learns from it", () => {
    assert.sameMembers(changesIn("if (a) return b"), [
      "decided: if ((a) || true) return b",
      "decided: if ((a) && false) return b",
      "negation: if (!(a)) return b"
    ])
  })

  it("does not negate an equality, which is turned round already", () => {
    assert.notInclude(changesIn("if (a === b) return c").join(), "negation")
  })

  it("drops effects whose result nothing takes, and calls", () => {
    assert.sameMembers(changesIn("yield* store(a)\nconst b = yield* read(a)\nclaims.delete(b)"), [
      "no effect: ",
      "no call: ",
      "order: const b = yield* read(a) yield* store(a)"
    ])
  })

  it("leaves a body where its only effect is dropped", () => {
    assert.include(changesIn("if (a) yield* store(b)"), "no effect: if (a) {}")
    assert.include(changes("async () => {\nfor (const a of b) await store(a)\n}"), "no effect: for (const a of b) {}")
  })

  it("swaps two effects, but not where the second takes what the first gives", () => {
    assert.include(changesIn("yield* store(a)\nyield* ack(b)"), "order: yield* ack(b) yield* store(a)")
    assert.notInclude(changesIn("const a = yield* read(b)\nyield* store(a)").join(), "order")
    assert.notInclude(changesIn("const { a, c: [d] } = yield* read(b)\nyield* store(d)").join(), "order")
  })

  it("empties lists that functions give", () => {
    assert.include(changes("const f = (a: A) => a.map(b)"), "empty list: const f = (a: A) => []")
    assert.include(changes("function f() {\nreturn [a]\n}"), "empty list: return []")
    assert.deepStrictEqual(changes("const f = () => []"), [])
  })

  it("drops no words for a log or a page from a pipe", () => {
    const words = 'Effect.annotateLogs({ a }), Flag.withDescription("b"), describe("b"), Effect.withSpan("c")'
    const code = `f(g.pipe(${words}, d))`
    assert.deepStrictEqual(changes(`const x = ${code}`), [`no step: const x = ${code.replace(", d))", "))")}`])
  })

  it("tells logs nothing, and types and imports neither", () => {
    assert.deepStrictEqual(changesIn('yield* Effect.logInfo("a")'), [])
    assert.deepStrictEqual(changes("type A = 1 | true\ninterface B { readonly c: 2 }\nimport { d } from './e.ts'"), [])
    assert.deepStrictEqual(changes("const a = b as 3\nconst c: 4 = d\nconst e = f<5>()"), [])
    assert.deepStrictEqual(
      changes('const a = { _tag: "A", 5: b, concurrency: 6, buckets: [7], discard: true }\nf["c"]'),
      []
    )
  })

  it("says where each lies", () => {
    const code = "export const a = {\n  b: () => {\n    return c < d\n  }\n}\nfunction e() {\n  return f > g\n}"
    const found = mutantsOf("libs/a.ts", code).map(({ line, place, before }) => ({ line, place, before }))
    assert.deepStrictEqual(found, [
      { line: 3, place: "b", before: "return c < d" },
      { line: 7, place: "e", before: "return f > g" }
    ])
  })
})
