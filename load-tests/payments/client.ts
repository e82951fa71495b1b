/** Calls of the payment scenarios, as quick as a client can make them: what it costs itself is not the server's. */
import { Pool } from "undici"
import { Schema } from "effect"
import { PaymentRequired } from "#payments/contract"

export interface Answered {
  readonly status: number
  readonly ms: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
}

export interface CallOptions {
  readonly payment?: string
  /** Ends the prompt, so that what the provider does for a call can be told. Of a fixed length: it is priced. */
  readonly mark: string
  readonly path?: string
  readonly model?: string
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Its provider is asked through the proxy that takes the times. */
export const timedModel = "demo/echo"

/** Of every call the same length, so the same price. */
export const markOf = (index: number) => index.toString(36).padStart(8, "0")

export const openClient = (origin: string, connections: number) => {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const call = async (options: CallOptions): Promise<Answered> => {
    const { payment, mark, path = "/v1/chat/completions", model = timedModel } = options
    const body = JSON.stringify({ model, messages: [{ role: "user", content: `one two call-${mark}` }] })
    const from = performance.now()
    const {
      statusCode,
      headers,
      body: answer
    } = await pool.request({
      method: "POST",
      path,
      headers: {
        "content-type": "application/json",
        ...(payment === undefined ? {} : { "payment-signature": payment }),
        ...options.headers
      },
      body
    })
    const text = await answer.text()
    return { status: statusCode, ms: performance.now() - from, headers, text }
  }
  return { call, close: () => pool.close() }
}

export type Client = ReturnType<typeof openClient>

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(PaymentRequired))

export const quoteFrom = async ({ call }: Client, model?: string): Promise<PaymentRequired> => {
  const { headers, status } = await call({ mark: markOf(0), ...(model === undefined ? {} : { model }) })
  if (status !== 402) throw new Error(`a quote was expected, not ${status}`)
  return decode(Buffer.from(String(headers["payment-required"]), "base64").toString("utf8"))
}
