/**
 * The payment roles as processes that can be killed, one role or several in each, with a gate before the chain's node.
 * A restarted process has the same address. Its callers lose their connections and come back.
 */
import { Effect, Exit, Scope } from "effect"
import type { RoleName } from "#base"
import { startAnvil } from "../../dev/chain/evm/anvil.ts"
import { ask, chat, type GatewayAnswer } from "./gateway.ts"
import { type GateNode, gateNode } from "./gate-node.ts"
import { quoteOf, type SigningOptions, signPayment } from "./payment-client.ts"
import { paymentAccountsOf } from "../../dev/fixtures/payment-accounts.ts"
import { balanced, type Parts, type PaymentFleet, type PaymentFleetOptions, startParts } from "./payment-fleet.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { endRoles, type RunningRole, startRole } from "./role.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

export const path = "/api/v1/chat/completions"
export const sending = /^eth_sendRawTransaction/u
export const simulating = /^eth_call$/u

type Json = Readonly<Record<string, unknown>>
type Books = Pick<PaymentFleet, "receipts" | "transfers" | "claimStates">

/** A paid call that has no answer yet. */
export interface HeldCall {
  readonly body: ReturnType<typeof chat>
  readonly payment: string
  /** Nothing where the connection broke. */
  readonly answer: Promise<GatewayAnswer | undefined>
}

export interface PaidProcesses {
  readonly url: string
  readonly gate: GateNode
  readonly books: Books
  readonly chain: Parts["chain"]
  readonly server: Parts["server"]
  readonly upstream: Parts["upstream"]
  /** The process that runs a role, or ran it last. */
  readonly of: (role: RoleName) => RunningRole
  /** In one process; returns when that is ready. `settler`: over the settings of payment-settler. */
  readonly run: (roles: ReadonlyArray<RoleName>, settler?: Json) => Promise<void>
  /** SIGKILL for the process of a role, and of all that run in it. */
  readonly kill: (role: RoleName) => Promise<void>
  /** All processes' logged reconciliation findings so far. */
  readonly findings: () => ReadonlyArray<string>
  /** A payment for a call, by its quote. */
  readonly sign: (body: unknown, options?: SigningOptions) => Promise<string>
  /** Nothing where the connection broke. */
  readonly pay: (body: unknown, payment: string) => Promise<GatewayAnswer | undefined>
  /** The same payment repeatedly, as by a client that follows Retry-After. */
  readonly payUntil: (
    is: (answer: GatewayAnswer) => boolean,
    body: unknown,
    payment: string
  ) => Promise<GatewayAnswer | undefined>
  /** Until the model works on a call that is verified. */
  readonly modelWorks: () => Promise<void>
  /** Until the gate holds something. */
  readonly held: () => Promise<void>
  /** A call whose answer is made, and whose settlement waits at the gate. */
  readonly callHeldAt: (
    text: string,
    method: RegExp,
    what: "call" | "answer",
    options?: SigningOptions
  ) => Promise<HeldCall>
  /** SIGKILL for the chain's node, which starts again with all that it had. Only the gate leads to it then. */
  readonly restartChain: () => Promise<void>
  readonly transfers: () => Promise<number>
  /** Until everything has ended and the books fit; how many payments were collected. */
  readonly collected: () => Promise<number>
  readonly end: () => Promise<void>
}

export const isAnswered = ({ status }: GatewayAnswer) => status === 200
export const isReceipted = (answer: GatewayAnswer) => isAnswered(answer) && answer.headers.has("x-payment-receipt")

const findingMessage = "the books do not fit"
const findingsName = "payment_book_findings_total{"
const readAtPattern = /^payment_books_read_timestamp_seconds\{[^}]*network="eip155:84532"[^}]*\} (\S+)$/mu

/** A process' reconciliation findings, of those that there are. */
export const bookFindings = (metrics: string) =>
  metrics.split("\n").filter((line) => line.startsWith(findingsName) && !line.endsWith(" 0"))

/** In seconds since 1970; 0 when the books were not read to their end yet. */
export const booksReadAt = (metrics: string) => Number(readAtPattern.exec(metrics)?.[1] ?? 0)

/** A gateway's port is chosen before it runs, and stays. */
const behindGate = (parts: Parts, port: number, url: string, gate: GateNode): Parts => {
  const { ModelGateway, Payments } = parts.configuration as {
    readonly ModelGateway: Json
    readonly Payments: { readonly Networks: ReadonlyArray<Json> }
  }
  const [network] = Payments.Networks
  const configuration = {
    ...parts.configuration,
    ModelGateway: { ...ModelGateway, Port: port, Origin: url },
    Payments: { ...Payments, Networks: [{ ...network, RpcUrls: [gate.url] }] }
  }
  return { ...parts, configuration }
}

