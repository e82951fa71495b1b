import { assert, describe, it } from "@effect/vitest"
import {
  columns,
  compatibilityPage,
  features,
  type Outcome,
  outcomeOf
} from "../../../services/model-gateway/compatibility.ts"
import type { ApiDialect } from "../../../services/model-gateway/conversation/Conversation.ts"

const toldOf = (name: string, dialect: ApiDialect): ReadonlyArray<Outcome> => {
  const feature = features.find((each) => each.name === name) ?? assert.fail(`there is no feature ${name}`)
  const example = feature.examples[dialect] ?? assert.fail(`${dialect} knows no ${name}`)
  return columns.map((column) => outcomeOf(feature, example, dialect, column))
}

describe("the table of dialects and providers", () => {
  it("has every content carried to every kind of provider, but for sound", () => {
    for (const { name, examples } of features.slice(0, 7)) {
      for (const dialect of Object.keys(examples) as ReadonlyArray<ApiDialect>) {
        const expected = name === "sounds" ? ["carried", "carried", "carried", "refused"] : columns.map(() => "carried")
        assert.deepStrictEqual([...toldOf(name, dialect)], expected, `${name} in ${dialect}`)
      }
    }
  })

  it.each<readonly [string, ApiDialect, ReadonlyArray<Outcome>]>([
    ["thoughts with their seal", "responses", ["not asked for", "carried", "carried", "carried"]],
    ["thoughts without a seal", "messages", ["not asked for", "carried", "carried", "not asked for"]],
    ["marks for the cache", "chat", ["left out", "carried", "left out", "carried"]],
    ["`top_k`", "messages", ["left out", "carried", "left out", "carried"]],
    ["`logit_bias`", "chat", ["carried", "carried", "refused", "refused"]],
    ["several answers", "chat", ["carried", "carried", "carried", "refused"]],
    ["a schema for the answer", "messages", ["carried", "carried", "carried", "carried"]],
    ["tools that a provider runs, beside others", "responses", ["left out", "left out", "left out", "left out"]],
    ["keys that nobody knows", "responses", ["left out", "left out", "left out", "left out"]]
  ])("says of %s in %s what the writers do", (name, dialect, outcomes) => {
    assert.deepStrictEqual([...toldOf(name, dialect)], [...outcomes])
  })

  it("is a page with a row for each feature and a column for each kind of provider", () => {
    const page = compatibilityPage()
    for (const { name } of features) assert.include(page, `| ${name} `)
    for (const { name } of columns) assert.include(page, name)
  })
})
