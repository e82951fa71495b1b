import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Resolve, Resolver } from "#egress"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { watchProcessorShare } from "../../support/processor-share.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import {
  abandonments,
  arrived,
  attemptRecords,
  metric,
  publish,
  publishMany,
  requestsTo,
  setUp,
  stream
} from "../../support/webhooks.ts"

const mib = 1_024 * 1_024

/** A byte a second, until the other side has enough. */
const drip = (onClose: () => void) => (response: ServerResponse) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write("."), 1_000)
  response.once("close", () => {
    clearInterval(timer)
    onClose()
  })
  response.write(".")
}

/** As fast as it can, without end. */
const flood = (onClose: (bytes: number) => void) => (response: ServerResponse) => {
  const block = Buffer.alloc(64 * 1_024)
  let bytes = 0
  const pour = () => {
    while (!response.closed && bytes < 256 * mib) {
      bytes += block.length
      if (!response.write(block)) return response.once("drain", pour)
    }
    return undefined
  }
  response.writeHead(200)
  response.once("close", () => onClose(bytes))
  pour()
}

// Names of private addresses; no resolver is asked and nothing is called.
const resolve: Resolve = (host, done) =>
  host === "intranet.example"
    ? done(null, [{ address: "10.0.0.5", family: 4 }])
    : done(Object.assign(new Error(`no ${host} here`), { code: "ENOTFOUND" }), [])

describe("hostile receivers", () => {
  for (const [how, delivery] of [
    ["each with a consumer of its own", {}],
    ["sharing partitions", { PartitionsAbove: 0 }]
  ] as const) {
    it.live(`${how} cost one bounded attempt each and hold up nobody`, () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        const ends = { drip: 0, floodBytes: 0 }
        receiver.answer("/drip", () => drip(() => (ends.drip = Date.now())))
        receiver.answer("/flood", () => flood((bytes) => (ends.floodBytes = bytes)))
        const metadata = { Location: "http://169.254.169.254/latest/meta-data/" }
        receiver.answer("/metadata", () => ({ status: 307, headers: metadata }))
        const hostile = (Name: string, Url: string) => ({
          Name,
          Url,
          EventFilter: ["queue.paused"],
          MaxAttempts: 1,
          TimeoutSeconds: 10
        })
        const endpoints = [
          hostile("drip", receiver.url("/drip")),
          hostile("flood", receiver.url("/flood")),
          hostile("metadata", receiver.url("/metadata")),
          hostile("intranet", "http://intranet.example/"),
          hostile("link-local", "http://169.254.169.254/latest/meta-data/"),
          { Name: "well", Url: receiver.url("/well"), EventFilter: ["work_item.merged"] }
        ]
        yield* whileDispatching(
          server,
          { endpoints, delivery },
          Effect.gen(function* () {
            const share = watchProcessorShare()
            yield* publish("queue.paused")
            yield* arrived(receiver, "/drip", 1)
            yield* publishMany("work_item.merged", 100)
            yield* arrived(receiver, "/well", 100)
            assert.strictEqual(ends.drip, 0, "the healthy one was served while the drip went on")

            yield* eventually(stream("ABANDONED"), { is: (all) => all.length === 3 })
            yield* eventually(() => ends.drip > 0 && ends.floodBytes > 0)
            const why = new Map((yield* abandonments).map((reason) => [reason["endpoint"], reason]))
            assert.deepInclude(why.get("metadata"), { attempts: 1, lastStatus: 307 })
            assert.include(why.get("intranet")?.["lastError"], "may not be called")
            assert.include(why.get("link-local")?.["lastError"], "may not be called")
            assert.isBelow(ends.floodBytes, 16 * mib)

            const ofHostile = Effect.map(attemptRecords, (all) => all.filter(({ endpoint }) => endpoint !== "well"))
            yield* eventually(ofHostile, { is: (all) => all.length === 5 })
            const shareThen = yield* Effect.promise(share.end)
            for (const { durationMs, endpoint, ...ended } of yield* ofHostile) {
              // Their heads said 200, whatever came after.
              const isTaken = ["drip", "flood"].includes(String(endpoint))
              if (isTaken) assert.deepInclude(ended, { outcome: "delivered", status: 200 }, String(endpoint))
              assert.isBelow(Number(durationMs), 10_000 + 2_000 / shareThen, String(endpoint))
            }
            for (const path of ["/drip", "/flood", "/metadata"]) {
              assert.strictEqual(requestsTo(receiver, path).length, 1, path)
            }
            assert.strictEqual(yield* metric("egress_refusals_total", 'range="private"'), 1)
            // The one that is configured so; the redirect to it was not followed.
            assert.strictEqual(yield* metric("egress_refusals_total", 'range="link-local"'), 1)
          })
        )
      }).pipe(Effect.provideService(Resolver, resolve))
    )
  }
})
