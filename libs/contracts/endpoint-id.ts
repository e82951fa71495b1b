/**
 * An endpoint's id is made from its Name, so that every replica and every start knows it by the same one.
 * 64-bit FNV-1a in base 36: short, and good for subjects and keys. Two names that meet are refused with the
 * configuration.
 */
const offsetBasis = 0xcbf29ce484222325n
const prime = 0x100000001b3n
const mask = 0xffffffffffffffffn
const utf8 = new TextEncoder()

/** 13 lower-case letters and digits. */
export const endpointIdOf = (name: string): string => {
  let hash = offsetBasis
  for (const byte of utf8.encode(name)) hash = ((hash ^ BigInt(byte)) * prime) & mask
  return hash.toString(36).padStart(13, "0")
}

/** Which partition of DELIVERIES an endpoint's messages stand in, from 0. */
export const partitionOf = (endpointId: string, partitions: number): number =>
  Number.parseInt(endpointId.slice(-8), 36) % partitions
