import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule, type Scope } from "effect"
import { recoverAddress as recovered, keccak256, serializeSignature, parseSignature } from "viem"
import { generatePrivateKey, privateKeyToAccount, sign } from "viem/accounts"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { openRemoteSigner } from "#payments"
import type { TestSigner } from "../../../../../dev/fixtures/evm/remote-signer.ts"
import { hexOf } from "../../../../../libs/payments/chains/evm/encoding.ts"
import { identifierOf } from "../../../../../libs/payments/chains/evm/RemoteSigner.ts"
import { newAuthority, type Signed } from "../../../../support/certificates.ts"
import { testSigner } from "../../../../support/settler-signers.ts"

const key = generatePrivateKey()
const address = privateKeyToAccount(key).address.toLowerCase()
const message = Buffer.from("02f8718201", "hex")

const services = ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

const signing = (signer: Pick<TestSigner, "url">, options: Partial<Parameters<typeof openRemoteSigner>[0]> = {}) =>
  openRemoteSigner({ url: signer.url, address, timeoutMs: 1_000, ...options })

const live = <A, E>(
  name: string,
  test: (signer: TestSigner) => Effect.Effect<A, E, ConfiguredHttp | Metrics | Scope.Scope>
) =>
  it.live(name, () =>
    Effect.flatMap(testSigner([generatePrivateKey(), key]), test).pipe(Effect.provide(services), Effect.scoped)
  )

const detailOf = <A>(asking: Effect.Effect<A, { readonly message: string }>) =>
  Effect.map(Effect.flip(asking), (error) => error.message)

