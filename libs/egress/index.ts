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
export type { EgressRequest, EgressResponse } from "./exchange.ts"
export { retryAfterMs } from "./retry-after.ts"
export { refusedRanges } from "./special-addresses.ts"
export type { ResolvedAddress } from "./connect-race.ts"
export type { Via } from "./connector.ts"
export { type Resolve, Resolver } from "./reach.ts"
export type { Proxy } from "./tunnel.ts"
export { addressGuard } from "./guard.ts"
export { sanitise, type SanitiseOptions } from "./sanitise.ts"
export type { EgressStream, EgressStreamRequest } from "./streaming.ts"
