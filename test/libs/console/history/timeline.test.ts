import { assert, describe, it } from "@effect/vitest"
import { parseExposition, type Scan } from "#console/readings"
import {
  happening,
  hourNumberOf,
  hourWith,
  newestOf,
  type Noted,
  noticed,
  taken
} from "../../../../libs/console/history/timeline.ts"

const startMs = 1_800_000_000_000

interface Shown {
  readonly atSeconds?: number
  readonly open?: ReadonlyArray<string>
  readonly started?: number
  readonly version?: string
  readonly answers?: boolean
}

const scan = ({
  atSeconds = 0,
  open = [],
  started = 1_799_999_000,
  version = "1.0.0",
  answers = true
}: Shown): Scan => {
  const url = "http://10.0.0.1:9400"
  const exposition = answers ? parseExposition(`process_start_time_seconds ${started}.25`) : undefined
  return {
    frame: {
      breakersOpen: open,
      roles: answers ? [{ role: "sweeper", at: url, version }] : []
    } as unknown as Scan["frame"],
    reading: { atMs: startMs + atSeconds * 1_000, targets: new Map([[url, exposition]]) },
    targets: [{ url, roles: ["sweeper"] }],
    readiness: new Map()
  }
}

/** What each look but the first notices. */
const seen = (...shown: ReadonlyArray<Shown>) => {
  let noted: Noted | undefined
  return shown
    .map((one) => {
      const found = noticed(noted, scan(one))
      noted = found.noted
      return found.happened.map(({ change, what }) => `${change}: ${what}`)
    })
    .slice(1)
}

describe("what a look notices", () => {
  it.each<readonly [what: string, looks: ReadonlyArray<Shown>, noticed: ReadonlyArray<ReadonlyArray<string>>]>([
    [
      "a breaker that opens and closes",
      [{}, { open: ["endpoint demo"] }, { open: ["endpoint demo"] }, {}],
      [["opened: The breaker of endpoint demo opened"], [], ["closed: The breaker of endpoint demo closed"]]
    ],
    ["nothing of a breaker that was open before", [{ open: ["endpoint demo"] }, { open: ["endpoint demo"] }], [[]]],
    [
      "no breaker that closes because its process does not answer",
      [{ open: ["endpoint demo"] }, { answers: false }, { open: ["endpoint demo"] }],
      [[], ["started: Release 1.0.0 started at http://10.0.0.1:9400: sweeper"]]
    ],
    [
      "a process that starts, with its release",
      [{}, { started: 1_800_000_003, version: "1.1.0" }],
      [["started: Release 1.1.0 started at http://10.0.0.1:9400: sweeper"]]
    ]
  ])("is %s", (_, looks, wanted) => {
    assert.deepStrictEqual(seen(...looks), wanted)
  })

  it("dates a start by the process's own clock, also one from before the first look", () => {
    assert.deepInclude(noticed(undefined, scan({ started: 1_799_999_000 })).happened[0], {
      at: new Date(1_799_999_000_000).toISOString(),
      kind: "process"
    })
  })
})

describe("leases that went to this process", () => {
  it("are one line for each process that took some", () => {
    const held = ["a", "b", "c", "d", "e", "f", "g"].map((key) => ({ key, holder: key === "g" ? "new" : "other" }))
    const before = new Map([
      ["f", "other"],
      ["g", "old"]
    ])
    assert.deepStrictEqual(
      taken(before, held, startMs).map(({ what, by }) => [what, by]),
      [
        ["The leases a, b, c, d, e went to this process", "other"],
        ["The lease g went to this process", "new"]
      ]
    )
    assert.deepStrictEqual(taken(before, held.slice(5), startMs).length, 1)
    assert.include(taken(new Map(), held.slice(0, 6), startMs)[0]?.what, "a, b, c, d, e and 1 more")
  })
})

const at = (seconds: number, id = "a") =>
  happening({ id, at: new Date(startMs + seconds * 1_000).toISOString(), kind: "breaker", change: "opened", what: id })

describe("the list of what happened", () => {
  it("has what two consoles saw once, and what happened again twice", () => {
    const all = newestOf([at(0), at(600, "b")], [at(5), at(300), at(605, "b")], startMs + 700_000)
    assert.deepStrictEqual(
      all.map(({ id, at: when }) => [id, (Date.parse(when) - startMs) / 1_000]),
      [
        ["b", 600],
        ["a", 300],
        ["a", 0]
      ]
    )
  })

  it("keeps the newest 500 of 31 days", () => {
    const many = Array.from({ length: 600 }, (_, index) => at(index * 60, String(index)))
    const all = newestOf([at(-40 * 86_400)], many, startMs + 600 * 60_000)
    assert.strictEqual(all.length, 500)
    assert.strictEqual(all[0]?.id, "599")
  })

  it("is stored by the hour: nothing twice, and a storm ends", () => {
    const number = hourNumberOf(at(0))
    const first = hourWith(undefined, number, [at(0)])
    assert.deepStrictEqual(first?.happenings, [at(0)])
    assert.isUndefined(hourWith(first, number, [at(3)]))
    // The same key a month later.
    assert.deepStrictEqual(hourWith(first, number + 744, [at(9)])?.happenings, [at(9)])
    const storm = Array.from({ length: 300 }, (_, index) => at(0, String(index)))
    assert.strictEqual(hourWith(first, number, storm)?.happenings.length, 100)
  })
})
