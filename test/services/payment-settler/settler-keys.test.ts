import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { Configuration } from "#configuration"
import { Environment, Metrics } from "#runtime"
import { Secrets } from "../../../libs/runtime/secrets.ts"
import { SettlerKeys } from "../../../services/payment-settler/settler-keys.ts"
import { testNetwork } from "../../support/payments.ts"

const [one, other] = [`0x${"1".repeat(64)}`, `0x${"2".repeat(64)}`] as const
const addressOf = (key: `0x${string}`) => privateKeyToAccount(key).address.toLowerCase()
const environment = { ONE: one, AGAIN: one, OTHER: other, BROKEN: "0x12" }

const keys = <A, E>(use: (keys: SettlerKeys["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(SettlerKeys, use).pipe(
    Effect.provide(
      SettlerKeys.layer.pipe(
        Layer.provide(
          Layer.mergeAll(
            Configuration.layerOf({ Payments: { Networks: [{ ...testNetwork, SettlerKeyEnvVars: ["ONE"] }] } }),
            Layer.succeed(Environment, environment),
            Layer.succeed(Secrets, { add: () => undefined, redact: (text: string) => text } as never),
            Metrics.layerTest
          )
        )
      )
    ) as never
  ) as Effect.Effect<A, E>

const named = (...SettlerKeyEnvVars: ReadonlyArray<string>) => ({
  ...testNetwork,
  SettlerKeyEnvVars: [...SettlerKeyEnvVars]
})

describe("the keys of a network's settlers", () => {
  it.effect("are those of its variables, each account once", () =>
    Effect.gen(function* () {
      const addresses = yield* keys(({ keysOf }) =>
        Effect.map(keysOf(named("ONE", "OTHER", "AGAIN"), 0), (all) => all.map(({ address }) => address.toLowerCase()))
      )
      assert.deepStrictEqual(addresses, [addressOf(one), addressOf(other)])
    })
  )

  it.effect("are refused together with all their faults, of which none shows a key", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(keys(({ keysOf }) => keysOf(named("ONE", "BROKEN", "NONE"), 3)))
      const faults = Option.getOrThrow(Exit.findErrorOption(exit)) as ReadonlyArray<{ path: string; message: string }>
      assert.deepStrictEqual(
        faults.map(({ path }) => path),
        ["Payments.Networks[3].SettlerKeyEnvVars[1]", "Payments.Networks[3].SettlerKeyEnvVars[2]"]
      )
      assert.notInclude(JSON.stringify(faults), "0x12")
    })
  )

  it.effect("that pay refunds and sign claims are those of the configured account alone", () =>
    Effect.gen(function* () {
      const refunder = (Account: string) => ({ Network: testNetwork.Network, Account, KeyEnvVar: "ONE" }) as never
      const key = yield* keys(({ refunderOf }) => refunderOf(refunder(addressOf(one)), 0))
      assert.strictEqual(key.address.toLowerCase(), addressOf(one))
      const wrong = yield* Effect.exit(keys(({ refunderOf }) => refunderOf(refunder(addressOf(other)), 0)))
      const [fault] = Option.getOrThrow(Exit.findErrorOption(wrong)) as ReadonlyArray<{ path: string }>
      assert.strictEqual(fault?.path, "Payments.Refunds[0].KeyEnvVar")
    })
  )
})
