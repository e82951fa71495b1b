import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { framesOf, readAgainAfterMs } from "../../../../libs/console/readings/scrape.ts"

/** A process whose metrics have about so many characters, and how often they were read. */
const processWith = (characters: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const line = 'webhook_backlog{endpoint="a"} 1'
      const text = `process_cpu_seconds_total 1\n${`${line}\n`.repeat(Math.ceil(characters / line.length))}`
      let reads = 0
      const server = createServer((request, response) => {
        if (request.url?.startsWith("/metrics") === true) reads += 1
        response.end(request.url === "/readyz" ? '{"checks":{}}' : text)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      return { server, target: { url: `http://127.0.0.1:${port}`, roles: [] }, reads: () => reads }
    }),
    ({ server }) => Effect.promise(() => new Promise((resolve) => void server.close(resolve)))
  )

describe("the pace of readings", () => {
  it.each([
    [1_249_999, 0],
    [1_250_000, 1_000],
    [10_000_000, 8_000],
    [1_000_000_000, 60_000]
  ])("after %d characters is %d ms", (characters, wanted) => {
    assert.strictEqual(readAgainAfterMs(characters), wanted)
  })

  it.live("leaves a short process be read whenever it is asked for, and gives a long one's frame again", () =>
    Effect.gen(function* () {
      const short = yield* processWith(100)
      const long = yield* processWith(4_000_000)
      const [shortFrames, longFrames] = [framesOf(), framesOf()]
      const firstOfLong = yield* longFrames([long.target])
      assert.strictEqual(firstOfLong.frame.windowSeconds, 0)
      yield* shortFrames([short.target])
      const startMs = yield* Clock.currentTimeMillis
      // The window of two readings within one millisecond would be empty.
      while ((yield* Clock.currentTimeMillis) === startMs) yield* Effect.yieldNow
      const second = yield* longFrames([long.target])
      assert.isAbove(second.frame.windowSeconds, 0)
      for (let again = 0; again < 3; again += 1) {
        assert.strictEqual(yield* longFrames([long.target]), second)
        yield* shortFrames([short.target])
      }
      assert.strictEqual(long.reads(), 2)
      assert.strictEqual(short.reads(), 4)
    })
  )
})
