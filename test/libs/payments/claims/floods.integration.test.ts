import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { Mailbox, topology } from "#bus"
import { Metrics } from "#runtime"
import { ClaimMove, Claims } from "#payments"
import { busOn, natsServer, withBus } from "../../../../dev/fixtures/bus.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { onBus, optionsFor, patiently, stateOf, why } from "./claims-on-bus.ts"

describe("ten thousand uses of one payment at once", () => {
  it.live("give one holder and 9,999 replays, over two replicas, with a thousand in flight", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = Layer.fresh(Claims.layer(optionsFor(1)).pipe(Layer.provideMerge(busOn(server))))
      const flood = (name: string) =>
        Effect.gen(function* () {
          const claims = yield* Claims
          const exits = yield* Effect.forEach(
            Array.from({ length: 5_000 }),
            () => Effect.exit(patiently(claims.claim(checkedPayment("one"), testCall("whole", name)))),
            { concurrency: 600 }
          )
          return { exits, connection: (yield* Mailbox).instance }
        }).pipe(Effect.provide(replica))
      const before = performance.now()
      const [one, two] = yield* Effect.all([flood("gateway-1"), flood("gateway-2")], { concurrency: 2 })
      assert.notStrictEqual(one.connection, two.connection)
      const exits = [...one.exits, ...two.exits]
      yield* Effect.logInfo(`10,000 claims of one key in ${Math.round(performance.now() - before)} ms`)
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.strictEqual(exits.filter((exit) => why(exit) === "replay").length, 9_999)
    })
  )

  it.live("still give a released payment exactly one holder", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const first = yield* claims.claim(checkedPayment("one"), testCall())
        yield* claims.move(first, ClaimMove.Release({ reason: "upstream failed" }))
        const exits = yield* Effect.forEach(
          Array.from({ length: 2_000 }),
          () => Effect.exit(patiently(claims.claim(checkedPayment("one"), testCall()))),
          { concurrency: 1_000 }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        assert.strictEqual(exits.filter((exit) => why(exit) === "replay").length, 1_999)
      })
    )
  )
})

describe("a killed broker", () => {
  it.live("with a thousand claims under way leaves no payment with two holders", () =>
    withBus(
      (server) =>
        Effect.gen(function* () {
          const claims = yield* Claims
          const names = Array.from({ length: 250 }, (_, index) => `n${index}`)
          const claim = (name: string) => claims.claim(checkedPayment(name, name), testCall())
          const claimAll = (how: typeof claim) =>
            Effect.forEach(
              [...names, ...names, ...names, ...names],
              (name) => Effect.map(Effect.exit(how(name)), (exit) => ({ name, exit })),
              { concurrency: 1_000 }
            )
          const kill = Effect.promise(() => server.kill9()).pipe(
            Effect.delay(40),
            Effect.andThen(Effect.promise(() => server.start()))
          )
          const [during] = yield* Effect.all([claimAll(claim), kill], { concurrency: 2 })
          const after = yield* claimAll((name) => patiently(claim(name)))
          const won = [...during, ...after].filter(({ exit }) => Exit.isSuccess(exit))
          assert.isAbove(during.filter(({ exit }) => Exit.isFailure(exit) && why(exit) === "none").length, 0)
          assert.strictEqual(new Set(won.map(({ name }) => name)).size, won.length)
          for (const { name, exit } of won) {
            const stored = Option.getOrThrow(yield* claims.read(checkedPayment(name, name).claimKey))
            assert.strictEqual(Exit.isSuccess(exit) && exit.value.record.ticket, stored.record.ticket)
          }
          for (const name of names) {
            assert.strictEqual(yield* stateOf(checkedPayment(name, name).claimKey), "CLAIMED")
          }
        }).pipe(Effect.provide(Claims.layer(optionsFor(1)))),
      topology
    )
  )
})

describe("the cost", () => {
  it.live("of a claim is a few round trips", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const times: Array<number> = []
        for (let index = 0; index < 600; index += 1) {
          const checked = checkedPayment(`n${index}`, `p${index}`)
          const before = performance.now()
          yield* claims.claim(checked, testCall())
          times.push(performance.now() - before)
        }
        const sorted = times.slice(100).toSorted((one, other) => one - other)
        yield* Effect.logInfo(`a claim takes p50 ${sorted[250]?.toFixed(2)} ms, p99 ${sorted[495]?.toFixed(2)} ms`)
        const text = yield* (yield* Metrics).text
        assert.match(text, /x402_claims_total\{.*outcome="claimed".*\} 600/u)
      })
    )
  )
})
