/** What the speaker check and its thread say to each other. Types only: a thread loads nothing of Effect. */

export interface ThreadData {
  /** The model file, for a thread that has one. */
  readonly model: string
}

export interface ToThread {
  readonly number: number
  readonly one: Int16Array
  readonly other: Int16Array
  readonly rateHz: number
}

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "unusable"; readonly detail: string }
  | { readonly kind: "distance"; readonly number: number; readonly distance: number }
  | { readonly kind: "failed"; readonly number: number; readonly detail: string }
