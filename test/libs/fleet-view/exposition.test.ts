import { assert, describe, it } from "@effect/vitest"
import { parseExposition } from "../../../libs/fleet-view/exposition.ts"

describe("the page at /metrics", () => {
  it("is read by name, with its labels and values", () => {
    const series = parseExposition(
      [
        "# HELP a_total Things.",
        "# TYPE a_total counter",
        'a_total{role="x",kind="y"} 3',
        'a_total{role="z"} 4.5e2',
        "b 1 1700000000000"
      ].join("\n")
    )
    assert.deepStrictEqual(
      [...series].map(([name, samples]) => [name, samples.map(({ labels, value }) => ({ labels, value }))]),
      [
        [
          "a_total",
          [
            { labels: { role: "x", kind: "y" }, value: 3 },
            { labels: { role: "z" }, value: 450 }
          ]
        ],
        ["b", [{ labels: {}, value: 1 }]]
      ]
    )
  })

  it("keeps all characters of label values: quotes, backslashes, line ends, braces and commas", () => {
    const [sample] = parseExposition(String.raw`a{name="say \"hi\", {\\} \n."} 1`).get("a") ?? []
    assert.strictEqual(sample?.labels["name"], 'say "hi", {\\} \n.')
  })

  it("knows the values without digits", () => {
    const series = parseExposition('a_bucket{le="+Inf"} 7\nb +Inf\nc NaN\nd -Inf')
    assert.strictEqual(series.get("a_bucket")?.[0]?.labels["le"], "+Inf")
    assert.strictEqual(series.get("b")?.[0]?.value, Infinity)
    assert.isNaN(series.get("c")?.[0]?.value)
    assert.strictEqual(series.get("d")?.[0]?.value, -Infinity)
  })

  it.each(["", "<html>", "a", "a{", 'a{b="c"', 'a{b="c} 1', "a one", '{b="c"} 1'])("is parsed past %j", (line) => {
    assert.strictEqual(parseExposition(`${line}\n`).size, 0)
  })
})
