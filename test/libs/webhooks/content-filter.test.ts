import { assert, describe, it } from "@effect/vitest"
import { compileContentFilter, firstMismatch } from "#webhooks"
import type { FilterAlternative, ContentFilter } from "#webhooks/contract"

/** The sample event of the README of aws/event-ruler, on which EventBridge runs. */
const sample = {
  version: "0",
  "detail-type": "EC2 Instance State-change Notification",
  source: "aws.ec2",
  time: "2017-10-02T16:24:49Z",
  resources: ["arn:aws:ec2:us-east-1:123456789012:instance/i-000000aaaaaa00000"],
  detail: { "c-count": 5, "d-count": 3, "x-limit": 301.8, state: "running", isLast: false, parent: null, name: "" }
}

const employees = {
  employees: [
    { firstName: "John", lastName: "Doe" },
    [{ firstName: "Anna", lastName: "Smith", skills: ["ts", "go"] }],
    { firstName: "Peter", lastName: "Jones", skills: [] }
  ]
}

const fits = (filter: ContentFilter, event: unknown) => compileContentFilter(filter)(event)
const detail = (field: string, ...alternatives: ReadonlyArray<FilterAlternative>) => ({
  detail: { [field]: alternatives }
})

describe("a content filter", () => {
  it.each<readonly [string, ContentFilter, boolean]>([
    ["one of the values", detail("state", "initializing", "running"), true],
    ["none of the values", detail("state", "initializing"), false],
    ["all fields", { source: ["aws.ec2"], ...detail("c-count", 5) }, true],
    ["not all fields", { source: ["aws.ec3"], ...detail("c-count", 5) }, false],
    ["an element of a list", { resources: ["other", sample.resources[0] ?? ""] }, true],
    ["a number as it is written elsewhere", detail("x-limit", 3.018e2), true],
    ["a number for a string", detail("c-count", "5"), false],
    ["false", detail("isLast", false), true],
    ["null", detail("parent", null), true],
    ["null where nothing is", detail("nothing", null), false],
    ["an empty string", detail("name", ""), true],
    ["a prefix", { time: [{ prefix: "2017-10-02" }] }, true],
    ["another prefix", { time: [{ prefix: "2018" }] }, false],
    ["a prefix of a number", detail("c-count", { prefix: "5" }), false],
    ["a suffix", { source: [{ suffix: "ec2" }] }, true],
    ["a suffix of an element", { resources: [{ suffix: "00000" }] }, true],
    ["anything but a value", detail("state", { "anything-but": "initializing" }), true],
    ["anything but this value", detail("state", { "anything-but": "running" }), false],
    ["anything but a number", detail("x-limit", { "anything-but": 123 }), true],
    ["anything but several", detail("state", { "anything-but": ["stopped", "running"] }), false],
    ["anything but a prefix", detail("state", { "anything-but": { prefix: "init" } }), true],
    ["anything but this prefix", detail("state", { "anything-but": { prefix: "run" } }), false],
    ["anything but a suffix", { source: [{ "anything-but": { suffix: ".ec2" } }] }, false],
    ["anything but where nothing is", detail("nothing", { "anything-but": "a" }), false],
    ["anything but a string, of a number", detail("c-count", { "anything-but": "5" }), true],
    ["a range", detail("c-count", { numeric: [">", 0, "<=", 5] }), true],
    ["a range that is open above", detail("c-count", { numeric: [">", 0, "<", 5] }), false],
    ["less than", detail("d-count", { numeric: ["<", 10] }), true],
    ["at least", detail("d-count", { numeric: [">=", 3] }), true],
    ["equal", detail("x-limit", { numeric: ["=", 3.018e2] }), true],
    ["a range of a string", detail("state", { numeric: [">", 0] }), false],
    ["what exists", detail("c-count", { exists: true }), true],
    ["what is null exists", detail("parent", { exists: true }), true],
    ["what does not exist", detail("nothing", { exists: false }), true],
    ["what exists, though it should not", detail("c-count", { exists: false }), false],
    ["nothing below what does not exist", { nothing: { at: { all: [{ exists: false }] } } }, true],
    ["an object is no leaf, so it does not exist", { detail: [{ exists: false }] }, true],
    ["absent or another", detail("state", { exists: false }, "running"), true],
    ["one of $or", { $or: [{ source: ["no"] }, detail("state", "running")] }, true],
    ["none of $or", { $or: [{ source: ["no"] }, detail("state", "no")] }, false],
    ["$or and a field", { source: ["no"], $or: [{ version: ["0"] }, { version: ["1"] }] }, false],
    ["$or within", { detail: { $or: [{ state: ["no"] }, { "d-count": [3], state: ["running"] }] } }, true],
    ["a field of a field that is a value", { source: { name: ["aws.ec2"] } }, false]
  ])("takes %s", (_, filter, expected) => {
    assert.strictEqual(fits(filter, sample), expected)
    assert.strictEqual(firstMismatch(filter, sample) === undefined, expected)
  })

  it.each<readonly [string, ContentFilter, boolean]>([
    ["one of the objects", { employees: { firstName: ["Anna"] } }, true],
    ["one object with both", { employees: { firstName: ["Anna"], lastName: ["Smith"] } }, true],
    ["two objects with one each", { employees: { firstName: ["Anna"], lastName: ["Jones"] } }, false],
    ["an element within an object", { employees: { skills: ["go"], firstName: ["Anna"] } }, true],
    ["an empty list has nothing", { employees: { firstName: ["Peter"], skills: [{ exists: false }] } }, true],
    ["an element that is another", { employees: { skills: [{ "anything-but": "ts" }] } }, true]
  ])("of a list takes %s", (_, filter, expected) => {
    assert.strictEqual(fits(filter, employees), expected)
  })

  it.each<readonly [ContentFilter, string, unknown]>([
    [detail("state", "stopped"), "/detail/state", "running"],
    [{ source: ["aws.ec2"], detail: { "c-count": [5], "d-count": [4], state: ["no"] } }, "/detail/d-count", 3],
    [{ detail: { nothing: { below: ["a"] } } }, "/detail/nothing/below", undefined],
    [{ detail: { $or: [{ state: ["no"] }, { state: ["nor"] }] } }, "/detail/$or", undefined],
    [{ "a/b~c": ["x"] }, "/a~1b~0c", undefined]
  ])("of %o names %s as what does not fit first", (filter, path, found) => {
    assert.deepStrictEqual(firstMismatch(filter, sample), { path, found })
  })

  it("reads no field that an event does not have itself", () => {
    for (const field of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      assert.isFalse(fits({ [field]: [{ exists: true }] }, {}), field)
      assert.isFalse(fits({ detail: { [field]: { name: [{ exists: true }] } } }, { detail: {} }), field)
    }
    const filter = JSON.parse('{"detail":{"__proto__":["a"]}}') as ContentFilter
    assert.isTrue(fits(filter, JSON.parse('{"detail":{"__proto__":"a"}}')))
    assert.isFalse(fits(filter, { detail: {} }))
  })

  it("takes time linear in the event, and no depth of it breaks it", () => {
    const nest = (depth: number) => Array.from({ length: depth }).reduce<unknown>((inner) => [inner], "deep")
    assert.isTrue(fits({ a: ["deep"] }, { a: nest(200_000) }))
    assert.isFalse(fits({ a: { b: ["x"] } }, { a: nest(200_000) }))
    const objects = (count: number) => ({ a: Array.from({ length: count }, (_, at) => ({ b: at, c: [at, at, at] })) })
    const filter: ContentFilter = { a: { b: [{ numeric: ["<", 0] }], c: [{ "anything-but": -1 }] } }
    const once = (event: unknown) => {
      const begun = performance.now()
      assert.isFalse(fits(filter, event))
      return performance.now() - begun
    }
    // The best of several: another process may have the processor meanwhile.
    const bestMs = (event: unknown) => Math.min(...Array.from({ length: 7 }, () => once(event)))
    const [small, large] = [objects(10_000), objects(100_000)]
    assert.isBelow(bestMs(large), 50 * Math.max(0.2, bestMs(small)))
  })

  it("answers as a matcher that was written to be read", () => {
    const answers = new Set<boolean>()
    for (let seed = 1; seed <= 5_000; seed += 1) {
      const any = chance(seed)
      const [filter, event] = [any.filter(2), any.envelope()]
      const expected = plainly(filter, event)
      assert.strictEqual(fits(filter, event), expected, `${JSON.stringify(filter)} on ${JSON.stringify(event)}`)
      assert.strictEqual(firstMismatch(filter, event) === undefined, expected)
      answers.add(expected)
    }
    assert.strictEqual(answers.size, 2)
  })
})

