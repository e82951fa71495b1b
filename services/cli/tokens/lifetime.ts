/** Spans of time as people write and read them: `90d`, `never`, `3 h ago`. Pure. */
const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const
type Unit = keyof typeof units

/** Ten years: what is to hold longer does not end. */
export const lifetimeMsMax = 3_650 * units.d

/** `30d`, `12h`; `undefined` for `never`. A text that is no lifetime, or a longer one, is refused. */
export const readLifetime = (text: string): { readonly lifetimeMs: number | undefined } | "refused" => {
  if (text === "never") return { lifetimeMs: undefined }
  const [, count = "", unit = ""] = /^([1-9]\d{0,8})([smhdw])$/u.exec(text) ?? []
  const lifetimeMs = Number(count) * (units[unit as Unit] ?? 0)
  return lifetimeMs > 0 && lifetimeMs <= lifetimeMsMax ? { lifetimeMs } : "refused"
}

/** In the largest unit of which there is a whole one: `3 d`. */
export const span = (ms: number): string => {
  const known = (["d", "h", "m"] as const).find((unit) => ms >= units[unit]) ?? "s"
  const names = { d: "d", h: "h", m: "min", s: "s" } as const
  return `${Math.floor(Math.max(0, ms) / units[known])} ${names[known]}`
}
