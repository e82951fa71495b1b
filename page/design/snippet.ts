/** A call as code, in one language. */
export interface Snippet {
  readonly title: string
  readonly code: string
}
