/**
 * Each role of a payment killed the hard way at each of its steps, as processes of their own. Whoever dies when, in the
 * end what the chain has moved, what was receipted, and what was answered or kept for its payer are as many.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { RoleName } from "#contracts"
import { ask, chat, type Said } from "../support/gateway.ts"
import { type GateNode, gateNode } from "../support/gate-node.ts"
import { quoteOf, type SigningOptions, signPayment } from "../support/payment-client.ts"
import { balanced, booksOf, type Parts, type PaymentFleet, startParts } from "../support/payment-fleet.ts"
import { endRoles, type RunningRole, startRole } from "../support/role.ts"
import { until } from "../support/starling.ts"

const path = "/api/v1/chat/completions"
const sending = /^eth_sendRawTransaction/u
const simulating = /^eth_call$/u

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer()
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

type Books = Pick<PaymentFleet, "receipts" | "transfers" | "claimStates">

let scope: Scope.Closeable
let parts: Parts
let gate: GateNode
let books: Books
let url: string
const roles = new Map<RoleName, RunningRole>()

const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))

const run = async (role: RoleName) => {
  const started = await startRole(role, { configuration: parts.configuration, environment: parts.environment })
  roles.set(role, started)
  await until(async () => (await started.status("/readyz")) === 200)
}

const kill = async (role: RoleName) => {
  const running = roles.get(role)
  running?.signal("SIGKILL")
  await running?.ended
}

beforeAll(async () => {
  scope = Scope.makeUnsafe()
  const around = await inScope(startParts({ payments: { LeaseSeconds: 2, SettleWaitSeconds: 2 } }))
  gate = await inScope(gateNode(around.chain.rpcUrl))
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const { ModelGateway, Payments } = around.configuration as {
    readonly ModelGateway: object
    readonly Payments: { readonly Networks: ReadonlyArray<object> }
  }
  const [network] = Payments.Networks
  parts = {
    ...around,
    configuration: {
      ...around.configuration,
      ModelGateway: { ...ModelGateway, Port: port, Origin: url },
      Payments: { ...Payments, Networks: [{ ...network, RpcUrls: [gate.url] }] }
    }
  }
  await Promise.all([run("payment-verifier"), run("payment-settler"), run("model-gateway")])
  books = await inScope(booksOf(parts))
})

afterAll(async () => {
  await endRoles()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const sign = async (body: unknown, options: SigningOptions = {}) => {
  const headers = { "content-type": "application/json" }
  const unpaid = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
  const [offer] = quoteOf(unpaid).accepts
  if (offer === undefined) throw new Error("no quote")
  return signPayment(parts.chain.payer.privateKey, offer, options)
}

/** Nothing where the connection broke. */
const pay = (body: unknown, payment: string): Promise<Said | undefined> =>
  Effect.runPromise(ask({ url }, path, body, { "payment-signature": payment })).catch(() => undefined)

/** The same payment again and again, as a client does that is told to come back. */
const payUntilAnswered = async (body: unknown, payment: string) => {
  let said: Said | undefined
  await until(async () => {
    said = await pay(body, payment)
    return said?.status === 200
  }, 30_000)
  return said
}

const held = () => until(() => gate.held() > 0)

/** Everything ended, and so many payments collected. */
const collects = async (count: number) => assert.strictEqual(await Effect.runPromise(balanced(books, 40_000)), count)

describe("a verifier that is killed", () => {
  it("before it has claimed the payment leaves the payment good", async () => {
    const body = chat("before the claim")
    const payment = await sign(body)
    roles.get("payment-verifier")?.signal("SIGSTOP")
    const unanswered = pay(body, payment)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await kill("payment-verifier")
    await run("payment-verifier")
    if ((await unanswered)?.status !== 200) await payUntilAnswered(body, payment)
    await collects(1)
  })

  it("after it has claimed the payment leaves it to the next, which is asked again or by the caller", async () => {
    const body = chat("after the claim")
    const payment = await sign(body)
    gate.hold(simulating, "call")
    const unanswered = pay(body, payment)
    await held()
    await kill("payment-verifier")
    gate.open()
    await run("payment-verifier")
    if ((await unanswered)?.status !== 200) await payUntilAnswered(body, payment)
    await collects(2)
  })
})

describe("a settler that is killed", () => {
  const killedAt = async (text: string, hold: () => void) => {
    const body = chat(`!delay 300ms ${text}`)
    const payment = await sign(body)
    const answered = pay(body, payment)
    await until(async () => (await Effect.runPromise(books.claimStates)).includes("CLAIMED"))
    await until(() => parts.upstream.calls.at(-1)?.state === "running")
    hold()
    await held()
    await kill("payment-settler")
    gate.open()
    await run("payment-settler")
    const said = await answered
    assert.strictEqual(said?.status, 200)
  }

  it("before it has signed leaves the payment to the next", async () => {
    await killedAt("before signing", () => gate.hold(simulating, "call"))
    await collects(3)
  })

  it("between writing the transaction's name down and sending it leaves it to the next", async () => {
    await killedAt("before sending", () => gate.hold(sending, "call"))
    await collects(4)
  })

  it("after the chain has it and before it was told leaves one transfer and one receipt", async () => {
    await killedAt("after sending", () => gate.hold(sending, "answer"))
    await collects(5)
  })
})

describe("a gateway that is killed", () => {
  const again = async () => {
    await kill("model-gateway")
    await run("model-gateway")
  }

  it("while the model works charges nothing, and the payment is good once its lease is over", async () => {
    const body = chat("!delay 2s")
    const payment = await sign(body)
    const broken = pay(body, payment)
    await until(() => parts.upstream.calls.at(-1)?.state === "running")
    await again()
    assert.isUndefined(await broken)
    assert.strictEqual((await Effect.runPromise(books.transfers)).length, 5)
    await payUntilAnswered(body, payment)
    await collects(6)
  })

  it("while its payment is settled has kept the answer for its payer", async () => {
    const body = chat("!delay 300ms kept")
    const payment = await sign(body, { identifier: "kept-answer-0123456789" })
    const broken = pay(body, payment)
    await until(() => parts.upstream.calls.at(-1)?.state === "running")
    gate.hold(sending, "call")
    await held()
    await kill("model-gateway")
    gate.open()
    await run("model-gateway")
    assert.isUndefined(await broken)
    await collects(7)
    const said = await payUntilAnswered(body, payment)
    assert.include(said?.text ?? "", "300ms kept")
    assert.isTrue(said?.headers.has("x-payment-receipt"))
    await collects(7)
  })

  it("in the middle of a stream is paid for what was given out", async () => {
    const body = chat("!words 500 20", { stream: true })
    const payment = await sign(body)
    const headers = { "content-type": "application/json", "payment-signature": payment }
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    await response.body?.getReader().read()
    await again()
    await collects(8)
  })
})

describe("the books", () => {
  it("hold nothing that does not fit after all this", async () => {
    const metrics = (await roles.get("payment-settler")?.metrics()) ?? ""
    assert.deepStrictEqual(
      metrics.split("\n").filter((line) => line.startsWith("payment_book_findings_total{")),
      []
    )
    assert.match(metrics, /payment_books_read_timestamp_seconds\{[^}]*network="eip155:84532"[^}]*\} [1-9]/u)
  })
})
