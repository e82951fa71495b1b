import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { hourOf, type ProjectSpend } from "#pipeline/contract"
import { makeSpendBook, type Reported, spendCommands } from "../../../services/sweeper/spend-ledger.ts"
import { hourMs, nowMs } from "./rows.ts"

const spent = (costMicroUsd: number, atMs = nowMs, projectId = "garden") => [{ projectId, atMs, costMicroUsd }]

describe("spend", () => {
  it("covers the present hour and the 720 whole hours before it", () => {
    const presentMs = hourOf(nowMs) * hourMs
    const book = makeSpendBook()
    book.add(1, spent(1, presentMs))
    book.add(2, spent(10, presentMs - 720 * hourMs))
    book.add(3, spent(100, presentMs - 720 * hourMs - 1))
    book.add(4, spent(1_000, presentMs + hourMs))
    assert.strictEqual(book.spentBy("garden", nowMs), 11)
    assert.strictEqual(book.spentBy("other", nowMs), 0)
    assert.strictEqual(book.spentBy("garden", nowMs + hourMs), 1_001)
  })

  it("counts a record once, however often it is read", () => {
    const book = makeSpendBook()
    book.add(7, [...spent(5), ...spent(6)])
    book.add(7, [...spent(5), ...spent(6)])
    book.add(6, spent(99))
    assert.strictEqual(book.spentBy("garden", nowMs), 11)
  })

  it("stops at the largest exact number", () => {
    const book = makeSpendBook()
    book.add(1, spent(Number.MAX_SAFE_INTEGER))
    book.add(2, spent(2))
    assert.strictEqual(book.spentBy("garden", nowMs), Number.MAX_SAFE_INTEGER)
  })

  it("drops past hours, and a project without any", () => {
    const book = makeSpendBook()
    book.add(1, spent(1))
    assert.strictEqual(book.takeChanged().length, 1)
    book.prune(nowMs + 721 * hourMs)
    assert.deepStrictEqual(book.takeChanged(), [{ _tag: "ProjectSpend", projectId: "garden", position: 1, hours: [] }])
  })
})

const Step = Schema.Struct({
  project: Schema.Literals(["garden", "attic"]),
  hoursAgo: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 760 })),
  costMicroUsd: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000_000 })),
  /** Before this record: continue, store the sums, or die with the stored sums and begin at an older cursor. */
  before: Schema.Literals(["go on", "go on", "store", "die", "die while storing"])
})

describe("spend over crashes", () => {
  it.prop(
    "equals the sum of every record once, to the micro-dollar",
    { steps: Schema.Array(Step).check(Schema.isMaxLength(60)) },
    ({ steps }) => {
      const log = steps.map(({ project, hoursAgo, costMicroUsd }, index) => ({
        sequence: index + 1,
        spent: spent(costMicroUsd, nowMs - hoursAgo * hourMs, project)
      }))
      const stored = new Map<string, ProjectSpend>()
      let cursor = 0
      let book = makeSpendBook()
      let position = 0
      const store = (isWhole: boolean) => {
        for (const [index, one] of book.takeChanged().entries()) {
          if (!isWhole && index > 0) return
          stored.set(one.projectId, one)
        }
        if (isWhole) cursor = position
      }
      const die = () => {
        book = makeSpendBook()
        stored.forEach(book.load)
        position = cursor
      }
      const readTo = (sequence: number) => {
        for (const record of log.slice(position, sequence)) book.add(record.sequence, record.spent)
        position = sequence
      }
      for (const [index, { before }] of steps.entries()) {
        readTo(index)
        if (before === "store") store(true)
        if (before === "die while storing") store(false)
        if (before.startsWith("die")) die()
      }
      readTo(log.length)

      for (const project of ["garden", "attic"]) {
        const isCounted = (hoursAgo: number) => hourOf(nowMs) - hourOf(nowMs - hoursAgo * hourMs) <= 720
        const all = steps.filter((step) => step.project === project && isCounted(step.hoursAgo))
        const sum = all.reduce((total, { costMicroUsd }) => total + BigInt(costMicroUsd), 0n)
        assert.strictEqual(BigInt(book.spentBy(project, nowMs)), sum)
      }
    }
  )
})

describe("a project with a budget", () => {
  const project = (id: string, sequence = 3, budgetMicroUsd: number | null = 5) => ({
    id,
    sequence,
    summary: { settings: { budgetMicroUsd } }
  })
  const plan = (
    projects: ReadonlyArray<ReturnType<typeof project>>,
    reported: ReadonlyMap<string, Reported>,
    spend = 8
  ) => spendCommands({ projects, spentBy: () => spend, reported, epoch: "run 1" })
  const last = (changes: Partial<Reported> = {}) =>
    new Map([["a", { spendMicroUsd: 8, sequence: 3, turn: 1, ...changes }]])

  it("gets its spend in every run of the process", () => {
    const [planned] = plan([project("a")], new Map())
    assert.deepStrictEqual(planned?.command, { _tag: "SweepSpend", spendMicroUsd: 8, epoch: "run 1" })
    assert.strictEqual(planned?.commandId, "sweep.spend.run 1.3.8")
  })

  it("gets it again when its spend or the project has changed", () => {
    assert.strictEqual(plan([project("a")], last()).length, 0)
    assert.strictEqual(plan([project("a")], last({ spendMicroUsd: 7 })).length, 1)
    assert.strictEqual(plan([project("a")], last({ sequence: 2 })).length, 1)
  })

  it("gets it before those that got theirs later", () => {
    const reported = new Map([
      ...last({ turn: 2, sequence: 1 }),
      ["b", { spendMicroUsd: 1, sequence: 1, turn: 1 }] as const
    ])
    assert.deepStrictEqual(
      plan([project("a"), project("b"), project("c")], reported).map(({ id }) => id),
      ["c", "b", "a"]
    )
  })

  it("gets at most the largest spend that a command can carry", () => {
    const [planned] = plan([project("a")], new Map(), Number.MAX_SAFE_INTEGER)
    assert.isTrue(planned?.command._tag === "SweepSpend" && planned.command.spendMicroUsd === 1_000_000_000_000_000)
  })

  it("is the only one that gets its spend", () => {
    assert.strictEqual(plan([project("a", 3, null)], new Map()).length, 0)
  })
})
