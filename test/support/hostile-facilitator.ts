/**
 * A facilitator that settles on order and answers on order: it dies, sleeps, lies, and falls silent after it has moved
 * the money.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { LocalChain } from "../../dev/chain/evm/LocalEvmChain.ts"
import { submitOnChain, type Terms, written } from "./attacker.ts"

/** The answer: a body, none at all, or a closing connection. */
export type Saying = { readonly status: number; readonly body: unknown } | "nothing" | "closes"

export interface Behaviour {
  readonly verify: (payer: string) => Saying
  readonly settles: boolean
  /** `transaction`: of the money that was moved; empty when none was. */
  readonly settle: (payer: string, transaction: string) => Saying
}

const network = "eip155:84532"
export const valid = (payer: string): Saying => ({ status: 200, body: { isValid: true, payer } })
export const honest: Behaviour = {
  verify: valid,
  settles: true,
  settle: (payer, transaction) => ({ status: 200, body: { success: true, transaction, network, payer } })
}

export interface HostileFacilitator {
  readonly url: string
  behaviour: Behaviour
  /** The number of requests to settle. */
  settlements: number
}

/** `chain` is set once it exists: the gateway's configuration names the facilitator first. */
export const startHostileFacilitator = (chain: { current?: LocalChain }) =>
  Effect.acquireRelease(
    Effect.callback<HostileFacilitator & { readonly close: Effect.Effect<void> }>((resume) => {
      const server = createServer((request, response) => void answer(request, response))
      const answer = async (request: IncomingMessage, response: ServerResponse) => {
        // Whether it is there at all.
        if (request.method === "GET") return say(response, { status: 404, body: {} })
        const asked = await bodyOf(request)
        const terms = asked.paymentPayload.payload
        const payer = terms.authorization.from
        if (request.url?.endsWith("/verify") === true) return say(response, facilitator.behaviour.verify(payer))
        facilitator.settlements += 1
        const { behaviour } = facilitator
        const transaction = behaviour.settles ? await move(chain, asked.paymentPayload) : ""
        return say(response, behaviour.settle(payer, transaction))
      }
      const close = Effect.callback<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
      const facilitator = { url: "", behaviour: honest, settlements: 0, close }
      server.listen(0, "127.0.0.1", () => {
        facilitator.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        resume(Effect.succeed(facilitator))
      })
    }),
    ({ close }) => close
  )

interface Asked {
  readonly paymentPayload: { readonly payload: Terms }
}

/** A second settlement of the same payment moves nothing. */
const move = ({ current }: { readonly current?: LocalChain }, payload: Asked["paymentPayload"]) =>
  current === undefined
    ? Promise.resolve("")
    : Effect.runPromise(
        submitOnChain({ url: "", chain: current }, written(payload)).pipe(Effect.orElseSucceed(() => ""))
      )

const say = (response: ServerResponse, saying: Saying) => {
  if (saying === "nothing") return
  if (saying === "closes") return void response.destroy()
  const { status, body } = saying
  const text = typeof body === "string" ? body : JSON.stringify(body)
  response.writeHead(status, { "content-type": "application/json" }).end(text)
}

const bodyOf = async (request: IncomingMessage): Promise<Asked> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString("utf8")) as Asked
}
