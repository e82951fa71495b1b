import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { openKeystore, readKeystore, sealKeystore } from "#payments"
import { keystoreVectors } from "../../../../../dev/fixtures/evm/keystore-files.ts"
import { newKey } from "../../../../../dev/fixtures/evm/terms.ts"
import { bytesOf, hexOf } from "../../../../../libs/payments/chains/evm/encoding.ts"

const cheap = { n: 2, r: 8, p: 1 }
const [specified] = keystoreVectors
const light = keystoreVectors[4]
/** The first account of the mnemonic that local chains begin with. */
const known = {
  key: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  address: "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
}

const opened = (text: string, password: string) =>
  Effect.flatMap(Effect.fromResult(readKeystore(text)), (keystore) => openKeystore(keystore, password))

const faultOf = (text: string, password = "foo") =>
  Effect.map(Effect.flip(opened(text, password)), ({ what, message }) => ({ what, message }))

/** The file with another value at a path of it. */
const changed = (path: ReadonlyArray<string>, value: unknown, file: unknown = light?.file): string => {
  const copy = JSON.parse(JSON.stringify(file)) as Record<string, unknown>
  const holder = path.slice(0, -1).reduce((part, key) => part[key] as Record<string, unknown>, copy)
  holder[path.at(-1) ?? ""] = value
  return JSON.stringify(copy)
}

describe("a keystore file of another program", () => {
  // The specification's own two take a second of work: they are opened among the thorough tests.
  for (const { name, file, password, key } of keystoreVectors.slice(2)) {
    it.effect(`is opened by its password: ${name}`, () =>
      Effect.map(opened(JSON.stringify(file), password), (bytes) => assert.strictEqual(hexOf(bytes), `0x${key}`))
    )
  }

  it.effect("may have its field crypto in capitals, and a 0x before its texts, as old clients wrote them", () =>
    Effect.gen(function* () {
      const { crypto, ...rest } = JSON.parse(JSON.stringify(light?.file)) as Record<string, unknown>
      const text = JSON.stringify({ ...rest, address: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", Crypto: crypto })
      assert.strictEqual(hexOf(yield* opened(text, light?.password ?? "")), `0x${light?.key}`)
    })
  )
})

describe("a keystore file of ours", () => {
  it.effect("holds the key under its password, and names its address", () =>
    Effect.gen(function* () {
      const { key } = known
      const text = yield* sealKeystore(bytesOf(key), "pass phrase ✓", cheap)
      assert.strictEqual(hexOf(yield* opened(text, "pass phrase ✓")), key)
      const { address } = Result.getOrThrow(readKeystore(text))
      assert.strictEqual(address, known.address)
      assert.notInclude(text, key.slice(2))
    })
  )

  it.effect("has a new salt and a new initial vector each time", () =>
    Effect.gen(function* () {
      const key = bytesOf(newKey())
      const texts = yield* Effect.forEach([1, 2], () => sealKeystore(key, "p", cheap))
      const parts = texts.map((text) => Result.getOrThrow(readKeystore(text)).crypto)
      assert.notStrictEqual(parts[0]?.kdfparams.salt, parts[1]?.kdfparams.salt)
      assert.notStrictEqual(parts[0]?.cipherparams.iv, parts[1]?.cipherparams.iv)
    })
  )
})

describe("a keystore file that cannot be opened", () => {
  it.effect("says that the password is wrong, and neither password", () =>
    Effect.gen(function* () {
      const fault = yield* faultOf(JSON.stringify(light?.file), "another password")
      assert.deepStrictEqual(fault, { what: "password", message: "it is encrypted by another password" })
    })
  )

  it.effect("is refused for another password when its text was changed", () =>
    Effect.gen(function* () {
      const text = changed(["crypto", "ciphertext"], "00".repeat(32))
      assert.strictEqual((yield* faultOf(text, light?.password)).what, "password")
    })
  )

  it.effect("is refused when it says that it is of another address than its key", () =>
    Effect.gen(function* () {
      const fault = yield* faultOf(changed(["address"], "11".repeat(20)), light?.password)
      assert.strictEqual(fault.what, "key")
      assert.include(fault.message, `it says that it is of 0x${"11".repeat(20)}, and its key is of 0x2c7536`)
    })
  )

  const malformed: ReadonlyArray<readonly [string, string, string]> = [
    ["no JSON", "not json", "it is not a JSON object"],
    ["a list", "[]", "it is not a JSON object"],
    ["a file of megabytes", " ".repeat(20_000), "longer than 16384 characters"],
    ["another version", changed(["version"], 1), "version: "],
    ["another cipher", changed(["crypto", "cipher"], "aes-128-cbc"), "crypto.cipher: "],
    ["another key derivation", changed(["crypto", "kdf"], "argon2"), "crypto.kdf: "],
    ["a short mac", changed(["crypto", "mac"], "00"), "crypto.mac: "],
    ["no salt", changed(["crypto", "kdfparams", "salt"], 5), "crypto.kdfparams.salt: "],
    ["a derived key of another length", changed(["crypto", "kdfparams", "dklen"], 64), "crypto.kdfparams.dklen: "],
    ["a text that is longer than a key", changed(["crypto", "ciphertext"], "00".repeat(33)), "crypto.ciphertext: "]
  ]
  for (const [name, text, part] of malformed) {
    it.effect(`is refused with the place of the fault: ${name}`, () =>
      Effect.gen(function* () {
        const fault = yield* faultOf(text)
        assert.strictEqual(fault.what, "form")
        assert.include(fault.message, part)
      })
    )
  }

  const costly: ReadonlyArray<readonly [string, string, string]> = [
    ["memory", changed(["crypto", "kdfparams", "n"], 2 ** 30), "1048577 MiB of memory, and 520 are allowed"],
    ["blocks", changed(["crypto", "kdfparams", "r"], 2 ** 20), "524416 MiB of memory"],
    ["lanes", changed(["crypto", "kdfparams", "p"], 2 ** 20), "1028 MiB of memory"],
    ["time", changed(["crypto", "kdfparams", "p"], 2 ** 10), "8 times the work"],
    ["no power of two", changed(["crypto", "kdfparams", "n"], 3), "no power of two"],
    [
      "rounds",
      changed(["crypto", "kdfparams", "c"], 2 ** 40, keystoreVectors[1]?.file),
      "more than the 10000000 allowed"
    ]
  ]
  for (const [name, text, part] of costly) {
    it.effect(`is refused before anything is derived when it asks for too much: ${name}`, () =>
      Effect.gen(function* () {
        const fault = yield* faultOf(text)
        assert.strictEqual(fault.what, "cost")
        assert.include(fault.message, part)
      })
    )
  }

  it("costs as much as the usual files of geth and of the specification at most twice", () => {
    assert.isTrue(Result.isSuccess(readKeystore(JSON.stringify(specified?.file))))
    for (const cost of [
      { n: 262_144, r: 8, p: 1 },
      { n: 524_288, r: 8, p: 1 },
      { n: 131_072, r: 8, p: 1 }
    ]) {
      const file = changed(["crypto", "kdfparams"], { dklen: 32, salt: "00".repeat(32), ...cost })
      assert.isTrue(Result.isSuccess(readKeystore(file)), JSON.stringify(cost))
    }
  })
})
