import { HTTPFacilitatorClient } from "@x402/core/http"
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { wrapAxiosWithPayment } from "@x402/axios"
import { UptoEvmScheme } from "@x402/evm/upto/client"
import { create } from "axios"
import { Effect, type Scope } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { createPublicClient, http, serializeErc6492Signature } from "viem"
import { baseSepolia } from "viem/chains"
import type { PaymentPayload, PaymentRequirements, Receipt } from "#payments/contract"
import { permit2Address, walletFactoryAddress } from "#dev/chain"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { newPayer } from "../../../../dev/fixtures/evm/payments.ts"
import { approveCall, deployWalletCall } from "../../../../dev/fixtures/evm/token-calls.ts"
import { forgedPermit, permitOf, uptoPayment, withApproval } from "../../../../dev/fixtures/evm/upto-payments.ts"
import { ask, chat, eventsOf } from "../../../support/gateway.ts"
import { quoteOf } from "../../../support/payment-client.ts"
import {
  balanced,
  type Parts,
  type PaymentFleet,
  type PaymentFleetOptions,
  withPayments as plainPayments
} from "../../../support/payment-fleet.ts"
import { layouts } from "../../../support/payment-layouts.ts"

const chatPath = "/api/v1/chat/completions"
const images = "/api/v1/images/generations"

interface NetworkEntry {
  readonly Network: string
}

/** The usual fleet, which takes `upto` beside `exact`. */
const offering = ({ chain, configuration, environment }: Parts) => {
  const { Payments } = configuration as { readonly Payments: { readonly Networks: ReadonlyArray<NetworkEntry> } }
  const Networks = Payments.Networks.map((entry) => ({
    ...entry,
    Schemes: ["exact", "upto"],
    FacilitatorAddresses: chain.settlers.map(({ address }) => address)
  }))
  return { configuration: { ...configuration, Payments: { ...Payments, Networks } }, environment }
}

/** The same, with models whose input costs nothing. */
const withFreeInput = (parts: Parts) => {
  const { configuration, environment } = offering(parts)
  const { ModelGateway } = configuration as unknown as {
    readonly ModelGateway: { readonly Models: ReadonlyArray<object> }
  }
  const Models = ModelGateway.Models.map((model) =>
    "OutputMicroUsdPerMillionTokens" in model ? { ...model, InputMicroUsdPerMillionTokens: 0 } : model
  )
  return { configuration: { ...configuration, ModelGateway: { ...ModelGateway, Models } }, environment }
}

const usual: PaymentFleetOptions = { chain: { settlerCount: 1 }, configure: offering }

const post = (fleet: PaymentFleet, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  ask(fleet, path, body, headers)

const offersOf = (fleet: PaymentFleet, body: unknown, path = chatPath) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    const unpaid = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    await unpaid.body?.cancel()
    return quoteOf(unpaid).accepts
  })

const uptoOffer = (fleet: PaymentFleet, body: unknown, path = chatPath) =>
  Effect.map(offersOf(fleet, body, path), (offers) => {
    const offer = offers.find(({ scheme }) => scheme === "upto")
    return offer ?? assert.fail("upto is not offered")
  })

/** A payer of its own, with money, that has approved Permit2 before unless it is told not to. */
const payerOn = Effect.fnUntraced(function* ({ chain }: PaymentFleet, { approves = true, units = 10_000_000n } = {}) {
  const payer = newPayer()
  yield* chain.fund(payer.address, units)
  if (approves) {
    yield* chain.rpc("anvil_impersonateAccount", [payer.address])
    yield* chain.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"])
    const data = approveCall(permit2Address)
    yield* chain.rpc("eth_sendTransactionSync", [{ from: payer.address, to: chain.asset, data }])
  }
  return payer
})
type Payer = Effect.Success<ReturnType<typeof payerOn>>

const clientOf = (fleet: PaymentFleet, payer: Payer) =>
  new x402Client().register("eip155:*", new UptoEvmScheme(payer, { rpcUrl: fleet.chain.rpcUrl }))

const headerOf = (payload: PaymentPayload) => ({
  "payment-signature": Buffer.from(JSON.stringify(payload)).toString("base64")
})

