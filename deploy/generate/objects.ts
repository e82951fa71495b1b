/** Names and labels that all objects share. */

/** A Kubernetes object as data. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string } & Readonly<Record<string, unknown>>
  readonly [key: string]: unknown
}

export const partOfStarling = { "app.kubernetes.io/part-of": "starling" }

/** What a role's pods are found by. */
export const selector = (role: string) => ({ "app.kubernetes.io/name": role, ...partOfStarling })
