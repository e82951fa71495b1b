/** Attacks on the paid gateway, each against roles of this process and a chain: what a caller gets without having paid for it. */
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import {
  altered,
  cancelOnChain,
  emptyWallet,
  fundedKey,
  offerFor,
  path,
  payloadIn,
  payWith,
  signFor,
  submitOnChain,
  termsIn,
  written
} from "../../../support/attacker.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { ask, chat, eventsOf } from "../../../support/gateway.ts"
import { signPayment } from "../../../support/payment-client.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const asked = (fleet: PaymentFleet, count: number) =>
  eventually(() => fleet.upstream.calls.length, { is: (length) => length >= count })

const words = (text: string) =>
  eventsOf(text).data.filter((data) => data.startsWith("{") && data.includes('"content"')).length

describe("attack 2: one authorization in another encoding", () => {
  it.live("is the same authorization: re-encoded, with reordered keys, in another case, under another name", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        assert.strictEqual((yield* payWith(fleet, body, payment)).status, 200)
        const { authorization, signature } = termsIn(payment)
        const payload = payloadIn(payment)
        const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
        const turned = Object.fromEntries(Object.entries(authorization).toReversed())
        const spellings = [
          payment.replace(/=+$/u, ""),
          Buffer.from(JSON.stringify(payload, undefined, 4)).toString("base64"),
          written({ ...payload, payload: { authorization: turned, signature }, extensions: { more: { info: {} } } }),
          altered(payment, { from: authorization.from.toLowerCase(), nonce: upper(authorization.nonce) }),
          altered(payment, { to: authorization.to.toLowerCase() }),
          altered(payment, { signature: upper(signature) })
        ]
        for (const spelled of spellings) {
          const said = yield* payWith(fleet, body, spelled)
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_REPLAY"], spelled)
        }
        const alias = yield* ask(fleet, path, body, { "x-payment": payment })
        assert.deepStrictEqual([alias.status, alias.body["code"]], [402, "PAYMENT_REPLAY"])
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("is refused with the malleable second signature, before and after the first use", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        const { signature } = termsIn(payment)
        const s = (curveOrder - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0")
        const v = signature.endsWith("1b") ? "1c" : "1b"
        const twin = altered(payment, { signature: `${signature.slice(0, 66)}${s}${v}` })
        const before = yield* payWith(fleet, body, twin)
        assert.deepStrictEqual([before.status, before.body["code"]], [402, "PAYMENT_INVALID"])
        assert.strictEqual((yield* payWith(fleet, body, payment)).status, 200)
        assert.strictEqual((yield* payWith(fleet, body, twin)).status, 402)
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )
})

describe("attack 4: an authorization for one call used for another", () => {
  it.live("of another price gets a quote with that price, and no model call", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const cheap = yield* signFor(fleet, chat("hi"), yield* fundedKey(fleet))
        const dear = chat("a long prompt ".repeat(400))
        const said = yield* payWith(fleet, dear, cheap)
        assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_INVALID"])
        const quoted = yield* offerFor(fleet, dear)
        const fresh = Buffer.from(said.headers.get("payment-required") ?? "", "base64").toString("utf8")
        assert.include(fresh, `"amount":"${quoted.amount}"`)
        assert.strictEqual(fleet.upstream.calls.length, 0)
        assert.deepStrictEqual(yield* fleet.claimStates, [])
      })
    )
  )

  it.live("of the same price counts as one use, whatever the path, the body and the model", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const first = chat("!delay 600ms")
        const payment = yield* signFor(fleet, first, yield* fundedKey(fleet))
        const served = yield* Effect.forkChild(payWith(fleet, first, payment), { startImmediately: true })
        yield* asked(fleet, 1)
        const during = yield* payWith(fleet, chat("other 600 ms"), payment)
        assert.deepStrictEqual([during.status, during.body["code"]], [402, "PAYMENT_REPLAY"])
        assert.strictEqual((yield* Fiber.join(served)).status, 200)
        const elsewhere = yield* payWith(fleet, chat("!delay 600ms"), payment, "/v1/chat/completions")
        assert.strictEqual(elsewhere.body["code"], "PAYMENT_REPLAY")
        assert.strictEqual(fleet.upstream.calls.length, 1)
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("that signs less than its terms say is refused", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const key = yield* fundedKey(fleet)
        const offer = yield* offerFor(fleet, body)
        const less = yield* Effect.promise(() => signPayment(key, { ...offer, amount: "1" }))
        const lying = written({ ...payloadIn(less), accepted: offer })
        const raised = altered(lying, { value: offer.amount })
        for (const payment of [less, lying, raised]) {
          const said = yield* payWith(fleet, body, payment)
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_INVALID"])
        }
        assert.strictEqual(fleet.upstream.calls.length, 0)
      })
    )
  )
})