const keys = ["a", "b", "__proto__"]
const scalars = ["", "x", "xy", 0, 1, 2.5, true, null]
const operators: ReadonlyArray<FilterAlternative> = [
  { prefix: "x" },
  { suffix: "y" },
  { exists: true },
  { exists: false },
  { numeric: [">", 0] },
  { numeric: [">=", 1, "<", 2.5] },
  { "anything-but": "x" },
  { "anything-but": ["x", 1, null] },
  { "anything-but": { prefix: "x" } }
]

/** Filters and events by chance, of few values, so that they often meet. */
const chance = (seed: number) => {
  let state = seed
  const below = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
  const one = <A>(values: ReadonlyArray<A>): A => values[below(values.length)] as A
  const several = <A>(least: number, make: () => A) => Array.from({ length: least + below(3) }, make)
  const objectOf = <A>(least: number, make: () => A): Record<string, A> =>
    Object.fromEntries(several(least, () => [one(keys), make()] as const))
  const filter = (depth: number): ContentFilter => {
    const fields = objectOf(1, () =>
      depth > 0 && below(3) === 0
        ? filter(depth - 1)
        : several<FilterAlternative>(1, () => one([...scalars, ...operators]))
    )
    return depth > 0 && below(4) === 0 ? { ...fields, $or: several(2, () => filter(depth - 1)) } : fields
  }
  const event = (depth: number): unknown => {
    const kind = depth === 0 ? 0 : below(4)
    if (kind < 2 && depth < 4) return one(scalars)
    return kind === 3 ? several(0, () => event(depth - 1)) : objectOf(0, () => event(depth - 1))
  }
  return { filter, envelope: () => objectOf(0, () => event(4)) }
}

