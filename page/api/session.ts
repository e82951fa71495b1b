/** Who looks at the page: a session is a token that the browser keeps in a cookie which no script can read. */
import { call } from "./client.ts"

export interface Session {
  readonly label: string
  readonly scopes: ReadonlyArray<string>
  /** ISO time; null for one that ends with its token alone. */
  readonly expiresAt: string | null
  /** The APIs that stand behind this origin. */
  readonly apis: ReadonlyArray<"pipeline" | "models" | "speech">
  /** Whether this fleet has a funded key of a local chain that may pay for a trial. */
  readonly paysForTrials: boolean
}

/** Null where nobody has signed in. */
export const session = (): Promise<Session | null> => call("GET", "/session", {})

export const signIn = (proof: { readonly code: string } | { readonly token: string }): Promise<Session> =>
  call("POST", "/session", { body: proof })

export const signOut = (): Promise<void> => call("DELETE", "/session", {})

/** Whether a session may do what needs a scope; `console:*` and `*:*` give what they cover. */
export const may = ({ scopes }: Session, scope: string): boolean => {
  const [area = "", act = ""] = scope.split(":")
  return scopes.some((given) => {
    const [givenArea, givenAct] = given.split(":")
    return (givenArea === "*" || givenArea === area) && (givenAct === "*" || givenAct === act)
  })
}