describe("attack 5: the payer takes the money back while the model works", () => {
  it.live("a whole answer whose authorization is cancelled meanwhile is not delivered", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("!delay 800ms")
        const key = yield* fundedKey(fleet)
        const payment = yield* signFor(fleet, body, key)
        const call = yield* Effect.forkChild(payWith(fleet, body, payment), { startImmediately: true })
        yield* asked(fleet, 1)
        yield* cancelOnChain(fleet, key, payment)
        const said = yield* Fiber.join(call)
        assert.deepStrictEqual([said.status, said.body["error"]], [402, "Payment settlement failed"])
        assert.notInclude(said.text, "choices")
        assert.deepStrictEqual(yield* fleet.transfers, [])
      })
    )
  )

  it.live(
    "streams cost at most what a payer may have unpaid when the authorization is cancelled, and the payer is then refused",
    () =>
      withPayments(
        (fleet) =>
          Effect.gen(function* () {
            const body = chat("!words 12 60", { stream: true })
            const key = yield* fundedKey(fleet)
            const payments = yield* Effect.forEach([1, 2, 3], () => signFor(fleet, body, key))
            const calls = yield* Effect.forkChild(
              Effect.forEach(payments, (payment) => payWith(fleet, body, payment), { concurrency: 3 }),
              { startImmediately: true }
            )
            yield* asked(fleet, 1)
            for (const payment of payments) yield* cancelOnChain(fleet, key, payment)
            const said = yield* Fiber.join(calls)
            assert.isAtMost(said.filter(({ text }) => words(text) > 0).length, 1)
            yield* eventually(fleet.claimStates, { is: (states) => states.includes("UNCOLLECTED") })
            const next = yield* payWith(fleet, body, yield* signFor(fleet, body, key))
            assert.strictEqual(next.status, 402)
            assert.strictEqual(words(next.text), 0)
            assert.deepStrictEqual(yield* fleet.transfers, [])
          }),
        { payments: { UnpaidNewcomerUsd: 0 } }
      )
  )

  it.live(
    "streams cost at most what a payer may have unpaid when the wallet is emptied, and no other call is served meanwhile",
    () =>
      withPayments((fleet) =>
        Effect.gen(function* () {
          const body = chat("!words 12 60", { stream: true })
          const key = yield* fundedKey(fleet, 100_000n)
          const payment = yield* signFor(fleet, body, key)
          const call = yield* Effect.forkChild(payWith(fleet, body, payment), { startImmediately: true })
          yield* asked(fleet, 1)
          yield* emptyWallet(fleet, key, 100_000n)
          const said = yield* Fiber.join(call)
          assert.isAtLeast(words(said.text), 12)
          assert.notInclude(eventsOf(said.text).comments.join(""), "payment-response")
          const before = fleet.upstream.calls.length
          const next = yield* payWith(fleet, body, yield* signFor(fleet, body, key))
          assert.isAtLeast(next.status, 402)
          assert.strictEqual(fleet.upstream.calls.length, before)
          // A payer that pays after all is served again.
          yield* fleet.chain.fund(privateKeyToAccount(key).address, 100_000n)
          assert.strictEqual(yield* balanced(fleet), 1)
        })
      )
  )
})

