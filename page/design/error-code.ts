/** The short code of an error's text, for lists. Pure. */

/** What a person calls it, by a word of the text; the first that fits. */
const known: ReadonlyArray<readonly [word: RegExp, code: string]> = [
  [/deadline|timed? ?out/iu, "timeout"],
  [/certificate|\btls\b|\bssl\b/iu, "TLS"],
  [/unreachable/iu, "unreachable"]
]
/** As systems write theirs: ECONNREFUSED, ERR_TLS_CERT. */
const systemCode = /\bE[A-Z][A-Z_]{3,30}\b/u
const statusCode = /\bstatus (\d{3})\b|^(\d{3})\b/u
/** As ours: `insufficient_funds`, `TransferFailed: …`. */
const leadingCode = /^[A-Za-z][\w-]{2,30}(?=:|$)/u

export const errorCodeOf = (text: string): string => {
  const found = known.find(([word]) => word.test(text))
  const status = statusCode.exec(text)
  return (
    systemCode.exec(text)?.[0] ?? found?.[1] ?? status?.[1] ?? status?.[2] ?? leadingCode.exec(text)?.[0] ?? "error"
  )
}
