/** Quantities as Kubernetes writes them: `250m` of a processor, `4Gi` of memory. Pure. */
const binary: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 }
const decimal: Readonly<Record<string, number>> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15
}

/** 0 for an absent or unreadable quantity. */
export const quantity = (text: string | number | undefined): number => {
  const [, count = "", unit = ""] = /^(-?\d+(?:\.\d+)?(?:e-?\d+)?)([A-Za-z]*)$/u.exec(String(text ?? "0").trim()) ?? []
  const factor = binary[unit] ?? decimal[unit]
  return factor === undefined ? 0 : Number(count) * factor
}

export interface Amount {
  /** Processors. */
  readonly cpu: number
  readonly memoryBytes: number
}

export const nothing: Amount = { cpu: 0, memoryBytes: 0 }

export const plus = (left: Amount, right: Amount): Amount => ({
  cpu: left.cpu + right.cpu,
  memoryBytes: left.memoryBytes + right.memoryBytes
})

export const times = ({ cpu, memoryBytes }: Amount, count: number): Amount => ({
  cpu: cpu * count,
  memoryBytes: memoryBytes * count
})

interface Resources {
  readonly cpu?: string | number | undefined
  readonly memory?: string | number | undefined
}

export const amountOf = ({ cpu, memory }: Resources = {}): Amount => ({
  cpu: quantity(cpu),
  memoryBytes: quantity(memory)
})

export const cpuText = (cpu: number) => String(Math.round(cpu * 100) / 100)
export const memoryText = (bytes: number) => `${Math.round((bytes / 2 ** 30) * 100) / 100}Gi`
