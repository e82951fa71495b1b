/**
 * How connections to an endpoint's receiver are made: by its credentials, if it has any. Those of the configuration
 * file are in files, which are followed, so that whatever renews them need not restart a dispatcher.
 */
import { rootCertificates } from "node:tls"
import { Clock, Effect, Schedule } from "effect"
import type { Proxy, Via } from "#egress"
import { Configuration } from "#configuration"
import { check, checkCertificate, endOfChain, InvalidConfiguration, readTextFile, secretFromEnv } from "#runtime"
import { credentialFaults, type OwnCredentials } from "#webhooks"
import type { EndpointEntry } from "#webhooks/contract"

export interface EndpointConnection {
  /** Other objects after a change. */
  credentials: OwnCredentials
  current: Via | undefined
  /** To the server of its tokens, which may be of the same authorities, or of the usual ones. */
  ofTokens: Via | undefined
  /** That its certificate ends soon; never of one in a file, which has a check of its own. */
  readonly ending?: ((nowMs: number) => string | undefined) | undefined
  readonly files: ReadonlyArray<CredentialFile>
  /** Reads the files again. */
  readonly reload: Effect.Effect<void>
}

interface CredentialFile {
  readonly file: string
  readonly credential: keyof OwnCredentials
  /** The configuration key that names it. */
  readonly path: string
}

/** The proxy on the way to an endpoint. `shared`: that of all. */
const proxyOf = (
  { ProxyUrl, ProxyUsername }: ProxySettings,
  password: string | undefined,
  shared: Proxy | undefined
): Proxy | undefined => {
  if (ProxyUrl === undefined) return shared
  if (ProxyUrl === "none") return undefined
  const authorization =
    ProxyUsername === undefined
      ? undefined
      : `Basic ${Buffer.from(`${ProxyUsername}:${password ?? ""}`).toString("base64")}`
  return { url: ProxyUrl, authorization }
}

type ProxySettings = Pick<EndpointEntry, "ProxyUrl" | "ProxyUsername">

/** The proxy of all endpoints that name none of their own. */
export const sharedProxy = Effect.gen(function* () {
  const { WebhookDelivery } = yield* Configuration
  const { ProxyPasswordEnvVar: variable } = WebhookDelivery
  const path = "WebhookDelivery.ProxyPasswordEnvVar"
  const password = variable === undefined ? undefined : yield* secretFromEnv({ variable, path, kind: "password" })
  return proxyOf(WebhookDelivery, password, undefined)
})

const ways = (
  credentials: OwnCredentials,
  proxy: Proxy | undefined
): Pick<EndpointConnection, "credentials" | "current" | "ofTokens"> => {
  const { tlsCa: trusted, tlsCertificate: cert, tlsKey: key } = credentials
  const identity = cert === undefined || key === undefined ? undefined : { cert, key }
  return {
    credentials,
    current: [trusted, identity, proxy].every((one) => one === undefined) ? undefined : { trusted, identity, proxy },
    ofTokens:
      trusted === undefined && proxy === undefined
        ? undefined
        : { trusted: trusted === undefined ? undefined : [...rootCertificates, trusted], proxy }
  }
}

/** Undefined for an endpoint that is called as everyone is. */
export const connectionOf = (
  settings: ProxySettings,
  credentials: OwnCredentials,
  shared: Proxy | undefined
): EndpointConnection | undefined => {
  const proxy = proxyOf(settings, credentials.proxyPassword, shared)
  if (Object.keys(credentials).length === 0 && proxy === undefined) return undefined
  return {
    ...ways(credentials, proxy),
    ending: credentials.tlsCertificate === undefined ? undefined : endOfChain(credentials.tlsCertificate),
    files: [],
    reload: Effect.void
  }
}

type NamedFiles = ProxySettings &
  Pick<EndpointEntry, "TlsCaFile" | "TlsCertificateFile" | "TlsKeyFile" | "OAuthKeyFile">

interface Given {
  /** From variables. */
  readonly secrets: OwnCredentials
  readonly shared: Proxy | undefined
}

