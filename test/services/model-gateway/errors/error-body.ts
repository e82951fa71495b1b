/** An error of the chat route. */

export const chatPath = "/v1/chat/completions"

export interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly code: string
    readonly param: string | null
  }
  readonly message: string
  readonly code: string
  readonly debug?: string
  readonly source?: string
  readonly retry_after_seconds?: number
  readonly details?: ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly message: string }>
}
