/** The egress: the only library that calls out. */
export { ConfiguredHttp, type EgressClient, egressMetrics, otlpTransport, UntrustedHttp } from "./client.ts"
export {
  AddressRefused,
  DeadlineExceeded,
  type EgressError,
  InvalidUrl,
  ResponseTooLarge,
  Stalled,
  type StreamError,
  Unreachable
} from "./errors.ts"
export type { EgressResponse } from "./exchange.ts"
export { refusedRanges } from "./special-addresses.ts"
export { addressGuard, type Resolve, type ResolvedAddress, Resolver } from "./guard.ts"
export { sanitise, type SanitiseOptions } from "./sanitise.ts"
export type { EgressStream, EgressStreamRequest } from "./streaming.ts"