const nowSeconds = () => Math.floor(Date.now() / 1_000)

const signed = Effect.fnUntraced(function* (fleet: PaymentFleet, payer: Payer, body: unknown, path = chatPath) {
  const offer = yield* uptoOffer(fleet, body, path)
  return yield* Effect.promise(() => uptoPayment(payer, offer, { nowSeconds: nowSeconds() }))
})

interface Charged {
  readonly amount: bigint
  readonly ceiling: bigint
}

const chargedIn = ({ amount, ceiling }: Receipt): Charged => ({
  amount: BigInt(amount),
  ceiling: BigInt(ceiling ?? -1)
})

const settledOf = (fleet: PaymentFleet) =>
  Effect.map(fleet.receipts, (all) => all.filter(({ outcome }) => outcome === "settled"))

/** The charge of the only receipt, which is what the chain has moved. */
const onlyCharge = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  assert.strictEqual(yield* balanced(fleet), 1)
  const [receipt] = yield* settledOf(fleet)
  assert.deepStrictEqual([receipt?.scheme, receipt?.outcome], ["upto", "settled"])
  const charged = chargedIn(receipt ?? assert.fail("no receipt"))
  assert.deepStrictEqual(yield* fleet.transfers, [charged.amount])
  return charged
})

const tokensPrice = (input: number, output: number) => BigInt(Math.max(input + 2 * output, 1_000)) + 1_000n

const settlementIn = (text: string) => {
  const comment = eventsOf(text).comments.find((one) => one.startsWith("payment-response "))
  return decodePaymentResponseHeader(comment?.slice("payment-response ".length) ?? "")
}

