/** Names and labels that all objects share. */

/** A Kubernetes object as data. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string } & Readonly<Record<string, unknown>>
  readonly [key: string]: unknown
}

export const partOfStarling = { "app.kubernetes.io/part-of": "starling" }

/** The labels by which a role's pods are found. */
export const selector = (role: string) => ({ "app.kubernetes.io/name": role, ...partOfStarling })

/** The security context of a pod in a namespace that enforces `restricted`: ours, and the broker's. */
export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: 1_000,
  runAsGroup: 1_000,
  fsGroup: 1_000,
  seccompProfile: { type: "RuntimeDefault" }
}

/** The same for a container. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] }
}
