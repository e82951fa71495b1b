/** Numbers, sizes and times as people say them, always with their unit. Pure. */

const steps: ReadonlyArray<readonly [unit: string, ms: number]> = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000]
]

/** `now`, `12 s ago`, `in 3 min`. */
export const relative = (atMs: number, nowMs: number): string => {
  const apart = Math.abs(nowMs - atMs)
  const step = steps.find(([, ms]) => apart >= ms)
  if (step === undefined) return "now"
  const text = `${Math.floor(apart / step[1])} ${step[0]}`
  return atMs > nowMs ? `in ${text}` : `${text} ago`
}

const wholeNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 })

/** `12,345`. */
export const count = (value: number): string => wholeNumber.format(value)

/** `1 event`, `12 events`. */
export const countOf = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : nouns}`

/** `12.3`, `1,230`, `0.05`: three figures that say something. */
export const figure = (value: number): string => (Math.abs(value) >= 1_000 ? count(value) : short.format(value))

/** `840 µs`, `12 ms`, `1.5 s`, `3 min`. */
export const duration = (ms: number): string => {
  if (ms < 1 && ms > 0) return `${figure(ms * 1_000)} µs`
  if (ms < 1_000) return `${figure(ms)} ms`
  if (ms < 120_000) return `${figure(ms / 1_000)} s`
  const [unit, length] = steps.find(([, step]) => ms >= 2 * step) ?? ["s", 1_000]
  return `${figure(Math.floor(ms / length))} ${unit}`
}

const sizes = ["B", "kB", "MB", "GB", "TB"]

/** `512 B`, `1.2 kB`, `3.4 GB`, by thousands. */
export const bytes = (value: number): string => {
  const step = Math.min(sizes.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)))
  return `${figure(value / 1_000 ** step)} ${sizes[step] ?? "B"}`
}

/** `12.3/s`; a dash where nothing is known. */
export const rate = (perSecond: number | null): string => (perSecond === null ? "–" : `${figure(perSecond)}/s`)

/** `99.2 %`; never rounded up to all nor down to none, for the exception is what matters. */
export const percent = (share: number): string => {
  const tenths = Math.round(share * 1_000)
  return `${(share === 1 ? 1_000 : share === 0 ? 0 : Math.min(999, Math.max(1, tenths))) / 10} %`
}

/** At most so many characters, with an ellipsis where some are left out. */
export const clipped = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).trimEnd()}…`