const processesOf = ({ configuration, environment }: Parts) => {
  const running = new Map<RoleName, RunningRole>()
  const all: Array<RunningRole> = []
  const of = (role: RoleName) => {
    const found = running.get(role)
    if (found === undefined) throw new Error(`${role} was never started`)
    return found
  }
  return {
    of,
    run: async (roles: ReadonlyArray<RoleName>, settler: Json = {}) => {
      const PaymentSettler = { ...(configuration["PaymentSettler"] as Json), ...settler }
      const started = await startRole(roles, { configuration: { ...configuration, PaymentSettler }, environment })
      all.push(started)
      for (const role of roles) running.set(role, started)
      await until(() => started.status("/readyz"), { is: 200, withinMs: startWithinMs })
    },
    kill: async (role: RoleName) => {
      of(role).signal("SIGKILL")
      await of(role).ended
    },
    findings: () => all.flatMap(({ error }) => error().split("\n")).filter((line) => line.includes(findingMessage))
  }
}

const payerOf = (parts: Parts, url: string) => {
  const sign = async (body: unknown, options: SigningOptions = {}) => {
    const headers = { "content-type": "application/json" }
    const unpaid = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    const [offer] = quoteOf(unpaid).accepts
    if (offer === undefined) throw new Error("no quote")
    return signPayment(parts.chain.payer.privateKey, offer, options)
  }
  const pay = (body: unknown, payment: string): Promise<GatewayAnswer | undefined> =>
    Effect.runPromise(ask({ url }, path, body, { "payment-signature": payment })).catch(() => undefined)
  const payUntil: PaidProcesses["payUntil"] = async (is, body, payment) => {
    let answer: GatewayAnswer | undefined
    await until(async () => {
      answer = await pay(body, payment)
      return answer !== undefined && is(answer)
    })
    return answer
  }
  return { sign, pay, payUntil }
}

interface Restarted {
  readonly chain: Parts["chain"]
  readonly gate: GateNode
  readonly inScope: <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Promise<A>
}

/** Calls that are held stay held; others wait, and none is on its way while the state is taken. */
const restartChain = async ({ chain, gate, inScope }: Restarted) => {
  gate.hold(/./u, "call")
  await until(() => gate.passing(), { is: 0 })
  const state = await Effect.runPromise(chain.rpc("anvil_dumpState", []))
  const [{ pid }, port] = [nodes.get(chain) ?? chain, Number(new URL(chain.rpcUrl).port)]
  process.kill(pid, "SIGKILL")
  await until(async () => !(await fetch(chain.rpcUrl).then(Boolean, () => false)))
  nodes.set(chain, await startAgain(chain, port, inScope))
  await Effect.runPromise(chain.rpc("anvil_loadState", [state]))
}

/** At the very port, which a connection to somewhere else may have for a moment. */
const startAgain = async ({ rpcUrl, chainId }: Parts["chain"], port: number, inScope: Restarted["inScope"]) => {
  for (let tries = 0; tries < 20; tries += 1) {
    const own = Scope.makeUnsafe()
    const starting = startAnvil({ port, chainId, blockTimeMs: 3_000, onlyInterval: false })
    const node = await Effect.runPromise(Scope.provide(starting, own))
    const end = Scope.close(own, Exit.void)
    if (node.url === rpcUrl) {
      await inScope(Effect.addFinalizer(() => end))
      return node
    }
    await Effect.runPromise(end)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`port ${port} does not become free`)
}

/** The node that runs a chain that was restarted. */
const nodes = new WeakMap<Parts["chain"], { readonly pid: number }>()

/** `processes`: which roles run together. */
export const startPaidProcesses = async (
  processes: ReadonlyArray<ReadonlyArray<RoleName>>,
  options: PaymentFleetOptions
): Promise<PaidProcesses> => {
  const scope = Scope.makeUnsafe()
  const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))
  const around = await inScope(startParts(options))
  const gate = await inScope(gateNode(around.chain.rpcUrl))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const parts = behindGate(around, port, url, gate)
  const running = processesOf(parts)
  await Promise.all(processes.map((roles) => running.run(roles)))
  const books = await inScope(paymentAccountsOf(parts))
  const payer = payerOf(parts, url)
  const held = async () => void (await until(() => gate.held(), { is: (seen) => seen > 0 }))
  const modelWorks = async () => {
    await until(async () => (await Effect.runPromise(books.claimStates)).includes("CLAIMED"))
    await until(() => around.upstream.calls.at(-1)?.state === "running")
  }
  return {
    ...running,
    ...payer,
    url,
    gate,
    books,
    chain: around.chain,
    server: around.server,
    upstream: around.upstream,
    modelWorks,
    held,
    callHeldAt: async (text, method, what, signing) => {
      const body = chat(`!delay 500ms ${text}`)
      const payment = await payer.sign(body, signing)
      const answer = payer.pay(body, payment)
      await modelWorks()
      gate.hold(method, what)
      await held()
      return { body, payment, answer }
    },
    restartChain: () => restartChain({ chain: around.chain, gate, inScope }),
    transfers: async () => (await Effect.runPromise(books.transfers)).length,
    collected: () => Effect.runPromise(balanced(books)),
    end: async () => {
      await endRoles()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
