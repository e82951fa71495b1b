/**
 * Carries an order out on one connection: answers, refuses, delays, falls silent, or breaks off. Node's callbacks and
 * timers, which all end with the connection.
 */
import type { ServerResponse } from "node:http"
import { setTimeout as after } from "node:timers/promises"
import { type AnswerPlan, planOf } from "./answer-plan.ts"
import { anthropicError, messageAnswer, messageEvents } from "./anthropic-shapes.ts"
import type { Asked } from "./conversation.ts"
import { type Failure, failureOfStatus, failures, rejection } from "./failures.ts"
import { chatAnswer, chatChunks, openAiError } from "./openai-shapes.ts"
import type { Order } from "./orders.ts"

export type Face = "openai" | "anthropic"

interface Performance {
  readonly face: Face
  readonly asked: Asked
  readonly order: Order
  readonly nth: number
  readonly thinks: boolean
  readonly response: ServerResponse
  /** Aborted when the caller is gone. */
  readonly gone: AbortSignal
}

const json = { "content-type": "application/json" }

export const refuse = (response: ServerResponse, face: Face, failure: Failure, retryAfterSeconds?: number) => {
  const seconds = retryAfterSeconds ?? failure.retryAfterSeconds
  const status = face === "anthropic" ? (failure.anthropicStatus ?? failure.status) : failure.status
  const body = face === "anthropic" ? anthropicError(failure) : openAiError(failure)
  response.writeHead(status, { ...json, ...(seconds === undefined ? {} : { "retry-after": String(seconds) }) })
  response.end(JSON.stringify(body))
}

export const perform = async (call: Performance): Promise<void> => {
  const { order, response, face } = call
  switch (order._tag) {
    case "Fail":
      return refuse(response, face, failures[order.name], order.retryAfterSeconds)
    case "Status":
      return refuse(response, face, failureOfStatus(order.status))
    case "Reject":
      return refuse(response, face, rejection(order.parameter))
    case "Hang":
      return undefined
    case "Reset":
      return void response.socket?.resetAndDestroy()
    case "BadJson":
      return void response.writeHead(200, json).end('{"id":"chatcmpl-1","choices":[')
    case "Html":
      return void response
        .writeHead(502, { "content-type": "text/html" })
        .end("<html><head><title>502 Bad Gateway</title></head><body>nginx at 10.0.3.7:8080</body></html>")
    case "ContentType":
      return void response.writeHead(200, { "content-type": "text/plain" }).end("hello")
    case "Empty":
      return void response.writeHead(200, json).end()
    case "Huge":
      return sendHuge(response, order.bytes)
    default:
      return answer(call)
  }
}

const answer = async (call: Performance) => {
  const { order, asked, response, face, gone } = call
  if (order._tag === "Echo" && order.delayMs > 0) await after(order.delayMs, undefined, { signal: gone })
  const plan = planOf(asked, order, call.nth, call.thinks)
  if (asked.isStreamed) return stream(call, plan)
  const body = JSON.stringify(face === "openai" ? chatAnswer(plan) : messageAnswer(plan))
  if (order._tag !== "Break") return void response.writeHead(200, json).end(body)
  // Half of the answer, with the length of all of it.
  response.writeHead(200, { ...json, "content-length": String(Buffer.byteLength(body)) })
  response.write(body.slice(0, Math.floor(body.length / 2)), () => {
    if (order.how !== "stall") response.destroy()
  })
}

const stream = async ({ order, asked, face, response, gone }: Performance, plan: AnswerPlan) => {
  const events = face === "openai" ? chatChunks(plan, asked.includesUsage) : messageEvents(plan)
  const before = order._tag === "KeepAlive" ? ": keep-alive\n\n" : ""
  const lines = events.map((event) =>
    face === "openai"
      ? `data: ${JSON.stringify(event)}\n\n`
      : `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`
  )
  const everyMs = order._tag === "Echo" || order._tag === "Words" ? order.everyMs : 0
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const [index, line] of lines.entries()) {
    if (order._tag === "Break" && index === order.after) return breakOff(response, face, order.how)
    if (gone.aborted) return
    if (!response.write(before + line)) await drained(response)
    if (everyMs > 0) await after(everyMs, undefined, { signal: gone })
  }
  if (order._tag === "Break") return breakOff(response, face, order.how)
  response.end(face === "openai" ? "data: [DONE]\n\n" : undefined)
}

/** Or closed. Leaves no listener behind: a long answer waits here for many of its pieces. */
const drained = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const goOn = () => {
      response.off("drain", goOn).off("close", goOn)
      resolve()
    }
    response.once("drain", goOn).once("close", goOn)
  })

const breakOff = (response: ServerResponse, face: Face, how: "drop" | "stall" | "error" | "garbage" | "end") => {
  const failure = failures.overloaded
  const error =
    face === "openai"
      ? `data: ${JSON.stringify(openAiError(failure))}\n\n`
      : `event: error\ndata: ${JSON.stringify(anthropicError(failure))}\n\n`
  if (how === "drop") response.write("", () => response.destroy())
  if (how === "error") response.end(error)
  if (how === "garbage") response.end("data: {not json\n\n")
  if (how === "end") response.end()
}

const sendHuge = async (response: ServerResponse, bytes: number) => {
  response.writeHead(200, json)
  response.write('{"filler":"')
  const piece = "x".repeat(65_536)
  for (let sent = 0; sent < bytes && !response.destroyed; sent += piece.length) {
    if (!response.write(piece)) await drained(response)
  }
  response.end('"}')
}
