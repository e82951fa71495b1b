import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Logger, Result, Scope } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { Configuration, effectiveSettings } from "#configuration"
import type { PaymentRequirements } from "#payments/contract"
import type { RoleName } from "#base"
import { permit2Address } from "#dev/chain"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { ClaimMove, Claims, openEvmScheme, readEvmKey } from "#payments"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { busOf } from "../../../dev/fixtures/payment-bus.ts"
import { newPayer } from "../../../dev/fixtures/evm/payments.ts"
import { approveCall } from "../../../dev/fixtures/evm/token-calls.ts"
import { uptoPayment } from "../../../dev/fixtures/evm/upto-payments.ts"
import { fundedKey, path, payloadIn, payWith, signFor } from "../../support/attacker.ts"
import { ask, chat } from "../../support/gateway.ts"
import { quoteOf } from "../../support/payment-client.ts"
import {
  balanced,
  type Parts,
  type PaymentFleet,
  type PaymentFleetOptions,
  withPayments
} from "../../support/payment-fleet.ts"
import { testCall } from "../../support/payments.ts"
import { keystorePassword, signerKinds } from "../../support/settler-signers.ts"
import { creditOf } from "../../../dev/fixtures/payment-accounts.ts"

const body = chat("hello")

type Json = Readonly<Record<string, unknown>>

interface Written {
  readonly Payments: Json & { readonly Networks: ReadonlyArray<Json> }
}

/** The configuration with other facts of its one network. */
const onNetwork = (configuration: Json, changes: Json): Json => {
  const { Payments } = configuration as unknown as Written
  return { ...configuration, Payments: { ...Payments, Networks: [{ ...Payments.Networks[0], ...changes }] } }
}

/** The fleet whose payers may sign one of these settlers, by their place. */
const naming =
  (...settlers: ReadonlyArray<number>): NonNullable<PaymentFleetOptions["configure"]> =>
  ({ chain, configuration, environment }: Parts) => ({
    configuration: onNetwork(configuration, {
      Schemes: ["exact", "upto"],
      FacilitatorAddresses: settlers.map((place) => chain.settlers[place]?.address)
    }),
    environment
  })

const payer = Effect.fnUntraced(function* ({ chain }: PaymentFleet) {
  const account = newPayer()
  yield* chain.fund(account.address, 1_000_000n)
  yield* chain.rpc("anvil_impersonateAccount", [account.address])
  yield* chain.rpc("anvil_setBalance", [account.address, "0xde0b6b3a7640000"])
  const approval = { from: account.address, to: chain.asset, data: approveCall(permit2Address) }
  yield* chain.rpc("eth_sendTransactionSync", [approval])
  return account
})

const uptoOffer = ({ url }: PaymentFleet) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    const unpaid = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    return quoteOf(unpaid).accepts.find(({ scheme }) => scheme === "upto") ?? assert.fail("upto is not offered")
  })

const signUpto = Effect.fnUntraced(function* (account: ReturnType<typeof newPayer>, offer: PaymentRequirements) {
  const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const payload = yield* Effect.promise(() => uptoPayment(account, offer, { nowSeconds }))
  return { "payment-signature": Buffer.from(JSON.stringify(payload)).toString("base64") }
})

const payUpto = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  const headers = yield* signUpto(yield* payer(fleet), yield* uptoOffer(fleet))
  return yield* ask(fleet, path, body, headers)
})

const payExact = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  return yield* payWith(fleet, body, yield* signFor(fleet, body, yield* fundedKey(fleet)))
})

/** Transactions that each settler has in blocks. */
const sentBy = ({ chain }: PaymentFleet) =>
  Effect.forEach(chain.settlers, ({ address }) =>
    Effect.map(chain.rpc("eth_getTransactionCount", [address, "latest"]), Number)
  )

const signedIn = (fleet: PaymentFleet, outcome: "signed" | "failed") =>
  Effect.map(fleet.metrics, (text) =>
    [...text.matchAll(/^payment_signatures_total\{([^}]*)\} ([0-9]+)$/gmu)]
      .filter(([, labels]) => labels?.includes(`outcome="${outcome}"`))
      .reduce((sum, [, , count]) => sum + Number(count), 0)
  )

