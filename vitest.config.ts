import { existsSync, statfsSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { defineConfig } from "vitest/config"
import { InTurn } from "./dev/test-order.ts"

/**
 * Six rings of tests, told apart by file name: `*.test.ts` is pure and fast, for it runs at every check;
 * `*.thorough.test.ts` is pure and takes its time (random lives, sweeps over a whole range, other libraries as
 * judges, whole documents); `*.integration.test.ts` talks to a real nats-server and real sockets, `*.fleet.test.ts`
 * starts the whole fleet, `*.containers.test.ts` runs it in containers and needs a Docker engine,
 * `*.kubernetes.test.ts` applies its manifests to a cluster of the tests' own (`./starling test --kubernetes`).
 *
 * All of them are loaded by Node itself, as the roles are: what runs in a test is the source that runs in production,
 * and a check takes a quarter less time than with modules that Vite has rewritten. No test mocks a module, for which
 * vitest would parse each test file once more.
 */
const loadedByNode = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  setupFiles: "test/support/test-modules.ts"
} as const

/**
 * A limit of a test only ends one that hangs: what the product promises is measured in the test itself. On a machine
 * with much else to do a test takes five times as long as alone, and has to pass.
 */
const hangs = (afterMs: number) => ({ testTimeout: afterMs, hookTimeout: afterMs })

/**
 * Files of real processes at once. One keeps about half a processor busy, with the brokers, chains and fleets that it
 * starts: it waits for restarts, leases and blocks as long. Five on two processors took as long as four. Six were too many
 * beside the fleet in containers: clicks on the page took half a minute, and speech was refused.
 */
const filesAtOnce = Number(process.env["STARLING_TEST_FILES_AT_ONCE"] ?? Math.min(2 * availableParallelism(), 4))

// The brokers of a run at once store some hundred MB; a container's own memory folder mostly has 64 MB.
const storesBytesMin = 2e9

/** A topology's streams are made in memory in a third of the time that they take on a disk. */
const brokerStores = () => {
  const memory = "/dev/shm"
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= storesBytesMin ? memory : tmpdir()
}

/** How a worker's own memory is kept is not for the processes that it starts: see dev/test.sh. */
const asLaunched = { GLIBC_TUNABLES: "", MALLOC_ARENA_MAX: "2" }

/**
 * A worker loads the modules once for all of its project's files: a second of a processor for each of some three hundred.
 * What tests make is short-lived: more room for it, before it is tidied up, takes a sixteenth less of a processor.
 */
const processes = {
  ...loadedByNode,
  ...hangs(600_000),
  isolate: false,
  env: { ...asLaunched, STARLING_TEST_STORES: brokerStores() },
  execArgv: ["--min-semi-space-size=16", "--max-semi-space-size=64"]
}

/** Fleets that are held to a pace: they run after all others, one by one. */
const fleetsAlone = [
  // Fifty streams, heard at their own pace, none late by more than two seconds.
  "test/fleet/speech-kills.fleet.test.ts",
  // A caller is refused whose first sound would be half a second away, and half of the answers to clients that leave ends
  // within 100 ms.
  "test/fleet/speech-limits.fleet.test.ts",
  // A click on the page is answered within 200 ms of a thousand events each second, and the first one within a second.
  "test/page/pace.fleet.test.ts",
  "test/page/first-act.fleet.test.ts",
  // Medians of a thousand answers, which may differ by a few hundredths.
  "test/fleet/voices-strangers.fleet.test.ts"
]

export default defineConfig({
  test: {
    sequence: { sequencer: InTurn },
    projects: [
      {
        test: {
          name: "unit",
          ...loadedByNode,
          pool: "threads",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.{thorough,integration,fleet,containers,kubernetes,judges}.test.ts"],
          isolate: false,
          ...hangs(60_000)
        }
      },
      {
        test: {
          name: "thorough",
          ...loadedByNode,
          include: ["test/**/*.thorough.test.ts"],
          isolate: false,
          env: asLaunched,
          // Beside real processes these get what is left of the processors.
          ...hangs(300_000)
        }
      },
      {
        test: {
          ...processes,
          name: "processes",
          include: ["test/**/*.{integration,fleet}.test.ts"],
          exclude: fleetsAlone,
          sequence: { groupOrder: 1 },
          maxWorkers: filesAtOnce
        }
      },
      {
        test: {
          ...processes,
          name: "processes-alone",
          // A pace is kept on a disk, as where the fleet works for its owner.
          env: asLaunched,
          include: fleetsAlone,
          sequence: { groupOrder: 2 },
          maxWorkers: 1
        }
      },
      {
        test: {
          name: "containers",
          ...loadedByNode,
          include: ["test/**/*.containers.test.ts"],
          globalSetup: "test/containers/build-images.ts",
          env: { ...asLaunched, TESTCONTAINERS_RYUK_DISABLED: "true" },
          ...hangs(600_000),
          sequence: { groupOrder: 1 },
          maxWorkers: filesAtOnce
        }
      },
      {
        test: {
          name: "judges",
          ...loadedByNode,
          include: ["test/**/*.judges.test.ts"],
          // Clients are installed, and some bring hundreds of megabytes.
          ...hangs(900_000),
          fileParallelism: false
        }
      },
      {
        test: {
          name: "kubernetes",
          ...loadedByNode,
          include: ["test/**/*.kubernetes.test.ts"],
          globalSetup: "test/kubernetes/start-cluster.ts",
          // A disturbance waits for two rollouts of ten roles; on two busy processors each takes minutes.
          ...hangs(900_000),
          fileParallelism: false
        }
      }
    ]
  }
})