describe("attack 6: a client that pays too late", () => {
  it.live("is refused with an authorization that would expire before its stream", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const key = yield* fundedKey(fleet)
        for (const [more, validForSeconds] of [
          [{ stream: true }, 400],
          [{}, 100],
          [{}, 3]
        ] as const) {
          const body = chat("hello", more)
          const said = yield* payWith(fleet, body, yield* signFor(fleet, body, key, { validForSeconds }))
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_UNFUNDED"])
        }
        assert.strictEqual(fleet.upstream.calls.length, 0)
      })
    )
  )
})

describe("attack 8: a third party submits the authorization first", () => {
  it.live("before the call is a used authorization, whoever submitted it", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        yield* submitOnChain(fleet, payment)
        const said = yield* payWith(fleet, body, payment)
        assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_REPLAY"])
        assert.strictEqual(fleet.upstream.calls.length, 0)
      })
    )
  )
})

describe("attack 10: settlement denied", () => {
  it.live("a flood of one payer's calls does not stop another's settlements, and all settle once each", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const [crowd, other] = [yield* fundedKey(fleet), yield* fundedKey(fleet)]
        const payments = yield* Effect.all(
          Array.from({ length: 60 }, (_, nth) =>
            signFor(fleet, body, crowd, { identifier: `a-call-of-the-crowd-${nth}` })
          ),
          { concurrency: 16 }
        )
        const single = yield* signFor(fleet, body, other)
        // One that waits too long is told to send the same payment again, and by its name gets the answer that it has paid.
        const paid = (payment: string) =>
          Effect.repeat(payWith(fleet, body, payment), {
            schedule: Schedule.spaced("500 millis"),
            times: 120,
            while: ({ status }) => status !== 200
          })
        const flood = yield* Effect.forkChild(Effect.forEach(payments, paid, { concurrency: 60 }), {
          startImmediately: true
        })
        assert.strictEqual((yield* payWith(fleet, body, single)).status, 200)
        const said = yield* Fiber.join(flood)
        assert.deepStrictEqual([...new Set(said.map(({ status }) => status))], [200])
        assert.strictEqual(yield* balanced(fleet), payments.length + 1)
      })
    )
  )

  it.live("a settler's nonce that another transaction used is detected and skipped", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("hello")
          const key = yield* fundedKey(fleet)
          assert.strictEqual((yield* payWith(fleet, body, yield* signFor(fleet, body, key))).status, 200)
          const from = fleet.chain.settlers[0]?.address
          yield* fleet.chain.rpc("anvil_impersonateAccount", [from])
          yield* fleet.chain.rpc("eth_sendTransaction", [{ from, to: from, value: "0x1" }])
          yield* fleet.chain.rpc("evm_mine", [])
          const said = yield* payWith(fleet, body, yield* signFor(fleet, body, key))
          assert.strictEqual(said.status, 200)
          assert.strictEqual(yield* balanced(fleet), 2)
        }),
      { chain: { settlerCount: 1 } }
    )
  )
})