describe.each(signerKinds)("a settler whose key is in: %s", (signer) => {
  it.live("settles payments by exact and by upto, and counts what it has signed", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const answers = [yield* payUpto(fleet), yield* payExact(fleet)]
          assert.deepStrictEqual(
            answers.map(({ status }) => status),
            [200, 200]
          )
          assert.strictEqual(yield* balanced(fleet), 2)
          assert.strictEqual(yield* signedIn(fleet, "signed"), 2)
          assert.strictEqual(yield* signedIn(fleet, "failed"), 0)
          assert.deepStrictEqual(yield* sentBy(fleet), [2])
        }),
      { chain: { settlerCount: 1 }, configure: naming(0), signer }
    )
  )

  it.live("shows its key and its password nowhere: not in logs, metrics, readiness, settings or refusals", () => {
    const lines: Array<string> = []
    const everything = Logger.layer([
      Logger.make((entry) => void lines.push(inspect([entry.message, entry.cause], { depth: 12 })))
    ])
    return withPayments(
      (fleet) =>
        Effect.gen(function* () {
          fleet.signer?.fail((asked) => (asked === 0 ? { status: 500, body: "no" } : undefined))
          assert.strictEqual((yield* payExact(fleet)).status, 200)
          assert.strictEqual(yield* balanced(fleet), 1)
          // Another start fails, and says why.
          const [settler] = fleet.chain.settlers
          const other = onNetwork(fleet.configuration, { SettlerKeyEnvVars: ["PATH_OF_NOTHING"] })
          const refused = yield* Effect.exit(Effect.scoped(fleet.start("payment-settler", other)))
          assert.isTrue(Exit.isFailure(refused))
          const shown = [
            ...lines,
            inspect(refused, { depth: 12 }),
            yield* fleet.metrics,
            JSON.stringify(yield* fleet.readiness),
            yield* Effect.map(Configuration, (configuration) =>
              JSON.stringify(effectiveSettings(configuration, new Map()))
            ).pipe(Effect.provide(Configuration.layerOf(fleet.configuration)))
          ].join("\n")
          const secrets = [settler?.privateKey.slice(2) ?? "", keystorePassword]
          const inBytes = inspect(Buffer.from(secrets[0] ?? "", "hex")).slice(8, 40)
          for (const secret of [...secrets, inBytes]) assert.notInclude(shown.toLowerCase(), secret.toLowerCase())
          assert.include(shown, "PATH_OF_NOTHING")
        }),
      { chain: { settlerCount: 1 }, signer }
    ).pipe(Effect.provide(everything))
  })
})

describe("a settler whose remote signer", () => {
  const remote = { chain: { settlerCount: 1 }, signer: "remote", payments: { SettleWaitSeconds: 0.5 } } as const
  const failed = (fleet: PaymentFleet) => eventually(signedIn(fleet, "failed"), { is: (count) => count > 0 })

  it.live("is away serves on, and settles what was served once it is back", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          fleet.signer?.fail(() => ({ status: 503 }))
          const answer = yield* payExact(fleet)
          assert.deepStrictEqual([answer.status, answer.headers.get("x-payment-settled")], [200, "false"])
          yield* failed(fleet)
          assert.deepStrictEqual(yield* fleet.transfers, [])
          fleet.signer?.fail(undefined)
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      remote
    )
  )

  it.live("signs for another account sends nothing to the chain", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const stranger = privateKeyToAccount(`0x${"77".repeat(32)}`)
          const wrong = yield* Effect.promise(() => stranger.sign({ hash: `0x${"11".repeat(32)}` }))
          fleet.signer?.fail(() => ({ body: wrong }))
          assert.strictEqual((yield* payExact(fleet)).headers.get("x-payment-settled"), "false")
          yield* failed(fleet)
          assert.deepStrictEqual(yield* sentBy(fleet), [0])
          fleet.signer?.fail(undefined)
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      remote
    )
  )

  it.live("has lost one of two keys settles by the other", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const [, other] = fleet.chain.settlers
          fleet.signer?.hold(other === undefined ? [] : [other.privateKey])
          const answers = yield* Effect.forEach([1, 2, 3, 4], () => payExact(fleet), { concurrency: 4 })
          assert.isTrue(answers.every(({ status }) => status === 200))
          assert.strictEqual(yield* balanced(fleet), 4)
          assert.deepStrictEqual(yield* sentBy(fleet), [0, 4])
        }),
      { ...remote, chain: { settlerCount: 2 } }
    )
  )

  it.live("has lost the key is not ready, and says so", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const check = Effect.map(fleet.readiness, (all) => all["payment-settler"]?.checks["signer TEST_SETTLER_0"])
          yield* eventually(check, { is: (text) => text === "ok" })
          fleet.signer?.hold([])
          yield* eventually(check, { is: (text) => text?.includes("it has no key of 0x") === true })
          assert.isFalse((yield* fleet.readiness)["payment-settler"]?.ok)
        }),
      remote
    )
  )
})

