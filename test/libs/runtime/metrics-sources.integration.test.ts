import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { defineCounter, figuresAt, Health, joinFigures, labelled, Metrics, MetricsSources, OpsServer } from "#runtime"

const own = '# HELP a_total A.\n# TYPE a_total counter\na_total{role="x"} 1\n\n# TYPE b gauge\nb 2\n'
const childs =
  '# HELP a_total A.\n# TYPE a_total counter\na_total{role="y",of="} 1 {"} 3\n# TYPE c gauge\nc 4 1700000000000\n'

describe("the figures of several processes", () => {
  it("are one text that describes each metric once", () => {
    assert.strictEqual(
      joinFigures([own, childs]),
      [
        "# HELP a_total A.",
        "# TYPE a_total counter",
        'a_total{role="x"} 1',
        'a_total{role="y",of="} 1 {"} 3',
        "",
        "# TYPE b gauge",
        "b 2",
        "",
        "# TYPE c gauge",
        "c 4 1700000000000",
        ""
      ].join("\n")
    )
  })

  it("are told apart by a label where they have none of that name", () => {
    assert.strictEqual(
      labelled(childs, "role", "child"),
      '# HELP a_total A.\n# TYPE a_total counter\na_total{role="y",of="} 1 {"} 3\n# TYPE c gauge\nc{role="child"} 4 1700000000000\n'
    )
    assert.strictEqual(labelled('d{payrole="z"} 1', "role", "child"), 'd{role="child",payrole="z"} 1')
  })

  const child = Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        if (request.url === "/metrics") response.end(childs)
        else if (request.url === "/refused") response.writeHead(500).end(childs)
        // Any other path is never answered.
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

  it.live("are at the one address of the process, which shows its own alone when asked so", () =>
    Effect.gen(function* () {
      const { url: childUrl } = yield* child
      const { url } = yield* OpsServer
      const metrics = yield* Metrics
      metrics.counter(defineCounter({ name: "a_total", help: "A.", labels: [] })).inc({})
      yield* (yield* MetricsSources).add(figuresAt(`${childUrl}/metrics`))

      const all = yield* figuresAt(`${url}/metrics`)
      assert.include(all, 'a_total{role="fleet"} 1\na_total{role="y",of="} 1 {"} 3')
      assert.strictEqual(all.match(/# TYPE a_total/gu)?.length, 1)
      assert.notInclude(yield* figuresAt(`${url}/metrics?of=process`), 'role="y"')
    }).pipe(
      Effect.provide(
        OpsServer.layer({ host: "127.0.0.1", port: 0 }).pipe(
          Layer.provideMerge(Layer.mergeAll(Health.layer, Metrics.layerTest, MetricsSources.layer))
        )
      )
    )
  )

  it.live("name the child processes that run, until each is gone", () =>
    Effect.gen(function* () {
      const { add, children } = yield* MetricsSources
      let url: string | undefined = "http://127.0.0.1:9"
      yield* Effect.gen(function* () {
        yield* add(Effect.succeed(""), { role: "speech-synthesizer", url: () => url })
        yield* add(Effect.succeed(""))
        assert.deepStrictEqual(yield* children, [{ role: "speech-synthesizer", url: "http://127.0.0.1:9" }])
        url = undefined
        assert.deepStrictEqual(yield* children, [])
        url = "http://127.0.0.1:10"
        assert.lengthOf(yield* children, 1)
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(yield* children, [])
    }).pipe(Effect.provide(MetricsSources.layer))
  )

  it.live("leave out a process that is away, refuses or does not answer, and wait for none beyond two seconds", () =>
    Effect.gen(function* () {
      const { url } = yield* child
      const startedAt = performance.now()
      const texts = yield* Effect.all(
        [figuresAt(`${url}/refused`), figuresAt(`${url}/silent`), figuresAt("http://127.0.0.1:9/metrics")],
        { concurrency: 3 }
      )
      assert.deepStrictEqual(texts, ["", "", ""])
      assert.isBelow(performance.now() - startedAt, 8_000)
    })
  )
})
