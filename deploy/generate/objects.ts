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

const securityAs = (user: number) => ({
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  seccompProfile: { type: "RuntimeDefault" }
})

/** The security context of our pods in a namespace that enforces `restricted`: a user that a node has none of. */
export const podSecurity = securityAs(10_001)

/** The broker's. Its volumes belong to this user since they were made. */
export const brokerSecurity = securityAs(1_000)

/** The same for a container. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] }
}