describe("a settler whose keystore", () => {
  const startWith = (changes: (signer: Json) => Json) =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const { Payments } = fleet.configuration as unknown as {
            readonly Payments: { readonly Signers: Array<Json> }
          }
          const Signers = Payments.Signers.map(changes)
          const started = fleet.start("payment-settler", { ...fleet.configuration, Payments: { ...Payments, Signers } })
          return String(yield* Effect.flip(Effect.scoped(started)))
        }),
      { chain: { settlerCount: 1 }, signer: "keystore", roles: [] }
    )
  const faults: ReadonlyArray<readonly [string, (signer: Json) => Json, string]> = [
    ["is another's", (signer) => ({ ...signer, Address: `0x${"11".repeat(20)}` }), `, not of 0x${"11".repeat(20)}`],
    ["has no password", (signer) => ({ ...signer, PasswordFile: "/dev/null" }), "/dev/null is empty"],
    [
      "has another password",
      (signer) => ({ ...signer, PasswordFile: "package.json" }),
      "it is encrypted by another password"
    ],
    ["is not there", (signer) => ({ ...signer, KeystoreFile: "/nowhere/till.json" }), "/nowhere/till.json"],
    ["is no keystore", (signer) => ({ ...signer, KeystoreFile: "package.json" }), "no keystore of version 3"]
  ]
  for (const [name, changes, part] of faults) {
    it.live(`${name} does not start, and names the entry of the configuration`, () =>
      Effect.map(startWith(changes), (text) => {
        assert.include(text, "Payments.Signers[0].")
        assert.include(text, part)
      })
    )
  }
})

const retired = ({ chain, configuration }: Parts, old: number, ...current: ReadonlyArray<number>): Json =>
  onNetwork(configuration, {
    FacilitatorAddresses: current.map((place) => chain.settlers[place]?.address),
    RetiringAddresses: [chain.settlers[old]?.address]
  })

/** Starts a role in a scope of its own. */
const started = Effect.fnUntraced(function* (fleet: PaymentFleet, role: RoleName, configuration?: Json) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  yield* Scope.provide(fleet.start(role, configuration), scope)
  return scope
})