describe("a remote signer", () => {
  live("is sent the bytes themselves, and its signature is of their hash by the key of the address", (signer) =>
    Effect.gen(function* () {
      const remote = yield* signing(signer)
      const signature = hexOf(yield* remote.sign(message))
      const by = yield* Effect.promise(() => recovered({ hash: keccak256(message), signature }))
      assert.strictEqual(by.toLowerCase(), address)
      assert.deepStrictEqual(signer.signed, [hexOf(message)])
      yield* remote.check
      assert.isFalse(remote.isUnavailable())
    })
  )

  live("is asked again after an error of its own and after silence, three times in all", (signer) =>
    Effect.gen(function* () {
      const remote = yield* signing(signer, { timeoutMs: 200 })
      signer.fail((asked) => [{ status: 500 }, { isSilent: true }][asked])
      assert.lengthOf(yield* remote.sign(message), 65)
      assert.lengthOf(signer.signed, 3)
      signer.fail(() => ({ status: 503 }))
      assert.include(yield* detailOf(remote.sign(message)), "the remote signer answered 503")
      assert.lengthOf(signer.signed, 6)
    })
  )

  live("is not asked again when it refuses", (signer) =>
    Effect.gen(function* () {
      const remote = yield* signing(signer)
      signer.fail(() => ({ status: 400 }))
      assert.include(yield* detailOf(remote.sign(message)), "the remote signer answered 400")
      assert.lengthOf(signer.signed, 1)
    })
  )

  const otherKey = generatePrivateKey()
  const highHalf = (signature: string) => {
    const { r, s, yParity } = parseSignature(signature as `0x${string}`)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const high = `0x${(order - BigInt(s)).toString(16).padStart(64, "0")}` as const
    return serializeSignature({ r, s: high, yParity: yParity === 0 ? 1 : 0 })
  }
  const wrong: ReadonlyArray<readonly [string, (signature: string) => Promise<string>, string]> = [
    ["is of another key", async () => signed(otherKey, message), `is not of ${address} over what it was sent`],
    ["is of other bytes", async () => signed(key, Buffer.from("01")), `is not of ${address} over what it was sent`],
    ["has its s in the upper half", async (signature) => highHalf(signature), "with its s in the lower half"],
    ["is no signature", async () => "0x1234", "is no signature of 65 bytes"],
    ["is a page", async () => "<html>".repeat(1_000), "is no signature of 65 bytes"]
  ]
  for (const [name, answer, part] of wrong) {
    live(`is refused when its answer ${name}`, (signer) =>
      Effect.gen(function* () {
        const remote = yield* signing(signer)
        const good = hexOf(yield* remote.sign(message))
        const body = yield* Effect.promise(() => answer(good))
        signer.fail(() => ({ body }))
        assert.include(yield* detailOf(remote.sign(message)), part)
      })
    )
  }

  live("may write its signature as JSON", (signer) =>
    Effect.gen(function* () {
      const remote = yield* signing(signer)
      signer.fail((_asked, signature) => ({ body: JSON.stringify(signature) }))
      assert.lengthOf(yield* remote.sign(message), 65)
    })
  )

  live("without the key says so, and signs once it has it", (signer) =>
    Effect.gen(function* () {
      signer.hold([otherKey])
      const remote = yield* signing(signer)
      assert.include(yield* detailOf(remote.check), `it has no key of ${address}`)
      signer.hold([otherKey, key])
      yield* remote.check
      assert.lengthOf(yield* remote.sign(message), 65)
    })
  )

  live("that keeps failing is not called for a while, counts as away, and is asked again", (signer) =>
    Effect.gen(function* () {
      const remote = yield* signing(signer)
      signer.fail(() => ({ status: 403 }))
      for (const _ of [1, 2, 3]) yield* Effect.flip(remote.sign(message))
      assert.isTrue(remote.isUnavailable())
      assert.include(yield* detailOf(remote.sign(message)), "its circuit is open")
      assert.lengthOf(signer.signed, 3)
      signer.fail(undefined)
      const again = Effect.retry(remote.sign(message), { times: 40, schedule: Schedule.spaced("100 millis") })
      assert.lengthOf(yield* again, 65)
      assert.isFalse(remote.isUnavailable())
    })
  )

  it.live("behind TLS is believed by the certificates that the operator names, and by no others", () =>
    Effect.gen(function* () {
      const authority = yield* Effect.acquireRelease(Effect.sync(newAuthority), ({ remove }) => Effect.sync(remove))
      const { certificate, key: file } = authority.sign("localhost")
      const tls = { cert: readFileSync(certificate, "utf8"), key: readFileSync(file, "utf8") }
      const signer = yield* testSigner([key], { tls })
      const trusting = yield* signing(signer, { trusted: readFileSync(authority.caFile, "utf8") })
      assert.lengthOf(yield* trusting.sign(message), 65)
      const plain = yield* signing(signer)
      assert.include(yield* detailOf(plain.sign(message)), "tls: ")
      assert.lengthOf(signer.signed, 1)
    }).pipe(Effect.provide(services), Effect.scoped)
  )

  it.live("that asks for our certificate is shown it, and answers nobody without one", () =>
    Effect.gen(function* () {
      const authority = yield* Effect.acquireRelease(Effect.sync(newAuthority), ({ remove }) => Effect.sync(remove))
      const pem = ({ certificate, key: file }: Signed) => ({
        cert: readFileSync(certificate, "utf8"),
        key: readFileSync(file, "utf8")
      })
      const ca = readFileSync(authority.caFile, "utf8")
      const signer = yield* testSigner([key], { tls: { ...pem(authority.sign("localhost")), ca } })
      const known = yield* signing(signer, { trusted: ca, identity: pem(authority.sign("settler")) })
      assert.lengthOf(yield* known.sign(message), 65)
      const unknown = yield* signing(signer, { trusted: ca })
      assert.include(yield* detailOf(unknown.sign(message)), "the remote signer does not answer")
      assert.lengthOf(signer.signed, 1)
    }).pipe(Effect.provide(services), Effect.scoped)
  )

  it.live("that is asked by many at once signs for each of them", () =>
    Effect.gen(function* () {
      const signer = yield* testSigner([key])
      const remote = yield* signing(signer)
      const messages = Array.from({ length: 100 }, (_, index) => Buffer.from(`message ${index}`))
      const fibers = yield* Effect.forEach(messages, (one) => Effect.forkChild(remote.sign(one)))
      const signatures = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
      assert.strictEqual(new Set(signatures.map((one) => hexOf(one))).size, 100)
    }).pipe(Effect.provide(services), Effect.scoped)
  )
})

describe("the keys of a remote signer", () => {
  it("are known by their addresses, whole, without their first byte, and compressed", () => {
    const { publicKey } = privateKeyToAccount(key)
    const parity = BigInt(`0x${publicKey.slice(-1)}`) % 2n === 0n ? "02" : "03"
    const compressed = `0x${parity}${publicKey.slice(4, 68)}`
    for (const written of [publicKey, `0x${publicKey.slice(4)}`, publicKey.slice(2), compressed]) {
      assert.strictEqual(identifierOf(["0x00", "no key", written], address), written)
    }
    assert.isUndefined(identifierOf(["0x", `0x${"ff".repeat(64)}`], address))
  })
})

const signed = async (by: `0x${string}`, what: Uint8Array) =>
  serializeSignature(await sign({ hash: keccak256(what), privateKey: by }))
