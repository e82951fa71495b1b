/** The configuration file of the embedded nats-server. Pure. */
import { createHash } from "node:crypto"

export interface ServerSettings {
  readonly port: number
  /** Holds the store, the log and the pid file. */
  readonly folder: string
}

// Two files of logs at most; the server says little unless something is wrong.
const logBytesMax = 8 * 1_024 * 1_024

/** The same for every server of a folder, and for no other's. */
export const serverNameOf = (folder: string): string =>
  `starling-${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`

/** File storage has no limit of its own here: the server takes at most three quarters of the free disk. */
export const serverConfig = ({ port, folder }: ServerSettings): string =>
  [
    `listen: "127.0.0.1:${port}"`,
    `server_name: ${serverNameOf(folder)}`,
    `pid_file: ${JSON.stringify(`${folder}/server.pid`)}`,
    `log_file: ${JSON.stringify(`${folder}/server.log`)}`,
    `logfile_size_limit: ${logBytesMax}`,
    `logfile_max_num: 2`,
    `max_payload: 1MB`,
    `jetstream {`,
    `  store_dir: ${JSON.stringify(`${folder}/data`)}`,
    `  max_memory_store: 256MB`,
    `}`,
    ``
  ].join("\n")