describe("a settler's key that is rotated as docs/payments.md says", () => {
  it.live("finishes what payers have signed for it, and every new payment goes to the new key", () =>
    withPayments(
      (parts) =>
        Effect.gen(function* () {
          const rotated = retired(parts, 0, 1)
          const verifier = yield* started(parts, "payment-verifier")
          const gateway = yield* started(parts, "model-gateway")
          const fleet: PaymentFleet = { ...parts, url: parts.gateways().at(-1) ?? "" }
          const early = yield* payer(fleet)
          const oldOffer = yield* uptoOffer(fleet)
          assert.strictEqual(oldOffer.extra?.["facilitatorAddress"], fleet.chain.settlers[0]?.address)

          // Served under the old key, and not settled when the key is changed.
          const served = [yield* payUpto(fleet), yield* payUpto(fleet)]
          assert.isTrue(served.every(({ status }) => status === 200))
          assert.deepStrictEqual(yield* sentBy(fleet), [0, 0])
          yield* started(fleet, "payment-settler", rotated)
          assert.strictEqual(yield* balanced(fleet), 2)
          assert.deepStrictEqual(yield* sentBy(fleet), [2, 0])

          // Verifiers and then gateways follow; a quote of before is still good.
          yield* started(fleet, "payment-verifier", rotated)
          yield* Scope.close(verifier, Exit.void)
          yield* started(fleet, "model-gateway", rotated)
          yield* Scope.close(gateway, Exit.void)
          const later: PaymentFleet = { ...fleet, url: fleet.gateways().at(-1) ?? "" }
          const newOffer = yield* uptoOffer(later)
          assert.strictEqual(newOffer.extra?.["facilitatorAddress"], fleet.chain.settlers[1]?.address)
          const late = yield* ask(later, path, body, yield* signUpto(early, oldOffer))
          assert.strictEqual(late.status, 200)
          assert.strictEqual(yield* balanced(fleet), 3)
          assert.deepStrictEqual(yield* sentBy(fleet), [3, 0])

          const paid = [yield* payUpto(later), yield* payExact(later), yield* payExact(later)]
          assert.isTrue(paid.every(({ status }) => status === 200))
          assert.strictEqual(yield* balanced(fleet), 6)
          assert.deepStrictEqual(yield* sentBy(fleet), [3, 3])
        }),
      {
        chain: { settlerCount: 2 },
        configure: naming(0),
        roles: [],
        payments: { SettleWaitSeconds: 0.5 }
      }
    )
  )

  it.live("leaves a transaction that it has sent to be found, or made once by the new key", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const { chain } = fleet
          const bus = yield* busOf(fleet.server)
          yield* Effect.gen(function* () {
            const scheme = yield* openEvmScheme({
              network: chain.network,
              asset: chain.asset,
              payTo: "",
              rpcUrls: [chain.rpcUrl]
            })
            const claims = yield* Claims
            const key = Result.getOrThrow(readEvmKey(chain.network, chain.settlers[0]?.privateKey ?? ""))
            for (const isSent of [true, false]) {
              const payload = payloadIn(yield* signFor(fleet, body, yield* fundedKey(fleet)))
              const checked = Result.getOrThrow(scheme.check(payload, payload.accepted, yield* Clock.currentTimeMillis))
              const claimed = yield* claims.claim(checked, testCall())
              const claim = yield* claims.move(claimed, ClaimMove.Settle())
              const nonce = yield* scheme.node.transactionCount(key.address, "pending")
              const prepared = yield* scheme.prepare(checked, { key, nonce })
              // As a settler does, which is killed then, before it has sent it or after.
              const moved = yield* claims.move(claim, ClaimMove.Prepare({ transaction: prepared.transaction }))
              yield* claims.requestSettlement(moved, null)
              if (isSent) yield* scheme.node.send(`0x${Buffer.from(prepared.raw).toString("hex")}`)
            }
          }).pipe(
            Effect.provide(
              Layer.mergeAll(Claims.layer({ credit: creditOf(1), keptMs: 86_400_000 }), ConfiguredHttp.layer).pipe(
                Layer.provideMerge(Layer.succeedContext(bus)),
                Layer.provideMerge(Metrics.layerTest)
              )
            )
          )
          // The old key is gone for good.
          yield* started(
            fleet,
            "payment-settler",
            onNetwork(fleet.configuration, { SettlerKeyEnvVars: ["TEST_SETTLER_1"] })
          )
          yield* eventually(
            Effect.andThen(
              chain.rpc("evm_mine", []),
              Effect.map(fleet.transfers, (transfers) => transfers.length === 2)
            )
          )
          yield* Effect.forkScoped(Effect.forever(Effect.delay(chain.rpc("evm_mine", []), "200 millis")))
          assert.strictEqual(yield* balanced(fleet), 2)
          const [byOld = 0, byNew = 0] = yield* sentBy(fleet)
          assert.deepStrictEqual([byOld, byNew >= 1], [1, true])
        }),
      {
        chain: { settlerCount: 2, onlyInterval: true, blockTimeMs: 3_600_000 },
        roles: ["payment-verifier", "model-gateway"]
      }
    )
  )
})
