/**
 * Address ranges that a public receiver cannot have, by name. From the IANA special-purpose registries for
 * IPv4 and IPv6, and from the clouds: what answers there is this machine, its network or its provider.
 */

export interface AddressRange {
  readonly name: string
  readonly cidr: string
}

export const refusedRanges: ReadonlyArray<AddressRange> = [
  { name: "this network", cidr: "0.0.0.0/8" },
  { name: "private", cidr: "10.0.0.0/8" },
  { name: "carrier-grade NAT", cidr: "100.64.0.0/10" },
  { name: "loopback", cidr: "127.0.0.0/8" },
  { name: "Azure wire server", cidr: "168.63.129.16/32" },
  { name: "link-local", cidr: "169.254.0.0/16" },
  { name: "private", cidr: "172.16.0.0/12" },
  { name: "IETF protocol assignments", cidr: "192.0.0.0/24" },
  { name: "documentation", cidr: "192.0.2.0/24" },
  { name: "6to4 relay", cidr: "192.88.99.0/24" },
  { name: "private", cidr: "192.168.0.0/16" },
  { name: "benchmarking", cidr: "198.18.0.0/15" },
  { name: "documentation", cidr: "198.51.100.0/24" },
  { name: "documentation", cidr: "203.0.113.0/24" },
  { name: "multicast", cidr: "224.0.0.0/4" },
  { name: "reserved", cidr: "240.0.0.0/4" },
  { name: "IPv4-compatible", cidr: "::/96" },
  { name: "NAT64", cidr: "64:ff9b::/96" },
  { name: "local NAT64", cidr: "64:ff9b:1::/48" },
  { name: "discard-only", cidr: "100::/64" },
  { name: "IETF protocol assignments", cidr: "2001::/23" },
  { name: "documentation", cidr: "2001:db8::/32" },
  { name: "6to4", cidr: "2002::/16" },
  { name: "documentation", cidr: "3fff::/20" },
  { name: "segment routing", cidr: "5f00::/16" },
  { name: "unique local", cidr: "fc00::/7" },
  { name: "link-local", cidr: "fe80::/10" },
  { name: "site-local", cidr: "fec0::/10" },
  { name: "multicast", cidr: "ff00::/8" }
]