describe.each(layouts)("a call that is paid by upto, $layout", ({ withPayments }) => {
  const withUpto = <A, E>(
    test: (fleet: PaymentFleet) => Effect.Effect<A, E, Scope.Scope>,
    options: PaymentFleetOptions = {}
  ) => withPayments(test, { ...usual, ...options })

  it.live("is paid by the protocol's own clients, unmodified, in all dialects, whole and streamed", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet, { approves: false })
        const client = clientOf(fleet, payer)
        const pay = wrapFetchWithPayment(fetch, client) as typeof fetch
        const send = (path: string, body: unknown) =>
          Effect.promise(async () => {
            const headers = { "content-type": "application/json" }
            const response = await pay(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
            return { response, text: await response.text() }
          })
        const messages = { model: "demo/echo", max_tokens: 500, messages: [{ role: "user", content: "one two three" }] }
        const responses = { model: "demo/echo", max_output_tokens: 500, input: "one two three" }
        const calls = [
          [chatPath, chat("one two three", { max_tokens: 500 })],
          ["/v1/messages", messages],
          ["/v1/responses", responses],
          [images, { model: "demo/picture", prompt: "a starling" }]
        ] as const
        for (const [path, body] of calls) {
          const { response, text } = yield* send(path, body)
          assert.strictEqual(response.status, 200, text)
          const settled = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "")
          assert.isTrue(settled.success)
          assert.match(String(settled.amount), /^[1-9][0-9]*$/u)
          assert.strictEqual(response.headers.get("x-payment-receipt"), settled.transaction)
          if (path === images) continue
          assert.include(text, "one two three")
          const streamed = yield* send(path, { ...body, stream: true })
          assert.strictEqual(streamed.response.status, 200, streamed.text)
          assert.strictEqual(settlementIn(streamed.text).amount, settled.amount, path)
        }
        const axios = wrapAxiosWithPayment(create(), client as never)
        const told = yield* Effect.promise(() =>
          axios.post(`${fleet.url}${chatPath}`, chat("by axios", { max_tokens: 900 }))
        )
        assert.strictEqual(told.data.choices[0].message.content, "by axios")
        const picture = yield* Effect.promise(() =>
          axios.post(`${fleet.url}${images}`, { model: "demo/picture", prompt: "another" })
        )
        assert.strictEqual(picture.status, 200)

        assert.strictEqual(yield* balanced(fleet), 9)
        const receipts = yield* settledOf(fleet)
        assert.isTrue(receipts.every(({ scheme }) => scheme === "upto"))
        const charges = receipts.map(chargedIn)
        assert.isTrue(charges.every(({ amount, ceiling }) => amount > 0n && amount <= ceiling))
        assert.deepStrictEqual(charges.map(({ amount }) => amount).toSorted(), [...(yield* fleet.transfers)].toSorted())
        // A call of a flat price costs all that was signed for.
        assert.strictEqual(charges.filter(({ amount, ceiling }) => amount === ceiling).length, 2)
      })
    )
  )

  it.live("costs the tokens that its provider reported, and its quote is the price of the longest answer", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const body = chat("!words 700", { max_tokens: 1_000 })
        const offer = yield* uptoOffer(fleet, body)
        assert.isTrue(BigInt(offer.amount) >= tokensPrice(64, 1_000))
        const payment = yield* Effect.promise(() => uptoPayment(payer, offer, { nowSeconds: nowSeconds() }))
        const said = yield* post(fleet, chatPath, body, headerOf(payment))
        assert.strictEqual(said.status, 200, said.text)
        const usage = said.body["usage"] as { readonly prompt_tokens: number; readonly completion_tokens: number }
        assert.strictEqual(usage.completion_tokens, 700)
        const { amount, ceiling } = yield* onlyCharge(fleet)
        assert.strictEqual(amount, tokensPrice(usage.prompt_tokens, 700))
        assert.strictEqual(ceiling, BigInt(offer.amount))
        const settled = decodePaymentResponseHeader(said.headers.get("payment-response") ?? "")
        assert.deepInclude(
          { ...settled },
          { success: true, amount: String(amount), payer: payer.address.toLowerCase() }
        )
        const metrics = yield* fleet.metrics
        const usd = /^gateway_charged_usd_total\{[^}]*model="demo\/echo",outcome="settled"\} (\S+)$/mu.exec(
          metrics
        )?.[1]
        assert.closeTo(Number(usd), Number(amount) / 1e6, 1e-9)
      })
    )
  )

  it.live("costs what is counted here when its provider reports nothing", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const body = chat("!no-usage", { max_tokens: 1_000 })
        const said = yield* post(fleet, chatPath, body, headerOf(yield* signed(fleet, payer, body)))
        assert.strictEqual(said.status, 200, said.text)
        const content = String(
          (said.body["choices"] as ReadonlyArray<{ readonly message: { readonly content: string } }>)[0]?.message
            .content
        )
        const { amount } = yield* onlyCharge(fleet)
        assert.strictEqual(amount, tokensPrice(64, Math.ceil(Buffer.byteLength(content) / 4)))
      })
    )
  )

  it.live("costs what was sent when its caller leaves the stream midway", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const body = chat("!words 4000 5", { stream: true, max_tokens: 8_000 })
        const payment = yield* signed(fleet, payer, body)
        const seen = yield* Effect.promise(async () => {
          const leaving = new AbortController()
          const response = await fetch(`${fleet.url}${chatPath}`, {
            method: "POST",
            headers: { "content-type": "application/json", ...headerOf(payment) },
            body: JSON.stringify(body),
            signal: leaving.signal
          })
          const reader = response.body?.getReader()
          let bytes = 0
          while (bytes < 100_000) {
            const { value } = (await reader?.read()) ?? {}
            if (value === undefined) break
            bytes += value.length
          }
          leaving.abort()
          return bytes
        })
        assert.isAtLeast(seen, 100_000)
        yield* eventually(fleet.transfers, { is: (all) => all.length === 1 })
        const { amount, ceiling } = yield* onlyCharge(fleet)
        assert.isTrue(amount > tokensPrice(64, 100), `${amount}`)
        assert.isTrue(amount < ceiling / 2n, `${amount} of ${ceiling}`)
      })
    )
  )

  it.live("costs nothing when its provider fails, even after content, and the same payment is good for a retry", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const broken = chat("!drop 3", { stream: true, max_tokens: 1_000 })
        const payment = yield* signed(fleet, payer, broken)
        const said = yield* post(fleet, chatPath, broken, headerOf(payment))
        assert.include(said.text, '"error"')
        assert.deepStrictEqual(yield* fleet.claimStates, ["RELEASED"])
        assert.deepStrictEqual(yield* fleet.transfers, [])

        const good = chat("!pass 3", { stream: true, max_tokens: 1_000 })
        const again = yield* post(fleet, chatPath, good, headerOf(payment))
        assert.strictEqual(again.status, 200, again.text)
        const { amount, ceiling } = yield* onlyCharge(fleet)
        assert.isTrue(amount < ceiling)
      })
    )
  )

  it.live("ends at what was signed, as at its longest length, when its provider continues beyond", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const body = chat("!overrun 20000", { stream: true, max_tokens: 2_000 })
        const said = yield* post(fleet, chatPath, body, headerOf(yield* signed(fleet, payer, body)))
        const { data } = eventsOf(said.text)
        assert.strictEqual(data.at(-1), "[DONE]")
        const reasons = data
          .slice(0, -1)
          .flatMap((text) => (JSON.parse(text) as { choices: ReadonlyArray<{ finish_reason: string | null }> }).choices)
          .flatMap(({ finish_reason: reason }) => reason ?? [])
        assert.deepStrictEqual(reasons, ["length"])
        assert.isBelow(data.length, 6_000)
        const { amount, ceiling } = yield* onlyCharge(fleet)
        assert.strictEqual(amount, ceiling)
        assert.strictEqual(settlementIn(said.text).amount, String(ceiling))
        yield* eventually(() => fleet.upstream.calls.every(({ state }) => state !== "running"))
      })
    )
  )

  it.live("of which nothing is to be charged needs no transaction, and is not good for another call", () =>
    withUpto(
      (fleet) =>
        Effect.gen(function* () {
          const payer = yield* payerOn(fleet)
          const body = chat("!words 0", { max_tokens: 1_000 })
          const payment = yield* signed(fleet, payer, body)
          const said = yield* post(fleet, chatPath, body, headerOf(payment))
          assert.strictEqual(said.status, 200, said.text)
          const settled = decodePaymentResponseHeader(said.headers.get("payment-response") ?? "")
          assert.deepInclude({ ...settled }, { success: true, transaction: "", amount: "0" })
          assert.isFalse(said.headers.has("x-payment-receipt"))
          yield* eventually(fleet.claimStates, { is: (states) => states.join() === "SETTLED" })
          const [receipt] = yield* settledOf(fleet)
          assert.deepInclude(
            { ...receipt },
            { amount: "0", transaction: null, ceiling: permitOf(payment).permit2Authorization.permitted.amount }
          )
          assert.deepStrictEqual(yield* fleet.transfers, [])
          const again = yield* post(fleet, chatPath, body, headerOf(payment))
          assert.strictEqual(again.body["code"], "PAYMENT_REPLAY")
        }),
      { payments: { FlatFeeUsd: 0, PriceMinUsd: 0 }, configure: withFreeInput }
    )
  )

  it.live("asks a payer that has not approved Permit2 to do so, by the status that the specification names", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet, { approves: false })
        const body = chat("hello")
        const said = yield* post(fleet, chatPath, body, headerOf(yield* signed(fleet, payer, body)))
        assert.deepStrictEqual(
          [said.status, said.body["code"], said.headers.has("payment-required")],
          [412, "PERMIT2_ALLOWANCE_REQUIRED", true]
        )
        assert.strictEqual(yield* balanced(fleet), 0)
      })
    )
  )

  it.live("takes a payment for one call, however often and however written it is sent", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const body = chat("only once", { max_tokens: 64 })
        const payment = yield* signed(fleet, payer, body)
        const nonce = `0x${BigInt(permitOf(payment).permit2Authorization.nonce).toString(16)}`
        const from = payer.address.toLowerCase() as `0x${string}`
        const written = [
          payment,
          forgedPermit(payment, { permit: { nonce } }),
          forgedPermit(payment, { permit: { from } })
        ]
        const all = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => written[index % written.length] ?? payment),
          (one) => post(fleet, chatPath, body, headerOf(one)),
          { concurrency: 12 }
        )
        assert.strictEqual(all.filter(({ status }) => status === 200).length, 1)
        assert.isTrue(all.every(({ status, body }) => status === 200 || body["code"] === "PAYMENT_REPLAY"))
        yield* onlyCharge(fleet)
        const later = yield* post(fleet, chatPath, body, headerOf(payment))
        assert.deepStrictEqual([later.status, later.body["code"]], [402, "PAYMENT_REPLAY"])
        assert.strictEqual(fleet.upstream.calls.filter(({ path }) => !path.endsWith("/models")).length, 1)
      })
    )
  )

  it.live("refuses what was not signed for it before any model is called, and takes up nobody's money for it", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const body = chat("hello", { max_tokens: 64 })
        const offer = yield* uptoOffer(fleet, body)
        const stranger = "0x1111111111111111111111111111111111111111" as const
        const sign = (signed: Parameters<typeof uptoPayment>[2]["signed"], by = payer) =>
          Effect.promise(() => uptoPayment(by, offer, { nowSeconds: nowSeconds(), ...(signed && { signed }) }))
        const good = yield* sign(undefined)
        const attacks: ReadonlyArray<readonly [string, PaymentPayload]> = [
          ["another recipient", yield* sign({ to: stranger })],
          ["another facilitator", yield* sign({ facilitator: stranger })],
          ["another spender", yield* sign({ spender: stranger })],
          ["another token", yield* sign({ token: stranger })],
          ["a lower maximum", yield* sign({ amount: "1" })],
          ["a deadline that is over", yield* sign({ deadline: String(nowSeconds() - 5) })],
          ["a deadline too far away", yield* sign({ deadline: String(nowSeconds() + 5_000) })],
          ["a window that has not begun", yield* sign({ validAfter: String(nowSeconds() + 500) })],
          ["somebody else's signature", yield* sign({ from: payer.address }, newPayer())],
          ["a changed nonce", forgedPermit(good, { permit: { nonce: "5" } })],
          ["another amount in the accepted terms", { ...good, accepted: { ...offer, amount: "1" } }],
          ["another recipient in the accepted terms", { ...good, accepted: { ...offer, payTo: stranger } }],
          ["the terms of exact", { ...good, accepted: { ...offer, scheme: "exact" } }],
          [
            "a foreign facilitator in the accepted terms",
            { ...good, accepted: { ...offer, extra: { ...offer.extra, facilitatorAddress: stranger } } }
          ],
          ["an empty wallet", yield* sign(undefined, yield* payerOn(fleet, { units: 1n }))]
        ]
        for (const [name, payment] of attacks) {
          const said = yield* post(fleet, chatPath, body, headerOf(payment))
          assert.strictEqual(said.status, 402, `${name}: ${said.text}`)
          assert.isTrue(said.headers.has("payment-required"), name)
        }
        // The same payment for a dearer call, and for another call of the same price.
        const dear = yield* post(fleet, chatPath, chat("hello ".repeat(2_000), { max_tokens: 64 }), headerOf(good))
        assert.strictEqual(dear.body["code"], "PAYMENT_INVALID")
        assert.strictEqual(fleet.upstream.calls.filter(({ path }) => !path.endsWith("/models")).length, 0)
        assert.strictEqual(yield* balanced(fleet), 0)
        assert.strictEqual((yield* post(fleet, chatPath, body, headerOf(good))).status, 200)
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("is verified and settled for other servers too, for what they charge", () =>
    withUpto((fleet) =>
      Effect.gen(function* () {
        const payer = yield* payerOn(fleet)
        const client = new HTTPFacilitatorClient({ url: fleet.facilitator })
        const supported = yield* Effect.promise(() => client.getSupported())
        const kind = supported.kinds.find(({ scheme }) => scheme === "upto")
        assert.strictEqual(kind?.extra?.["facilitatorAddress"], fleet.chain.settlers[0]?.address)
        assert.include(supported.extensions, "eip2612GasSponsoring")
        const offer = yield* uptoOffer(fleet, chat("hello"))
        const settle = (payload: PaymentPayload, amount: string) =>
          Effect.promise(() => client.settle(payload as never, { ...offer, amount } as never))
        const sign = Effect.promise(() => uptoPayment(payer, offer, { nowSeconds: nowSeconds() }))

        const first = yield* sign
        const verified = yield* Effect.promise(() => client.verify(first as never, offer as never))
        assert.isTrue(verified.isValid)
        const settled = yield* settle(first, "1500")
        assert.deepInclude({ ...settled }, { success: true, amount: "1500", payer: payer.address.toLowerCase() })
        assert.deepStrictEqual(yield* fleet.transfers, [1_500n])

        const above = yield* settle(yield* sign, String(BigInt(offer.amount) + 1n))
        assert.deepInclude(
          { ...above },
          { success: false, errorReason: "invalid_upto_evm_payload_settlement_exceeds_amount" }
        )
        const nothing = yield* settle(yield* sign, "0")
        assert.deepInclude({ ...nothing }, { success: true, transaction: "", amount: "0" })
        assert.strictEqual((yield* settle(first, "1500")).errorReason, "duplicate_settlement")
        assert.deepStrictEqual(yield* fleet.transfers, [1_500n])
      })
    )
  )
})

