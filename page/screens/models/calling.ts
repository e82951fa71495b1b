/** One call of a model: its quote, its answer while it streams, its tokens and its receipt. */
import { useCallback, useEffect, useRef, useState } from "react"
import { bases } from "../../api/apis.ts"
import { answerOf, post, Refused } from "../../api/client.ts"
import { eventsOf } from "../../api/event-stream.ts"
import { chatEventsOf, type Quote, type Receipt, receiptIn, type Usage } from "./chat.ts"

export type CallPhase = "idle" | "quoting" | "quoted" | "answering" | "answered" | "stopped" | "refused"

export interface ModelCall {
  readonly model: string
  readonly prompt: string
  readonly maxTokens: number
  readonly chain: "evm" | "solana"
  readonly isStreamed: boolean
}

export interface Calling {
  readonly phase: CallPhase
  readonly call: ModelCall | undefined
  readonly quote: Quote | undefined
  readonly isPaid: boolean
  readonly text: string
  readonly firstWordMs: number | undefined
  readonly usage: Usage | undefined
  readonly receipt: Receipt | undefined
  readonly refused: Refused | undefined
}

const nothing: Calling = {
  phase: "idle",
  call: undefined,
  quote: undefined,
  isPaid: false,
  text: "",
  firstWordMs: undefined,
  usage: undefined,
  receipt: undefined,
  refused: undefined
}

const addressOfChain = { evm: "/api", solana: "/solana/api" } as const

const addressOf = ({ chain }: ModelCall) => `${bases.models}${addressOfChain[chain]}/v1/chat/completions`

const bodyOf = ({ model, prompt, maxTokens, isStreamed }: ModelCall) => ({
  model,
  messages: [{ role: "user", content: prompt }],
  max_tokens: maxTokens,
  ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {})
})

export const useCalling = () => {
  const [calling, setCalling] = useState<Calling>(nothing)
  const running = useRef<AbortController>(undefined)
  const unused = useRef<Signed>(undefined)

  const begin = () => {
    running.current?.abort()
    const aborter = new AbortController()
    running.current = aborter
    const change = (part: Partial<Calling> | ((before: Calling) => Partial<Calling>)) => {
      if (running.current !== aborter) return
      setCalling((before) => ({ ...before, ...(typeof part === "function" ? part(before) : part) }))
    }
    const failed = (error: unknown) => {
      if (aborter.signal.aborted) return
      const refused = error instanceof Refused ? error : brokenOff("The answer broke off before its end")
      change({ phase: "refused", refused })
    }
    return { signal: aborter.signal, change, failed, beganMs: performance.now() }
  }

  /** Asks for the price. A model that is free answers at once. */
  const quote = useCallback((call: ModelCall) => {
    const { signal, change, failed, beganMs } = begin()
    setCalling({ ...nothing, phase: "quoting", call })
    askUnpaid(call, signal)
      .then((asked) => {
        if (asked.type === "quote") return change({ phase: "quoted", quote: asked.quote })
        change({ phase: "answering" })
        return readAnswer(asked.answer, beganMs, change)
      })
      .catch(failed)
  }, [])

  /** Pays with the local test key, which never comes here. Tried again, the same call goes with the same payment. */
  const pay = useCallback((call: ModelCall) => {
    const { signal, change, failed, beganMs } = begin()
    change((before) => ({ ...nothing, quote: before.quote, phase: "answering", call, isPaid: true }))
    const answer = async () => {
      if (unused.current?.body !== JSON.stringify(bodyOf(call)) || unused.current.chain !== call.chain) {
        const asked = await askUnpaid(call, signal)
        if (asked.type === "answer") return asked.answer
        change({ quote: asked.quote })
        const { payment } = await post("/trials/payments", { quote: asked.header }, { signal })
        unused.current = { chain: call.chain, body: JSON.stringify(bodyOf(call)), payment }
      }
      const headers = { "payment-signature": unused.current.payment }
      const paid = await answerOf("POST", addressOf(call), { body: bodyOf(call), headers, signal })
      unused.current = undefined
      return paid
    }
    answer()
      .then((found) => readAnswer(found, beganMs, change))
      .catch(failed)
  }, [])

  const stop = useCallback(() => {
    running.current?.abort()
    setCalling((before) => ({ ...before, phase: "stopped" }))
  }, [])

  useEffect(() => () => running.current?.abort(), [])
  return { calling, quote, pay, stop }
}

/** A payment that no answer was given for yet. */
interface Signed {
  readonly chain: ModelCall["chain"]
  readonly body: string
  readonly payment: string
}

/** `header`: the value of PAYMENT-REQUIRED. */
type Unpaid =
  | { readonly type: "quote"; readonly quote: Quote; readonly header: string }
  | { readonly type: "answer"; readonly answer: Response }

/** A quote comes as a refusal, which is none to who asked for the price. */
const askUnpaid = async (call: ModelCall, signal: AbortSignal): Promise<Unpaid> => {
  const answer = await fetch(addressOf(call), {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(bodyOf(call))
  })
  if (answer.ok) return { type: "answer", answer }
  const body = (await answer.json().catch(() => ({}))) as Partial<Quote> & { readonly error?: unknown }
  const header = answer.headers.get("payment-required")
  if (answer.status === 402 && body.price !== undefined && header !== null) {
    return { type: "quote", quote: body as Quote, header }
  }
  throw refusedBy(answer.status, body)
}

const refusedBy = (status: number, { error, message }: { readonly error?: unknown; readonly message?: string }) => {
  const { message: inner, code } = (typeof error === "object" && error !== null ? error : {}) as {
    readonly message?: string
    readonly code?: string
  }
  const said = typeof error === "string" ? error : (inner ?? message ?? `the gateway answered ${status}`)
  return new Refused({ status, code: code ?? String(status), message: said, faults: {} })
}

type Change = (part: Partial<Calling> | ((before: Calling) => Partial<Calling>)) => void

const readAnswer = async (answer: Response, beganMs: number, change: Change): Promise<void> => {
  const header = receiptIn(answer.headers.get("payment-response"))
  if (header !== undefined) change({ receipt: header })
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") !== true) return readComplete(answer, change)
  let isDone = false
  for await (const event of eventsOf(answer)) {
    if (event.type === "comment") {
      const receipt = receiptIn(event.text)
      if (receipt !== undefined) change({ receipt })
      continue
    }
    for (const said of chatEventsOf(event.data)) {
      if (said.type === "done") isDone = true
      else if (said.type === "usage") change({ usage: said.usage })
      else if (said.type === "failed") throw brokenOff(said.message)
      else {
        change((before) => ({
          text: before.text + said.text,
          firstWordMs: before.firstWordMs ?? performance.now() - beganMs
        }))
      }
    }
  }
  if (!isDone) throw brokenOff("The answer broke off before its end")
  change({ phase: "answered" })
}

interface CompleteAnswer {
  readonly choices?: ReadonlyArray<{ readonly message?: { readonly content?: string | null } }>
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number }
}

const readComplete = async (answer: Response, change: Change): Promise<void> => {
  const { choices, usage } = (await answer.json()) as CompleteAnswer
  change({
    phase: "answered",
    text: choices?.[0]?.message?.content ?? "",
    ...(usage === undefined
      ? {}
      : { usage: { inputTokens: usage.prompt_tokens ?? 0, outputTokens: usage.completion_tokens ?? 0 } })
  })
}

const brokenOff = (message: string) => new Refused({ status: 502, code: "broken_off", message, faults: {} })
