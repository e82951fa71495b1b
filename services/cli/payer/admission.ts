/** Who can call the payer: a program of this machine that has its token. A browser's page never can. Pure. */
import { createHash, timingSafeEqual } from "node:crypto"
import { forbidden, unauthorized, type WireError } from "#http"

export interface Caller {
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The port that the call reached. */
  readonly port: number | undefined
}

/** Why a caller is refused; undefined admits it. */
export const callerFault = ({ headers, port }: Caller, token: string): WireError | undefined => {
  // A foreign name that resolves to this machine would admit a foreign page.
  const own = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!own.includes((headers["host"] ?? "").toLowerCase())) return forbidden(`this payer is ${own.join(" or ")} alone`)
  if (headers["origin"] !== undefined) return forbidden("this payer takes no calls from a browser's page")
  const bearer = /^Bearer +(\S+) *$/iu.exec(headers["authorization"] ?? "")?.[1]
  return [bearer, headers["x-api-key"]].some((sent) => sent !== undefined && isSame(sent, token))
    ? undefined
    : unauthorized("the token that ./starling payer printed at its start is required as Authorization or x-api-key")
}

const digest = (text: string) => createHash("sha256").update(text).digest()

const isSame = (sent: string, token: string) => timingSafeEqual(digest(sent), digest(token))
