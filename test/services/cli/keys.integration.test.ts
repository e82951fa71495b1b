import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { keystoreVectors } from "../../../dev/fixtures/evm/keystore-files.ts"
import { runHere } from "../../support/command.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const password = "a password of some length"

/** A folder with the password in a file, and the command line run in it. */
const inFolder = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const at = (name: string) => join(folder, name)
  writeFileSync(at("password"), `${password}\n`)
  const run = (words: ReadonlyArray<string>, variables: Readonly<Record<string, string | undefined>> = {}) =>
    runHere(["keys", ...words], { STARLING_CALLED_FROM: folder, STARLING_KEYSTORE_PASSWORD: undefined, ...variables })
  return { at, run }
})

describe("the command `keys`", () => {
  it.live("makes a new key in a file that only its owner reads, and prints its address alone", () =>
    Effect.gen(function* () {
      const { at, run } = yield* inFolder
      const made = yield* run(["new", "settler.json", "--password-file", "password"])
      assert.strictEqual(made.code, 0, made.error)
      assert.match(made.out, /^0x[0-9a-fA-F]{40}\n$/u)
      assert.strictEqual(statSync(at("settler.json")).mode & 0o777, 0o600)
      assert.notInclude(made.out + made.error + readFileSync(at("settler.json"), "utf8"), password)
      const shown = yield* run(["address", "settler.json", "--password-file", "password"])
      assert.deepStrictEqual([shown.code, shown.out], [0, made.out])
      const unsure = yield* run(["address", "settler.json"])
      assert.deepStrictEqual([unsure.code, unsure.out], [0, made.out])
      assert.include(unsure.error, "what the file says")
    }).pipe(Effect.scoped)
  )

  it.live("imports a key by the password of a variable, and opens the file of another program", () =>
    Effect.gen(function* () {
      const { at, run } = yield* inFolder
      const key = generatePrivateKey()
      writeFileSync(at("raw"), `${key}\n`)
      const variables = { STARLING_KEYSTORE_PASSWORD: password }
      const imported = yield* run(["import", "settler.json", "--key-file", "raw"], variables)
      assert.deepStrictEqual(
        [imported.code, imported.out],
        [0, `${privateKeyToAccount(key).address}\n`],
        imported.error
      )
      assert.notInclude(imported.error + readFileSync(at("settler.json"), "utf8"), key.slice(2))
      const other = keystoreVectors[4]
      writeFileSync(at("other.json"), JSON.stringify(other?.file))
      const shown = yield* run(["address", "other.json"], { STARLING_KEYSTORE_PASSWORD: other?.password })
      assert.strictEqual(shown.out, `${privateKeyToAccount(`0x${other?.key}`).address}\n`)
    }).pipe(Effect.scoped)
  )

  it.live("never overwrites a file, and writes none without a password or for a text that is no key", () =>
    Effect.gen(function* () {
      const { at, run } = yield* inFolder
      writeFileSync(at("there.json"), "the only copy")
      const there = yield* run(["new", "there.json", "--password-file", "password"])
      assert.strictEqual(there.code, 1)
      assert.include(there.error, "there.json cannot be written: EEXIST")
      assert.strictEqual(readFileSync(at("there.json"), "utf8"), "the only copy")
      const none = yield* run(["new", "none.json"])
      assert.strictEqual(none.code, 2)
      assert.include(none.error, "--password-file, or the variable STARLING_KEYSTORE_PASSWORD")
      writeFileSync(at("empty"), "\n")
      assert.include((yield* run(["new", "none.json", "--password-file", "empty"])).error, "the password is empty")
      writeFileSync(at("raw"), "0x1234")
      const wrong = yield* run(["import", "none.json", "--key-file", "raw", "--password-file", "password"])
      assert.include(wrong.error, "raw holds no key: not 32 bytes in hex")
      assert.isFalse(existsSync(at("none.json")))
    }).pipe(Effect.scoped)
  )

  it.live("says why a file cannot be opened, and never the password", () =>
    Effect.gen(function* () {
      const { at, run } = yield* inFolder
      writeFileSync(at("other.json"), JSON.stringify(keystoreVectors[4]?.file))
      const wrong = yield* run(["address", "other.json", "--password-file", "password"])
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.error, "other.json: it is encrypted by another password")
      assert.notInclude(wrong.error, password)
      writeFileSync(at("broken.json"), "{}")
      assert.include((yield* run(["address", "broken.json"])).error, "broken.json: no keystore of version 3: version: ")
      writeFileSync(at("unnamed.json"), JSON.stringify(keystoreVectors[2]?.file))
      assert.include((yield* run(["address", "unnamed.json"])).error, "does not say its address")
    }).pipe(Effect.scoped)
  )
})
