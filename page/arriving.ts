/** What the form to sign in says first, by the way that led to it. Pure. */
import type { Refused } from "./api/client.ts"

/** What follows `#code=` in an address that is not cut short. */
export const isCode = (text: string): boolean => /^[\w-]{22}$/u.test(text)

/** A code of an address, or a token that was typed. */
export type Proof = "code" | "token"

interface Words {
  readonly title: string
  readonly advice: string
}

export const sessionEnded: Words = {
  title: "Your session has ended",
  advice: "Sign in again to continue where you were."
}
export const signedOut: Words = { title: "You have signed out", advice: "Nobody else can use this browser's session." }

/** Why nobody was signed in. */
export const wordsOfRefusal = ({ refusal: { status, message } }: Refused, proof: Proof): Words => {
  if (status === 401) return proof === "code" ? usedLink : wrongToken
  if (status === 400 && proof === "code") return brokenLink
  if (status === 0 || status >= 500) {
    return { title: message, advice: "Try again in a moment. Is the fleet running?" }
  }
  if (status === 429) return { title: "Too many failed attempts", advice: `Wait a moment: ${message}.` }
  return { title: "The console rejected this page", advice: `${message}.` }
}

const usedLink: Words = {
  title: "This sign-in link has expired",
  advice:
    "Each link signs in once, within ten minutes; opening it again does nothing. Run ./starling console for a new link, or sign in with a token here."
}
const brokenLink: Words = {
  title: "This link is incomplete",
  advice: "Copy all of it, or run ./starling console for another."
}
const wrongToken: Words = {
  title: "This token cannot sign in",
  advice: "It is mistyped, revoked or expired. Create another with ./starling token make."
}
