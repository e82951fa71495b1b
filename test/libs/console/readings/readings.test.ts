import { assert, describe, it } from "@effect/vitest"
import { parseExposition, quantileOf, type Reading, windowOf } from "../../../../libs/console/readings/readings.ts"

const reading = (atMs: number, targets: Readonly<Record<string, string | undefined>>): Reading => ({
  atMs,
  targets: new Map(
    Object.entries(targets).map(([url, text]) => [url, text === undefined ? undefined : parseExposition(text)])
  )
})

describe("a window of two readings", () => {
  it("sums the counters of all processes, by labels", () => {
    const before = reading(1_000, { a: 'n_total{x="1"} 10\nn_total{x="2"} 5', b: 'n_total{x="1"} 100' })
    const after = reading(3_000, { a: 'n_total{x="1"} 14\nn_total{x="2"} 5', b: 'n_total{x="1"} 106' })
    const window = windowOf(before, after)
    assert.strictEqual(window.seconds, 2)
    assert.strictEqual(window.rate("n_total"), 5)
    assert.strictEqual(window.rate("n_total", { x: "2" }), 0)
    assert.strictEqual(window.now("n_total", { x: "1" }), 120)
    assert.strictEqual(window.most("n_total"), 106)
    assert.deepStrictEqual(window.values("n_total", "x"), ["1", "2"])
  })

  it("treats a decreased counter as restarted, and a new one as started at zero", () => {
    const window = windowOf(reading(0, { a: "n_total 50" }), reading(1_000, { a: "n_total 3\nm_total 2" }))
    assert.strictEqual(window.increase("n_total"), 3)
    assert.strictEqual(window.increase("m_total"), 2)
  })

  it("does not count a process's history from before its first reading", () => {
    const window = windowOf(reading(0, { a: undefined }), reading(1_000, { a: "n_total 5000", b: "n_total 9" }))
    assert.strictEqual(window.increase("n_total"), 0)
    assert.strictEqual(window.now("n_total"), 5_009)
  })

  it("has no rates from one reading alone", () => {
    assert.isNaN(windowOf(undefined, reading(0, { a: "n_total 1" })).rate("n_total"))
  })

  it("takes quantiles of the values between the readings, over all processes", () => {
    const text = (low: number, high: number) =>
      `h_bucket{le="0.1"} ${low}\nh_bucket{le="1"} ${high}\nh_bucket{le="+Inf"} ${high}`
    const window = windowOf(
      reading(0, { a: text(1_000, 1_000), b: text(0, 0) }),
      reading(1_000, { a: text(1_000, 1_050), b: text(50, 50) })
    )
    assert.closeTo(window.quantile("h", 0.25), 0.05, 1e-9)
    assert.closeTo(window.quantile("h", 0.75), 0.55, 1e-9)
    assert.isNaN(window.quantile("absent", 0.5))
  })
})

describe("a quantile of buckets", () => {
  it.each([
    [0.5, 0.1],
    [0.9, 0.5],
    [0.99, 0.5]
  ])("at %d is %d", (share, wanted) => {
    const buckets = [
      [Infinity, 100],
      [0.5, 90],
      [0.1, 50]
    ] as const
    assert.closeTo(quantileOf(buckets, share), wanted, 1e-9)
  })

  it("of nothing does not exist", () => {
    assert.isNaN(quantileOf([], 0.5))
    assert.isNaN(
      quantileOf(
        [
          [1, 0],
          [Infinity, 0]
        ],
        0.5
      )
    )
  })
})

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
