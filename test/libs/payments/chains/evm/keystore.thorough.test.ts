import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openKeystore, readKeystore } from "#payments"
import { keystoreVectors } from "../../../../../dev/fixtures/evm/keystore-files.ts"
import { hexOf } from "../../../../../libs/payments/chains/evm/encoding.ts"

describe("a keystore file of another program, at its full cost", () => {
  for (const { name, file, password, key } of keystoreVectors.slice(0, 2)) {
    it.effect(`is opened by its password: ${name}`, () =>
      Effect.gen(function* () {
        const keystore = yield* Effect.fromResult(readKeystore(JSON.stringify(file)))
        assert.strictEqual(hexOf(yield* openKeystore(keystore, password)), `0x${key}`)
      })
    )
  }
})
