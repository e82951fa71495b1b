import { createContext, useContext } from "react"
import { may, type Session } from "./session.ts"

const SignedIn = createContext<Session | null>(null)
export const SignedInProvider = SignedIn.Provider

/** The session of who looks; only inside what is shown to somebody. */
export const useSession = (): Session => {
  const session = useContext(SignedIn)
  if (session === null) throw new Error("you are not signed in")
  return session
}

/** Whether who looks may do what needs this scope. */
export const useMay = (scope: string): boolean => may(useSession(), scope)