const walletAbi = [
  {
    type: "function",
    name: "walletOf",
    stateMutability: "view",
    inputs: [{ type: "address" }],
    outputs: [{ type: "address" }]
  }
] as const

/** A payment of a wallet that is not deployed yet, whose signature says how it is. */
const walletPayment = (fleet: PaymentFleet, owner: Payer, offer: PaymentRequirements) =>
  Effect.promise(async () => {
    const client = createPublicClient({ chain: baseSepolia, transport: http(fleet.chain.rpcUrl) })
    const asked = {
      address: walletFactoryAddress,
      abi: walletAbi,
      functionName: "walletOf",
      args: [owner.address]
    } as const
    const wallet = await client.readContract(asked)
    const payload = await uptoPayment(owner, offer, { nowSeconds: nowSeconds(), signed: { from: wallet } })
    const signature = serializeErc6492Signature({
      address: walletFactoryAddress,
      data: deployWalletCall(owner.address),
      signature: permitOf(payload).signature
    })
    return { wallet, payment: await withApproval(owner, forgedPermit(payload, { signature })) }
  })

describe("payments by upto", () => {
  it.live("of a wallet that is not deployed deploy it, where its factory is allowed", () =>
    plainPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("hello there", { max_tokens: 64 })
          const { wallet, payment } = yield* walletPayment(fleet, newPayer(), yield* uptoOffer(fleet, body))
          yield* fleet.chain.fund(wallet, 1_000_000n)
          const said = yield* post(fleet, chatPath, body, headerOf(payment))
          assert.strictEqual(said.status, 200, said.text)
          const code = yield* fleet.chain.rpc("eth_getCode", [wallet, "latest"])
          assert.isAbove(String(code).length, 2)
          yield* onlyCharge(fleet)
        }),
      {
        ...usual,
        configure: (parts) => {
          const { configuration, environment } = offering(parts)
          const { Payments } = configuration
          const Networks = Payments.Networks.map((entry) => ({ ...entry, WalletFactories: [walletFactoryAddress] }))
          return { configuration: { ...configuration, Payments: { ...Payments, Networks } }, environment }
        }
      }
    )
  )

  it.live("that name different accounts are each settled by the process that holds its key", () =>
    plainPayments(
      (fleet) =>
        Effect.gen(function* () {
          const payer = yield* payerOn(fleet)
          const facilitators = new Set<unknown>()
          for (let nth = 0; nth < 6; nth += 1) {
            const body = chat(`call ${nth}`, { max_tokens: 64 })
            const payment = yield* signed(fleet, payer, body)
            facilitators.add(payment.accepted.extra?.["facilitatorAddress"])
            const said = yield* post(fleet, chatPath, body, headerOf(payment))
            assert.strictEqual(said.status, 200, said.text)
            assert.isTrue(said.headers.has("x-payment-receipt"))
          }
          assert.strictEqual(facilitators.size, 2)
          assert.strictEqual(yield* balanced(fleet), 6)
        }),
      {
        ...usual,
        chain: { settlerCount: 2 },
        settler: { KeysHeldMax: 1 },
        payments: { SettleWaitSeconds: 20 },
        roles: ["payment-verifier", "payment-settler", "payment-settler", "model-gateway"]
      }
    )
  )
})
