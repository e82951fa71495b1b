/** What a strict provider refuses a request with, and the rules that find it. Pure. */
import type { Failure } from "../failures.ts"
import type { Json } from "../json.ts"

export interface Refusal {
  readonly message: string
  /** OpenAI's shape names the parameter and a code beside the message; Anthropic's has the message alone. */
  readonly param: string | null
  readonly code: string | null
}

/** A public page that says so. */
export interface Source {
  readonly page: string
  readonly url: string
}

export type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

export interface Rule {
  readonly refuses: string
  readonly source: Source
  readonly check: (request: Json, headers: Headers) => Refusal | undefined
}

export const refusal = (message: string, param: string | null = null, code: string | null = null): Refusal => ({
  message,
  param,
  code
})

/** The first value that a check gives. */
export const firstOf = <A, B>(all: Iterable<A>, check: (each: A, index: number) => B | undefined): B | undefined => {
  let index = 0
  for (const each of all) {
    const found = check(each, index++)
    if (found !== undefined) return found
  }
  return undefined
}

export const failureOf = ({ message, param, code }: Refusal): Failure => ({
  status: 400,
  message,
  type: "invalid_request_error",
  code,
  param,
  anthropicType: "invalid_request_error"
})