/** Fails with every fault. A certificate that has ended is none: it would keep all endpoints from being served. */
export const connectionOfFiles = Effect.fnUntraced(function* (
  entry: NamedFiles,
  at: string,
  { secrets, shared }: Given
) {
  const files = filesOf(entry, at)
  if (files.length === 0) return connectionOf(entry, secrets, shared)
  const proxy = proxyOf(entry, secrets.proxyPassword, shared)
  const read = Effect.map(readFiles(files), (ofFiles): OwnCredentials => ({ ...secrets, ...ofFiles }))
  const credentials = yield* read
  let fault = ""
  const connection: EndpointConnection = {
    ...ways(credentials, proxy),
    files,
    reload: read.pipe(
      Effect.flatMap((read) => {
        fault = ""
        const { credentials } = connection
        if (files.every(({ credential }) => read[credential] === credentials[credential])) return Effect.void
        Object.assign(connection, ways(read, proxy))
        return Effect.logInfo("the files of an endpoint were read again")
      }),
      Effect.catch((faults) => {
        const { message } = new InvalidConfiguration({ faults })
        if (fault === message) return Effect.void
        fault = message
        return Effect.logWarning("the files of an endpoint are unusable: it goes on with what they held", message)
      }),
      Effect.annotateLogs({ endpoint: at })
    )
  }
  return connection
})

const filesOf = (entry: NamedFiles, at: string) =>
  (
    [
      ["tlsCa", "TlsCaFile"],
      ["tlsCertificate", "TlsCertificateFile"],
      ["tlsKey", "TlsKeyFile"],
      ["oauthKey", "OAuthKeyFile"]
    ] as const
  ).flatMap(([credential, key]): ReadonlyArray<CredentialFile> => {
    const file = entry[key]
    return file === undefined ? [] : [{ file, credential, path: `${at}.${key}` }]
  })

const readFiles = Effect.fnUntraced(function* (files: ReadonlyArray<CredentialFile>) {
  const [read, unreadable] = yield* Effect.partition(files, ({ file, credential, path }) =>
    Effect.mapBoth(readTextFile(file), {
      onFailure: ({ message }) => ({ path, message }),
      onSuccess: (text) => [credential, text] as const
    })
  )
  if (unreadable.length > 0) return yield* Effect.fail(unreadable)
  const credentials: OwnCredentials = Object.fromEntries(read)
  const faults = credentialFaults(credentials).map(({ path, message }) => ({
    path: files.find(({ credential }) => credential === path)?.path ?? path,
    message
  }))
  return faults.length > 0 ? yield* Effect.fail(faults) : credentials
})

// Files that are mounted change within a minute or two of their secret.
const readAgainEvery = "10 seconds"

interface Connected {
  readonly name: string
  readonly connection?: EndpointConnection | undefined
}

/** Tells which endpoints made at run time have a certificate that ends soon. */
export const watchCertificates = (all: () => ReadonlyArray<Connected>) =>
  check({
    name: "certificate",
    subject: "of endpoints made at run time",
    run: Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const ending = all().flatMap(({ name, connection }) => {
        const fault = connection?.ending?.(nowMs)
        return fault === undefined ? [] : [`${name}: ${fault}`]
      })
      if (ending.length > 0) return yield* Effect.fail(ending.slice(0, namedMax).join("; "))
    })
  })

const namedMax = 10

/** Follows the files of endpoints, and tells when a certificate in them ends soon. */
export const followFiles = Effect.fnUntraced(function* (endpoints: ReadonlyArray<Connected>) {
  const connections = endpoints.flatMap(({ connection }) => (connection?.files.length ? [connection] : []))
  if (connections.length === 0) return
  const certificates = new Map(
    connections.flatMap(({ files }) => files.map(({ file, credential }) => [file, credential] as const))
  )
  for (const [file, credential] of certificates) {
    if (credential === "tlsCa") yield* checkCertificate(file, "authorities")
    if (credential === "tlsCertificate") yield* checkCertificate(file, "chain")
  }
  const reload = Effect.forEach(connections, (connection) => connection.reload, { discard: true })
  yield* Effect.forkScoped(Effect.schedule(reload, Schedule.spaced(readAgainEvery)))
})