describe("attack 12: payment headers that two parsers read differently", () => {
  it.live("a repeated header, two payments under two names, or an overlong one is refused", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const key = yield* fundedKey(fleet)
        const [one, two] = [yield* signFor(fleet, body, key), yield* signFor(fleet, body, key)]
        const merged = yield* payWith(fleet, body, `${one}, ${two}`)
        const both = yield* ask(fleet, path, body, { "payment-signature": one, "x-payment": two })
        const long = yield* payWith(fleet, body, written({ ...payloadIn(one), extensions: { a: "x".repeat(7_000) } }))
        for (const said of [merged, both, long]) {
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_INVALID"])
          assert.isTrue(said.headers.has("payment-required"))
        }
        const repeated = yield* raw(fleet.url, JSON.stringify(body), [one, two])
        assert.match(repeated, /^HTTP\/1\.1 402 /u)
        assert.include(repeated, "PAYMENT_INVALID")
        assert.match(yield* raw(fleet.url, "{}", ["x".repeat(20_000)]), /^HTTP\/1\.1 431 /u)
        assert.strictEqual(fleet.upstream.calls.length, 0)
        assert.deepStrictEqual(yield* fleet.claimStates, [])
      })
    )
  )

  it.live("no cache may store a quote, or serve one caller's answer to another", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const quoted = yield* ask(fleet, path, body)
        assert.strictEqual(quoted.headers.get("cache-control"), "no-store")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        const served = yield* payWith(fleet, body, payment)
        assert.match(served.headers.get("cache-control") ?? "", /private/u)
        const refused = yield* payWith(fleet, body, payment)
        assert.strictEqual(refused.headers.get("cache-control"), "no-store")
      })
    )
  )
})

describe("attack 13: signatures that make us call a contract", () => {
  it.live("a wrapped signature with a factory is refused, and no contract is called", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        const { signature } = termsIn(payment)
        const magic = "6492".repeat(16)
        const word = (text: string) => text.padStart(64, "0")
        const wrapped = `0x${word("dead")}${word("60")}${word("80")}${word("0")}${signature.slice(2)}${magic}`
        for (const forgery of [wrapped, `${signature}00`, "0x", `0x${"00".repeat(65)}`]) {
          const said = yield* payWith(fleet, body, altered(payment, { signature: forgery }))
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_INVALID"])
        }
        assert.deepStrictEqual(yield* fleet.claimStates, [])
        assert.strictEqual((yield* payWith(fleet, body, payment)).status, 200)
      })
    )
  )
})

describe("attack 14: work before any payment", () => {
  it.live("a body that is too large, too deep or not JSON is refused quickly, without a quote", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const large = chat("x".repeat(1_100_000))
        const deep = `{"model":"demo/echo","messages":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
        const bodies = [large, deep, "{", `{"model":"demo/echo","messages":"${"a".repeat(500_000)}"}`]
        for (const body of bodies) {
          const startedAt = performance.now()
          const said = yield* ask(fleet, path, body)
          assert.strictEqual(said.status, 400)
          assert.isFalse(said.headers.has("payment-required"))
          assert.isBelow(performance.now() - startedAt, 2_000)
        }
        assert.strictEqual(fleet.upstream.calls.length, 0)
      })
    )
  )

  it.live("payments that are deep, huge or slow to parse are refused before any call", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        const deep = Buffer.from(`${"[".repeat(3_000)}${"]".repeat(3_000)}`).toString("base64")
        const digits = "9".repeat(3_000)
        const odd = ["=", "A".repeat(8_000), deep, "%%%", altered(payment, { value: digits })]
        for (const header of odd) {
          const said = yield* payWith(fleet, body, header)
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_INVALID"])
        }
        assert.notInclude(yield* fleet.metrics, 'outcome="verified"} 1')
      })
    )
  )
})

/** A request with as many payment headers as are given; fetch would join them. */
const raw = (url: string, body: string, payments: ReadonlyArray<string>) =>
  Effect.callback<string>((resume) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => {
      const headers = [
        `POST ${path} HTTP/1.1`,
        "host: localhost",
        "connection: close",
        "content-type: application/json",
        `content-length: ${Buffer.byteLength(body)}`,
        ...payments.map((payment) => `payment-signature: ${payment}`)
      ]
      socket.write(`${headers.join("\r\n")}\r\n\r\n${body}`)
    })
    let text = ""
    socket.on("data", (data: Buffer) => (text += data.toString("latin1")))
    socket.on("error", () => undefined)
    socket.once("close", () => resume(Effect.succeed(text)))
  })
