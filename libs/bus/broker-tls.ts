/**
 * Whether the way to the broker is encrypted, and whom it takes for the broker. `tls://` or any file of TLS makes
 * it a must: the client library takes `tls://` for a hint and would hand its password to a server that offers no
 * encryption. Files are named, not read: the library reads them at every connection, so a renewed certificate is
 * taken without a restart. Pure.
 */
import type { TlsOptions } from "@nats-io/transport-node"

export interface BrokerTls {
  /** The authorities that may sign the broker's certificate, as PEM; without it those that Node believes. */
  readonly caFile?: string | undefined
  /** What this process shows a broker that asks for it, with the chain, as PEM. */
  readonly certificateFile?: string | undefined
  readonly keyFile?: string | undefined
}

/** Undefined where the broker decides: what it does not ask to be encrypted is not. */
export const brokerTls = (servers: ReadonlyArray<string>, tls: BrokerTls = {}): TlsOptions | undefined => {
  const { caFile, certificateFile: certFile, keyFile } = tls
  const isAsked = servers.some((server) => server.trim().toLowerCase().startsWith("tls://"))
  const files = {
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile })
  }
  return isAsked || Object.keys(files).length > 0 ? files : undefined
}
