/** Answers that are whole before their first byte leaves. */
import { HttpServerResponse } from "effect/http"

export type Answer = HttpServerResponse.HttpServerResponse

export interface AnswerOptions {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** `value` must be encoded already: only what JSON has. */
export const jsonAnswer = (value: unknown, { status = 200, headers = {} }: AnswerOptions = {}): Answer =>
  HttpServerResponse.jsonUnsafe(value, { status, headers })

/** All the bytes at once, with their length. */
export const bytesAnswer = (bytes: Uint8Array, contentType: string, options: AnswerOptions = {}): Answer =>
  HttpServerResponse.uint8Array(bytes, { status: options.status ?? 200, headers: options.headers ?? {}, contentType })

export const emptyAnswer = ({ status = 204, headers = {} }: AnswerOptions = {}): Answer =>
  HttpServerResponse.empty({ status, headers })

/** The answer with these headers beside its own. */
export const withHeaders = (answer: Answer, headers: Readonly<Record<string, string>>): Answer =>
  HttpServerResponse.setHeaders(answer, headers)