type Plain = Readonly<Record<string, unknown>>

const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value)

/** The language, word for word. */
const plainly = (filter: ContentFilter, value: unknown): boolean => {
  const objects = [value].flat(Infinity).filter(isPlain)
  return (objects.length === 0 ? [{}] : objects).some((object: Plain) =>
    Object.entries(filter).every(([key, inner]) => {
      if (key === "$or") return (inner as ReadonlyArray<ContentFilter>).some((branch) => plainly(branch, object))
      const found = Object.entries(object).find(([name]) => name === key)?.[1]
      if (!Array.isArray(inner)) return plainly(inner as ContentFilter, found)
      const scalars = [found].flat(Infinity).filter((each) => each !== undefined && !isPlain(each))
      return (inner as ReadonlyArray<FilterAlternative>).some((alternative) =>
        JSON.stringify(alternative) === '{"exists":false}'
          ? scalars.length === 0
          : scalars.some((scalar) => holds(alternative, scalar))
      )
    })
  )
}

const holds = (alternative: FilterAlternative, value: unknown): boolean => {
  if (!isPlain(alternative)) return alternative === value
  const text = typeof value === "string" ? value : undefined
  const { prefix, suffix, numeric, "anything-but": but } = alternative as Readonly<Record<string, unknown>>
  if (prefix !== undefined) return text?.startsWith(String(prefix)) === true
  if (suffix !== undefined) return text?.endsWith(String(suffix)) === true
  if (Array.isArray(numeric)) {
    if (typeof value !== "number") return false
    return numeric.length === 2 ? value > 0 : value >= 1 && value < 2.5
  }
  if (but === undefined) return true
  return isPlain(but) ? !holds(but as FilterAlternative, value) : ![but].flat().includes(value as never)
}
