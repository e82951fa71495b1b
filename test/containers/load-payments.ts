/** Payers who call a model, each one call after the other: a call is paid once, and repeated until it is answered. */
import { randomUUID } from "node:crypto"
import { localAccount } from "../../dev/chain/evm/accounts.ts"
import { chat } from "../support/gateway.ts"
import { quoteOf, signPayment } from "../support/payment-client.ts"
import type { Callable } from "./fleet.ts"
import { type Ledger, newLedger } from "./ledger.ts"
import { insist, stopAll, work } from "./worker.ts"
import { payerNames, worldSeed } from "./world-places.ts"

export interface PaymentLoad {
  /** From the signature to the whole answer; by the payment's identifier. */
  readonly paid: Ledger
  readonly stop: () => Promise<void>
}

const path = "/v1/chat/completions"
const everyMs = 500
const patienceMs = 8_000
// A payment that could not be settled for a while is looked up again at most half a minute later.
const answeredWithinMs = 150_000

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(patienceMs)
  })

/** The offer of the first answer that has one. */
const offerOf = (url: string, body: unknown) =>
  insist("a quote", async () => {
    const response = await post(url, body)
    await response.arrayBuffer()
    return response.status === 402 ? quoteOf(response).accepts[0] : undefined
  })

/** Pays for one answer and returns its text. */
export const payOnce = async (
  fleet: Callable,
  name: string,
  text: string,
  paid: Ledger = newLedger()
): Promise<string> => {
  const { url } = fleet.of("model-gateway")
  const body = chat(text)
  const offer = await offerOf(url, body)
  const identifier = randomUUID()
  const payment = await signPayment(localAccount(worldSeed, name).privateKey, offer, { identifier })
  paid.begin(identifier)
  const answer = await insist(
    `an answer to ${name}`,
    async () => {
      const response = await post(url, body, { "payment-signature": payment })
      const said = await response.text()
      if (response.status === 200) return said
      throw new Error(`${response.status} ${said.slice(0, 300)}`)
    },
    answeredWithinMs
  )
  paid.end(identifier)
  return answer
}

export const startPaymentLoad = (fleet: Callable): PaymentLoad => {
  const paid = newLedger()
  const workers = payerNames.map((name) =>
    work(everyMs, async (nth) => {
      await payOnce(fleet, name, `Call ${nth}, !delay 100ms`, paid)
    })
  )
  return { paid, stop: async () => void (await stopAll(workers)) }
}
