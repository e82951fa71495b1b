/**
 * What a receiver's Retry-After asks for: whole seconds, or an HTTP date (RFC 9110, 10.2.3). What cannot be
 * read asks for nothing.
 */
export const retryAfterMs = (value: string | undefined, nowMs: number): number => {
  if (value === undefined) return 0
  const text = value.trim()
  if (/^\d{1,9}$/u.test(text)) return Number(text) * 1_000
  // A date names its time zone; Date.parse would guess one for anything else.
  if (!text.endsWith("GMT")) return 0
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs)
}
