import { defineConfig } from "vitest/config"

/**
 * Five rings of tests, told apart by file name: `*.test.ts` is pure and fast, for it runs at every check;
 * `*.thorough.test.ts` is pure and takes its time (random lives, sweeps over a whole range, other libraries as
 * judges, whole documents); `*.integration.test.ts` talks to a real nats-server and real sockets, `*.fleet.test.ts`
 * starts the whole fleet, `*.containers.test.ts` runs it in containers and needs a Docker engine.
 *
 * All of them are loaded by Node itself, as the roles are: what runs in a test is the source that runs in production,
 * and a check takes a quarter less time than with modules that Vite has rewritten.
 */
const loadedByNode = { viteModuleRunner: false } as const

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          experimental: loadedByNode,
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.{thorough,integration,fleet,containers}.test.ts"],
          isolate: false,
          testTimeout: 10_000
        }
      },
      {
        test: {
          name: "thorough",
          experimental: loadedByNode,
          include: ["test/**/*.thorough.test.ts"],
          isolate: false,
          testTimeout: 30_000
        }
      },
      {
        test: {
          name: "integration",
          experimental: loadedByNode,
          include: ["test/**/*.integration.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false
        }
      },
      {
        test: {
          name: "fleet",
          experimental: loadedByNode,
          include: ["test/**/*.fleet.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false
        }
      },
      {
        test: {
          name: "containers",
          experimental: loadedByNode,
          include: ["test/**/*.containers.test.ts"],
          globalSetup: "test/containers/build-images.ts",
          env: { TESTCONTAINERS_RYUK_DISABLED: "true" },
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false
        }
      }
    ]
  }
})
